/* Tokens as rows of a table: what each is made of, what was counted of it, what the model makes of it. */

import { count, h, label, named, show, table } from "./elements.js";
import * as Tokens from "./tokens.js";
import * as Typing from "./typing.js";
import * as Way from "./way.js";

const MOST_ROWS = 15;

export const valueName = ({ tokens }) => (tokens.value === "log_odds" ? "log-odds" : "estimate");

/* What the column of shares or mean labels is called. */
export function countedName({ tokens, classes }, column) {
  if (!tokens.table_classes) return "mean label";
  return classes ? `share\u00a0of “${named(classes[classes.length > 2 ? column : 1], 14)}”` : "share";
}

/* The share or the mean label that was counted for a token, before anything is learned. */
export const counted = (model, token, c) => Tokens.means(model, token, 0).means[c];

/* A token as people read it: words of a text after each other, items of a combination with a plus between. */
export const chip = (model, items) =>
  h(
    "span",
    { class: "item" },
    items.map((item, i) => [i > 0 && Tokens.joint(model), label(item, 40)]),
  );

/* Shares or mean labels of one column. */
export const stated = ({ tokens }, means) => (tokens.table_classes ? means.map(share) : show.column(means));
const share = (value) => (value === null || Number.isNaN(value) ? "–" : show.share(value));

/* Values of one column: log-odds have a sign that matters. */
export const values = ({ tokens }, numbers) =>
  tokens.value === "log_odds" ? show.column(numbers, { digits: 3, signed: true }) : show.column(numbers);

/* Tokens by what they add, the most first. */
export const ranked = (rows, explained) => {
  const strength = ({ at }) => Math.abs(explained.tokens[at].adds);
  return [...rows].sort((a, b) => strength(b) - strength(a));
};

/* Those that are shown, unless all are wanted. */
export const listed = (rows, { all }) =>
  all || rows.length < MOST_ROWS + 5 ? rows : rows.slice(0, MOST_ROWS);

/* The way from the base rate to the prediction: the tokens of an example, and what else adds to it. `state` says which
   class and which token is looked at, and whether all are to be shown; `choose` hears of changes to it; `without` are
   the predictions without each token, where known, and `values` the features of the example. */
export function list(model, rows, explained, state, { choose, without, values: features }) {
  const shown = listed(rows, state);
  const rest = rows.slice(shown.length).reduce((sum, { at }) => sum + explained.tokens[at].adds, 0);
  const units = Way.units(model, explained, rest);
  const beside = Way.beside(model, explained, features);
  const scores = Way.scored([
    ...shown.map(({ at }) => explained.tokens[at].scores),
    ...beside.map((row) => row.scores),
  ]);
  const means = stated(
    model,
    shown.map(({ token }) => counted(model, token, state.column)),
  );
  const left =
    without &&
    Way.leftOut(
      model,
      shown.map(({ at }) => without[at]),
    );
  const columns = [
    ["token"],
    [countedName(model, state.column), "number counted"],
    [model.function.width === 1 ? "score" : "scores", "number scored"],
    ["adds", "added"],
    ...(left ? [["without it", "number"]] : []),
  ];
  const line = (name, score, adds, kind = "line") => ({
    class: kind,
    cells: [name, null, score, adds, ...(left ? [null] : [])],
  });
  const station = (name, value) =>
    line(
      name,
      null,
      h("strong", { class: "number", "data-value": value }, units.level(value)),
      "line station",
    );
  const adds = (value) => h("span", { class: "adds" }, Way.added(value, units));
  const body = shown.map(({ token, at, value }, i) => {
    const current = token === state.token;
    const pressed = { type: "button", class: "plain", "aria-pressed": String(current) };
    const name = h(
      "button",
      { ...pressed, onclick: () => choose({ token }) },
      chip(model, Tokens.spell(model, token)),
    );
    const seen = h("span", { class: "was" }, `in ${count(model.tokens.counts[token], "set")}`);
    const cells = [
      name,
      [means[i], seen, moved(value, state.column)],
      scores[i],
      adds(explained.tokens[at].adds),
    ];
    if (left) cells.push(left[i]);
    return { class: current ? "token current" : "token", cells };
  });
  const all = () => choose({ all: true });
  const more = h("button", { type: "button", class: "more", onclick: all }, `Show all ${rows.length} tokens`);
  return table(
    columns,
    [
      station("base rate", explained.base),
      ...body,
      ...(rows.length ? [] : [line("no known token", null, adds(explained.tokens[0].adds))]),
      ...(shown.length < rows.length
        ? [line([`and ${count(rows.length - shown.length, "more token")} `, more], null, adds(rest))]
        : []),
      ...beside.map((row, i) =>
        line(
          [label(row.name, 40), " ", row.value && h("strong", null, row.value)],
          scores[shown.length + i],
          adds(row.adds),
        ),
      ),
      station("prediction", explained.prediction),
    ],
    { kind: "found" },
  );
}

/* That training moved what was counted of a token. */
const moved = ({ corrected, refined, estimate }, c) =>
  corrected &&
  Math.abs(refined[c] - estimate[c]) > 1e-3 &&
  h(
    "span",
    { class: "was", title: "what was counted, as the model reads it, and how far training moved it" },
    `${show(estimate[c], 3)} ${refined[c] > estimate[c] ? "+" : "−"} ${show(Math.abs(refined[c] - estimate[c]), 3)}`,
  );

export function unknown(items, complete) {
  if (!items.size) return null;
  const shown = [...items].slice(0, 20);
  return h(
    "p",
    { class: "note" },
    complete ? "In no token of the table: " : "Not among the tokens of this page: ",
    shown.map((item) => h("span", { class: "item unknown" }, label(Typing.spoken(item), 40))),
    items.size > shown.length && ` and ${(items.size - shown.length).toLocaleString("en")} more`,
  );
}
