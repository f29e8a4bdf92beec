/* What a page can do that comes from a server: ask it for tokens, show what changed between two models. */

import { cut, h, label, named, replace, show, table } from "../../display/templates/elements.js";
import * as Page from "../../display/templates/page.js";
import * as Prediction from "../../display/templates/prediction.js";
import * as Sections from "../../display/templates/sections.js";
import * as Typing from "../../display/templates/typing.js";
import * as Edits from "./edits.js";

const MOST_ITEMS = 100;
const MOST_MEANT = 5;
const ADDED =
  "What is added leads from the base rate to the prediction, in its unit. The base rate, the tokens and the features " +
  "of the set are listed whose part changed most.";
const warning = () => document.getElementById("trouble");

class Refusal extends Error {}

/* Say what went wrong, and give the sentence. */
function failed(error) {
  const what = error instanceof Refusal ? "The server refused" : "The server did not answer";
  const text = `${what}: ${cut(error.message, 300)}`;
  if (!warning())
    document.getElementById("main").prepend(h("p", { class: "warning", role: "alert", id: "trouble" }));
  warning().textContent = text;
  return text;
}

async function ask(path, options) {
  const response = await fetch(path, options);
  const answer = await response.json();
  if (!response.ok) throw new Refusal(answer.message);
  warning()?.remove();
  return answer;
}

const search = (wanted) => ask(`/api/tokens?${new URLSearchParams(wanted)}`);
const post = (path, body) =>
  ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
const known = (items) => post("/api/known", { items });

/* Items of the whole table that hold a text: first what is all of it, then the most frequent. */
const suggest = (text) =>
  ask(`/api/items?${new URLSearchParams({ search: text, limit: MOST_ITEMS })}`).then(({ items }) => items);

/* For some items that the table does not know, the one spelling in another case that it does; people take it
   by a button, of which `take(item, meant)` hears. */
function meant(unknown, take) {
  const line = h("p", { class: "note", hidden: true });
  const offer = async (item) => {
    const items = await suggest(item);
    const same = items.filter((other) => Typing.lower(other) === Typing.lower(item));
    if (same.length !== 1) return [];
    const button = { type: "button", class: "plain", onclick: () => take(item, same[0]) };
    return [h("button", button, h("span", { class: "item" }, label(Typing.spoken(same[0]), 40)))];
  };
  Promise.all([...unknown].slice(0, MOST_MEANT).map(offer)).then(
    (found) => {
      line.hidden = !found.flat().length;
      replace(line, "Did you mean ", found.flat(), "?");
    },
    () => {} /* it is only an offer */,
  );
  return line;
}

/* A box for the row of any example of the data. One that the picker lacks is asked for, and gets its option;
   `turn()` is another number once people have gone on to something else. */
let open = null;
function rows(model, picker, option, load, turn) {
  if (!model.n_sets) return null;
  let asked = 0;
  let wanted = null;
  open = async (row) => {
    const [number, before] = [++asked, turn()];
    let i = model.examples.findIndex((one) => one.row === row);
    if (i < 0) {
      const example = await ask(`/api/example?row=${row}`);
      if (number !== asked || turn() !== before) return;
      i = model.examples.push(example) - 1;
      picker.lastChild.before(option(example, i));
    }
    wanted = box.value = String(row);
    load(i);
  };
  const box = h("input", {
    id: "row",
    type: "number",
    min: 0,
    max: model.n_sets - 1,
    step: 1,
    onchange: () => box.value !== wanted && change(),
    onkeydown: (event) => event.key === "Enter" && change() /* also what failed before */,
  });
  function change() {
    wanted = box.value;
    if (box.value !== "" && box.reportValidity()) open(Number(box.value)).catch(failed);
  }
  picker.addEventListener("change", () => {
    const example = model.examples[Number(picker.value)];
    wanted = box.value = example ? String(example.row) : "";
  });
  return [h("label", { for: "row" }, "or row"), box];
}

function look(row) {
  open(row).then(() => {
    const heading = document.getElementById("try-title");
    heading.tabIndex = -1;
    heading.focus();
    heading.scrollIntoView();
  }, failed);
}

const said = (value) => (typeof value === "number" ? show(value) : label(String(value), 40));

function example(model, one) {
  const share = Prediction.isShare(model);
  const kind = share ? "probability" : "margin";
  const what =
    one.explained === null ? "Of the prediction" : [`Of the ${kind} of `, label(one.explained, 40)];
  const added = one.tokens.flatMap(({ before, after }) => [before, after]);
  const numbers = share
    ? added.map((value) => value !== undefined && `${show.fixed(100 * value, 1, true)} pp`)
    : show.column(added, { digits: 3, signed: true });
  const adds = (i) => (added[i] === undefined ? "absent" : numbers[i]);
  const tokens = one.tokens.map(({ token }, i) => [label(token, 80), adds(2 * i), adds(2 * i + 1)]);
  return h(
    "details",
    { class: "changed" },
    h(
      "summary",
      null,
      label(one.name, 60),
      ": ",
      said(one.before),
      " → ",
      h("strong", null, said(one.after)),
      one.label !== null && [" · label ", said(one.label)],
      one.items && [" · ", label(one.items.map(Typing.spoken).join(" · "), 60)],
    ),
    h(
      "p",
      { class: "note" },
      what,
      `: ${Prediction.written(model, one.estimates).join(" before, ")} now `,
      h("button", { type: "button", onclick: () => look(one.row) }, "Open"),
    ),
    table([["token"], ["added before", "number"], ["adds now", "number"]], tokens),
  );
}

/* Before and now, a share, or one number; the old one steps back. */
function measure({ name, before, after, share, value }) {
  if (share !== undefined) return Sections.tile(name, show.share(share));
  if (after === undefined) return Sections.tile(name, show(value));
  const pair = [h("span", { class: "was" }, `${show(before)} →`), " ", h("span", null, show(after))];
  return Sections.tile(name, h("span", { class: "pair" }, pair));
}

function compared(model) {
  const { comparison } = model;
  if (!comparison) return null;
  const { name, changed, n_changed: nChanged, n, tolerance, measures, examples } = comparison;
  const far = tolerance === null ? "" : ` by more than ${show(tolerance)}`;
  const lead =
    `Between ${named(name, 60)} and this model, ${show.share(changed)} of the predictions changed${far}: ` +
    `${nChanged.toLocaleString("en")} of ${n.toLocaleString("en")}.`;
  const rest = nChanged - examples.length;
  return Sections.section(
    "changes",
    "What changed",
    lead,
    h("div", { class: "tiles" }, measures.map(measure)),
    examples.length > 0 && h("p", { class: "note" }, ADDED),
    examples.map((one) => example(model, one)),
    rest > 0 && h("p", { class: "note" }, `and ${rest.toLocaleString("en")} more, which changed less`),
  );
}

const sections = (model) => [
  compared(model),
  !model.parts && Edits.panel(model, { ask: post, failed, open: look }) /* parts are edited by themselves */,
];

export const start = () => Page.start({ failed, search, known, suggest, meant, rows, sections });
