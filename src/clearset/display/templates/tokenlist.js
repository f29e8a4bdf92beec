/* The tokens of a set as a list, one of them open for changes, and what belongs to the whole set above it. */

import { count, h, label, replace } from "./elements.js";
import * as Evaluate from "./evaluate.js";
import * as Features from "./features.js";
import * as Fields from "./fields.js";
import * as Way from "./way.js";

const MOST_TOKENS = 100;

/* `state` has the set and which token is selected; `changed()` hears of what is to be shown, `own()` of what people
   change in the set. */
export function build(model, state, changed, own) {
  const { features } = model;
  const width = model.function.width;
  const moves = Evaluate.ordered(model);
  const shared = h("div", { class: "shared" });
  const list = h("div", { class: "tokens" });
  const [first, last, note] = [h("div"), h("div"), h("div")];
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

  function move(i, to) {
    const [token] = state.set.tokens.splice(i, 1);
    insert(to, token);
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
        moves && i > 0 && action("Move up", () => move(i, i - 1)),
        moves && i < state.set.tokens.length - 1 && action("Move down", () => move(i, i + 1)),
      ),
    );
  }

  function head(token, i) {
    const open = i === state.selected;
    const summary = h("span", { class: "summary" });
    const scores = h("span", { class: "score number" });
    const adds = h("span", { class: "adds" });
    const left = h("span", { class: "left number" });
    const button = h(
      "button",
      { type: "button", class: "pick", "aria-expanded": String(open), onclick: () => select(i) },
      h("span", { class: "order" }, String(i + 1)),
      summary,
      scores,
      adds,
      left,
    );
    const row = h("div", { class: open ? "token open" : "token" }, button, open && editor(token, i));
    return { token, row, button, summary, scores, adds, left };
  }

  function rebuild() {
    const { set } = state;
    const some = features.some((feature) => feature.scope === "set");
    const legend = h("legend", null, "Of the whole set");
    replace(shared, some && h("fieldset", null, legend, fieldsOf("set", set.set, "the set")));
    heads = set.tokens.slice(0, MOST_TOKENS).map(head);
    replace(
      list,
      first,
      heads.map(({ row }) => row),
      last,
    );
    changed();
  }

  function valued(feature, value) {
    const strong = h("strong", null, value === null ? "–" : Features.valued(feature, value, 24));
    return h("span", { class: "value" }, label(feature.name, 24), " ", strong);
  }

  /* A line that is no token's: the base rate, a feature of the whole set, the prediction. */
  const line = (name, value, scores, adds, kind = "line") =>
    h(
      "div",
      { class: kind },
      h("span", { class: "order" }),
      h(
        "span",
        { class: "summary" },
        h("span", { class: "value" }, name, value && [" ", h("strong", null, value)]),
      ),
      h("span", { class: "score number" }, scores),
      h("span", { class: "adds" }, adds),
      h("span", { class: "left" }),
    );
  const station = (name, value, text) =>
    line(
      name,
      null,
      null,
      [h("span"), h("strong", { class: "number", "data-value": value }, text)],
      "line station",
    );

  /* Show what became of the values, as it is `explained` for the class that is looked at; `values` are the features of
     the set, and `without(i)` is what is predicted without a token, where known. */
  function update(explained, c, values, without) {
    const beside = Way.beside(model, explained, values);
    const shown = state.set.tokens.length ? explained.tokens.slice(0, heads.length) : [];
    const rest = explained.tokens.slice(shown.length);
    const sum = rest.reduce((all, { adds }) => all + adds, 0);
    const units = Way.units(model, explained, sum);
    const scores = Way.scored([...shown, ...beside].map((row) => row.scores));
    const left = without && explained.tokens.map((_, i) => without(i));
    const cells = Way.leftOut(model, left ? left.slice(0, heads.length) : heads.map(() => null));
    heads.forEach(({ token, summary, scores: score, adds, left: cell }, i) => {
      replace(
        summary,
        features.map((feature, d) => feature.scope === "token" && valued(feature, token[d])),
      );
      replace(score, scores[i]);
      replace(adds, Way.added(explained.tokens[i].adds, units));
      replace(cell, cells[i]);
    });
    const more = shown.length ? `and ${count(rest.length, "more token")}` : "no token";
    replace(first, station("base rate", explained.base, units.level(explained.base)));
    replace(
      last,
      rest.length > 0 && line(more, null, null, Way.added(sum, units)),
      beside.map(({ name, value, adds }, i) =>
        line(label(name, 40), value, scores[shown.length + i], Way.added(adds, units)),
      ),
      station("prediction", explained.prediction, units.level(explained.prediction)),
    );
    list.classList.toggle("compared", !!without);
    replace(note, Way.columnsNote(model, explained, c, left, [...shown.keys()]));
  }

  const titles = h(
    "div",
    { class: "heads", "aria-hidden": "true" },
    h("span", null, "token"),
    h("span", { class: "number" }, width === 1 ? "score" : "scores"),
    h("span", { class: "number" }, "adds"),
    h("span", { class: "number" }, "without it"),
  );
  return { elements: [shared, titles, list, note], rebuild, update, insert };
}
