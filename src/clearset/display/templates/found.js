/* Tokens as rows of a table: what each is made of, what was counted of it, what the model makes of it. */

import * as Charts from "./charts.js";
import { count, h, label, named, show, table } from "./elements.js";
import * as Prediction from "./prediction.js";
import * as Tokens from "./tokens.js";
import * as Typing from "./typing.js";

const MOST_ROWS = 15;
const TOLD = ["count", "size"]; /* features that other columns say already */

export const byClass = (model, c) => (Tokens.columns(model) > 1 ? c : 0);
export const valueName = ({ tokens }) => (tokens.value === "log_odds" ? "log-odds" : "estimate");

/* What the column of shares or mean labels is called. */
export function countedName({ tokens, classes }, column) {
  if (!tokens.table_classes) return "mean label";
  return classes ? `share\u00a0of “${named(classes[classes.length > 2 ? column : 1], 14)}”` : "share";
}

/* The share or the mean label that was counted for a token, before anything is learned. */
export const counted = (model, token, c) => Tokens.means(model, token, 0).means[byClass(model, c)];

export const chips = (items) =>
  h(
    "span",
    { class: "items" },
    items.map((item) => h("span", { class: "item" }, label(item, 40))),
  );

/* Shares or mean labels of one column. */
export const stated = ({ tokens }, means) => (tokens.table_classes ? means.map(share) : show.column(means));
const share = (value) => (value === null || Number.isNaN(value) ? "–" : show.share(value));

/* Values of one column: log-odds have a sign that matters. */
export const values = ({ tokens }, numbers) =>
  tokens.value === "log_odds" ? show.column(numbers, { digits: 3, signed: true }) : show.column(numbers);

/* Under a value that was corrected, what it was before. */
function corrected(model, found, c) {
  const shown = values(
    model,
    found.map(({ refined }) => refined[c]),
  );
  const before = values(
    model,
    found.map(({ estimate }) => estimate[c]),
  );
  const was = (text) =>
    h("span", { class: "was", title: "as counted, before training moved it" }, `was ${text}`);
  return found.map((value, i) => [shown[i], value.corrected && before[i] !== shown[i] && was(before[i])]);
}

/* Columns, each with its cells: what was counted of the tokens, then what the model makes of that. */
function columnsOf(model, rows, column) {
  const c = byClass(model, column);
  const means = rows.map(({ token }) => counted(model, token, column));
  const extra = model.features
    .slice(1)
    .map(({ name, scope }, d) => ({ name, scope, d }))
    .filter(({ name, scope }) => scope === "token" && !TOLD.includes(name));
  return [
    ["seen", rows.map(({ token }) => show(model.tokens.counts[token]))],
    [countedName(model, column), stated(model, means)],
    [
      valueName(model),
      corrected(
        model,
        rows.map(({ value }) => value),
        c,
      ),
    ],
    ...extra.map(({ name, d }) => [
      name,
      show.column(
        rows.map(({ others }) => others[d]),
        { digits: 3 },
      ),
    ]),
  ];
}

/* Bars, and for width 1 numbers beside them. */
function scored(scores) {
  const largest = Charts.largest(scores);
  const shown = show.column(
    scores.map(([first]) => first),
    { digits: 3, signed: true },
  );
  return scores.map((own, i) =>
    h(
      "span",
      { class: "score" },
      Charts.scores(own, largest),
      own.length === 1 && h("span", { class: "number" }, shown[i]),
    ),
  );
}

/* Tokens by how much they say of a class, the strongest first. */
export function ranked(rows, column) {
  const strength = ({ scores }) => Math.max(...scores[column].map(Math.abs));
  return [...rows].sort((a, b) => strength(b) - strength(a));
}

/* The tokens of an example. `state` says which class and which token is looked at, and whether all are to
   be shown; `choose` hears of changes to it; `without(row)` is what is predicted without a token, where known. */
export function list(model, rows, state, { choose, without }) {
  const one = model.function.width === 1;
  const shown = state.all || rows.length < MOST_ROWS + 5 ? rows : rows.slice(0, MOST_ROWS);
  const scores = rows.map((row) => row.scores[state.column]);
  const known = columnsOf(model, shown, state.column);
  const bars = scored(scores);
  const sums = [
    ...scores.map(([first]) => first / rows.length),
    scores.reduce((sum, [s]) => sum + s, 0) / rows.length,
  ];
  const parts = show.column(sums, { digits: 3, signed: true });
  const left = without && Prediction.leftOut(model, shown.map(without));
  const columns = [
    ["token"],
    ...known.map(([name], i) => [name, i === 1 ? "number" : "number minor"]), // small screens have no room
    [one ? "score" : "scores", "scored"],
    ...(one ? [["part of average", "number minor"]] : []),
    ...(left ? [["without it", "number"]] : []),
  ];
  const body = shown.map(({ token }, i) => {
    const current = token === state.token;
    const pressed = { type: "button", class: "plain", "aria-pressed": String(current) };
    const name = h(
      "button",
      { ...pressed, onclick: () => choose({ token }) },
      chips(Tokens.spell(model, token)),
    );
    const cells = [name, ...known.map(([, own]) => own[i]), bars[i]];
    if (one) cells.push(parts[i]);
    if (left) cells.push(left[i]);
    return { class: current ? "current" : null, cells };
  });
  const average = `${count(rows.length, "token")}: average score`;
  const sum = parts[rows.length];
  const foot = one && rows.length > 1 && [average, ...known.map(() => null), sum, sum];
  if (foot && left) foot.push(null);
  const all = () => choose({ all: true });
  return [
    table(columns, body, { kind: "found", foot }),
    shown.length < rows.length &&
      h("button", { type: "button", class: "more", onclick: all }, `Show all ${rows.length} tokens`),
  ];
}

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
