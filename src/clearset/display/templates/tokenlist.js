/* The tokens of a set as a list, one of them open for changes, and what belongs to the whole set above it. */

import * as Charts from "./charts.js";
import { count, h, label, replace, show } from "./elements.js";
import * as Evaluate from "./evaluate.js";
import * as Fields from "./fields.js";
import * as Prediction from "./prediction.js";

const MOST_TOKENS = 100;

/* `state` has the set and which token is selected; `changed()` hears of what is to be shown, `own()` of what people
   change in the set. */
export function build(model, state, changed, own) {
  const { features } = model;
  const width = model.function.width;
  const shared = h("div", { class: "shared" });
  const list = h("div", { class: width === 1 ? "tokens parted" : "tokens" });
  const note = h("div");
  let heads = [];

  /* Among the numbers of a token or the set, the place of one feature. */
  const place = (values, d) => ({
    get: () => values[d],
    set: (value) => {
      values[d] = value;
      own();
      changed();
    },
  });

  const fieldsOf = (scope, values, of) =>
    features.map((feature, d) => feature.scope === scope && Fields.field(feature, place(values, d), of));

  function select(i) {
    state.selected = Math.max(Math.min(i, state.set.tokens.length - 1, MOST_TOKENS - 1), 0);
    rebuild();
    if (heads[state.selected]) heads[state.selected].button.focus();
  }

  function insert(i, token) {
    state.set.tokens.splice(i, 0, token);
    own();
    select(i);
  }

  function remove(i) {
    state.set.tokens.splice(i, 1);
    own();
    select(i);
  }

  function editor(token, i) {
    const action = (name, act) => h("button", { type: "button", onclick: act }, name);
    return h(
      "div",
      { class: "fields" },
      fieldsOf("token", token, `token ${i + 1}`),
      h(
        "div",
        { class: "actions" },
        action("Copy token", () => insert(i + 1, [...token])),
        action("Remove token", () => remove(i)),
      ),
    );
  }

  function head(token, i) {
    const open = i === state.selected;
    const summary = h("span", { class: "summary" });
    const scores = h("span", { class: "score" });
    const part = h("span", { class: "part number" });
    const left = h("span", { class: "left number" });
    const button = h(
      "button",
      { type: "button", class: "pick", "aria-expanded": String(open), onclick: () => select(i) },
      h("span", { class: "order" }, String(i + 1)),
      summary,
      scores,
      width === 1 && part,
      left,
    );
    const row = h("div", { class: open ? "token open" : "token" }, button, open && editor(token, i));
    return { token, row, button, summary, scores, part, left };
  }

  function rebuild() {
    const { set } = state;
    const some = features.some((feature) => feature.scope === "set");
    const legend = h("legend", null, "Of the whole set");
    replace(shared, some && h("fieldset", null, legend, fieldsOf("set", set.set, "the set")));
    heads = set.tokens.slice(0, MOST_TOKENS).map(head);
    const left = set.tokens.length - heads.length;
    const more = `and ${count(left, "more token")}, which count as well`;
    const empty = "The set is empty: it is read as one token whose features are all missing.";
    replace(
      list,
      heads.map(({ row }) => row),
      left > 0 && h("p", { class: "note" }, more),
      !set.tokens.length && h("p", { class: "note" }, empty),
    );
    changed();
  }

  function valued(feature, value) {
    const shown = feature.categories && value !== null ? label(feature.categories[value], 24) : show(value);
    const strong = h("strong", null, value === null ? "–" : shown);
    return h("span", { class: "value" }, label(feature.name, 24), " ", strong);
  }

  /* Show what became of the values: `result` of the set, for the class that is looked at. */
  function update(result, c) {
    const first = model.function.outputs > 1 ? c * width : 0;
    const scored = heads.map((_, i) => result.scores[i].slice(first, first + width));
    const largest = Charts.largest(scored);
    const numbers = show.column(
      scored.map(([score]) => score),
      { digits: 3, signed: true },
    );
    const parts = show.column(
      scored.map(([score]) => score / result.scores.length),
      { digits: 3, signed: true },
    );
    const without = Evaluate.without(model, state.set, result);
    const left = Prediction.leftOut(
      model,
      heads.map((_, i) => without && Prediction.followedIn(model, without(i), c)),
    );
    heads.forEach(({ token, summary, scores, part, left: cell }, i) => {
      replace(
        summary,
        features.map((feature, d) => feature.scope === "token" && valued(feature, token[d])),
      );
      const shown = h("span", { class: "number" }, width === 1 ? numbers[i] : "");
      replace(scores, Charts.scores(scored[i], largest), shown);
      part.textContent = parts[i];
      replace(cell, left[i]);
    });
    list.classList.toggle("compared", !!without);
    replace(note, heads.length > 0 && Prediction.columnsNote(model, result, c, !!without));
  }

  const titles = h(
    "div",
    { class: width === 1 ? "heads parted" : "heads", "aria-hidden": "true" },
    h("span", null, "token"),
    h("span", null, width === 1 ? "score" : "scores"),
    width === 1 && h("span", { class: "number" }, "part of average"),
    h("span", { class: "number" }, "without it"),
  );
  return { elements: [shared, titles, list, note], rebuild, update, insert };
}
