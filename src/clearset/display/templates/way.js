/* The way from the base rate to the prediction, as columns of tables: scores, and what is added. */

import * as Charts from "./charts.js";
import { h, show } from "./elements.js";
import * as Features from "./features.js";
import * as Prediction from "./prediction.js";

/* Predictions without each token, as cells of one column; null for the only one. */
export function leftOut(model, values) {
  const shown = Prediction.written(model, values);
  return values.map((value, i) => h("span", { "data-value": value }, value === null ? "" : shown[i]));
}

/* How to write what tokens and features add, `more` of them together, and where the way begins and ends: with the
   same decimals. */
export function units(model, { tokens, ofSet }, more) {
  const parts = [...tokens, ...ofSet].map(({ adds }) => adds);
  const largest = Charts.largest([parts, more]);
  if (Prediction.isShare(model)) {
    const decimals = largest < 0.00995 ? 2 : 1;
    return {
      adds: (value) => `${show.fixed(100 * value, decimals, true)} pp`,
      level: (value) => show.share(value, decimals),
      largest,
    };
  }
  const decimals = show.decimals(largest, 3);
  return decimals === null
    ? { adds: (value) => show.signed(value), level: (value) => show(value, 6), largest }
    : {
        adds: (value) => show.fixed(value, decimals, true),
        level: (value) => show.fixed(value, decimals),
        largest,
      };
}

/* What is added, as a cell: a bar to the right where it raises, to the left where it lowers, and the number. */
export const added = (value, { adds, largest }) => [
  Charts.scores([value], largest, adds(largest)),
  h("span", { class: "number", "data-value": value }, adds(value)),
];

/* Scores of one column of cells: numbers, or bars where there are several to a token. */
export function scored(rows) {
  const largest = Charts.largest(rows.filter(Boolean));
  const shown = show.column(
    rows.map((row) => row?.[0]),
    { digits: 3, signed: true },
  );
  const cell = (row, i) => (row.length > 1 ? Charts.scores(row, largest) : shown[i]);
  return rows.map((row, i) => (row ? cell(row, i) : null));
}

/* What else is added beside the tokens: {name, value, scores, adds}; `values` are those of the features. */
export function beside(model, { ofSet }, values) {
  return ofSet.map(({ feature: d, scores, adds }) => {
    const feature = model.features[d];
    return { name: Features.title(model, feature), value: Features.valued(feature, values[d]), scores, adds };
  });
}

/* What the columns say; `left` are the predictions without each token, where these are known, and `shown` are the
   places of the tokens that are listed. */
export function columnsNote(model, { tokens, prediction, base }, c, left, shown) {
  const what = Prediction.followed(model, c);
  const [now] = Prediction.written(model, [prediction]);
  const rounding = 1e-4 * Math.max(Math.abs(prediction), Math.abs(base));
  const against = (i) =>
    Math.abs(tokens[i].adds) > rounding &&
    Math.abs(prediction - left[i]) > rounding &&
    tokens[i].adds > 0 !== prediction > left[i];
  return h(
    "p",
    { class: "note columns" },
    `A score of 0 is the base rate. “Adds” is what a token adds to the ${what}`,
    Prediction.isShare(model) && " (in percentage points, pp)",
    ": base rate and all that is added are the prediction. ",
    left && `“Without it” is the ${what} if this token were not there; now it is ${now}. `,
    left &&
      shown.some(against) &&
      "“Adds” and “without it” may point in different directions: the first divides the whole way from the base rate " +
        "among the tokens, while taking one token away changes the mean of the others.",
  );
}
