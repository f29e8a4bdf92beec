/* Rows of a model of several columns: what tokens of all columns, and plain columns, add to the prediction. */

import { h, label, named, show } from "./elements.js";
import { contributions, section, tile } from "./sections.js";

/* A token of one of several columns. */
export const chip = (column, items) =>
  h(
    "span",
    { class: "item" },
    label(`${named(column, 20)}: ${items.map((item) => named(item, 40)).join(" · ")}`, 80),
  );

const LEAD =
  "The way from the base rate to the prediction of a row, down to tokens: what each adds to the estimate of its " +
  "column, and so to the prediction. “estimate” is what a column adds because what its engine takes for usual is not " +
  "what its estimates are on average.";

export function build({ rows }) {
  if (!rows?.length) return null;
  const shown = h("div");
  const picker = h(
    "select",
    { id: "row-shown", onchange: () => open(Number(picker.value)) },
    rows.map(({ name }, i) => h("option", { value: i }, named(name, 60))),
  );
  function open(i) {
    const { label: explained, base, prediction, adds } = rows[i];
    const [from, to] = show.column([base, prediction], { digits: 3 });
    const what = explained === null ? "prediction" : `probability of ${named(explained, 40)}`;
    const parts = adds.map(({ name, contribution }) => ({ name: label(name, 60), contribution }));
    shown.replaceChildren(
      h("div", { class: "tiles" }, tile("base rate", from), tile(what, to)),
      h("div", { class: "cards wide" }, contributions("What is added", parts)),
    );
  }
  open(0);
  return section(
    "rows",
    "From tokens to the prediction",
    LEAD,
    h("div", { class: "toolbar" }, h("label", { for: "row-shown" }, "Row"), picker),
    shown,
  );
}
