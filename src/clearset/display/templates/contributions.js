/* How the way from the base rate to a prediction is divided among the tokens and the features of a set, without any
   page: Shapley values of the mean scores, divided among tokens by the distances of their scores from the base. */

import * as Evaluate from "./evaluate.js";

const TOUCHING = 1e-11; /* a mean score nearer to its base has the slope of the curve there */
const STEP = 1e-6; /* by which such slopes are found */

const total = (values) => values.reduce((sum, value) => sum + value, 0);

function choose(n, k) {
  let found = 1;
  for (let i = 1; i <= k; i++) found = (found * (n - k + i)) / i;
  return found;
}

/* What each player adds to the value of a group, a list of truth values, averaged over all orders. */
function shapley(value, players) {
  const parts = Array(players).fill(0);
  for (let number = 0; number < 2 ** players; number++) {
    const group = parts.map((_, player) => ((number >> player) & 1) === 1);
    const size = group.filter(Boolean).length;
    const reached = value(group);
    group.forEach((joined, player) => {
      const before = joined ? size - 1 : size;
      parts[player] += ((joined ? 1 : -1) * reached) / (players * choose(players - 1, before));
    });
  }
  return parts;
}

/* What one unit of each mean score of a class is worth on the way, and what the other classes make of it (null where
   there are none). `predict` goes from all mean scores to the number predicted for the class. */
function divide(predict, base, means, c, width) {
  const first = c * width;
  const own = (i) => i >= first && i < first + width;
  const several = means.length > width;
  const value = (group) =>
    predict(means.map((mean, i) => (group[own(i) ? i - first : width] ? mean : base[i])));
  const parts = shapley(value, width + (several ? 1 : 0));
  const slope = (part, k) => {
    const distance = means[first + k] - base[first + k];
    if (Math.abs(distance) >= TOUCHING) return part / distance;
    const at = (step) => predict(means.map((mean, i) => (i === first + k ? mean + step : mean)));
    return (at(STEP) - at(-STEP)) / (2 * STEP);
  };
  const slopes = parts.slice(0, width).map((part, k) => Math.max(slope(part, k), 0));
  return { slopes, others: several ? parts[width] : null };
}

/* Explain a result of `evaluate` for one class. `asUsual(d)` gives the scores of the tokens if a feature of the whole
   set were as it is on average: what it adds to scores is the difference, the rest is the tokens' own.

   The answer has the `base` rate and the `prediction`; for each token its `scores`, as distances from the base, and
   what it `adds`; of each feature of the whole set the same in `ofSet`, and what all `others` classes add. */
export function explain(model, result, c, asUsual) {
  const { width } = model.function;
  const { base, tokens: enough } = model.support;
  const { scores, n, means } = result;
  const ofClass = (row) => row.slice(c * width, (c + 1) * width);
  const predict = (mixed) => Evaluate.followed(model, Evaluate.fromMeans(model, mixed, n), c);
  const weight = (n ? Math.min(1, n / enough) : 1) / scores.length;
  let own = scores.map((row) => ofClass(row).map((score, k) => score - base[c][k]));
  const changes = new Map();
  for (const [d, { scope }] of model.features.entries()) {
    if (scope === "token") continue;
    const usual = asUsual(d).map(ofClass);
    const change = scores.map((row, i) => ofClass(row).map((score, k) => score - usual[i][k]));
    own = own.map((row, i) => row.map((score, k) => score - change[i][k]));
    changes.set(
      d,
      base[c].map((_, k) => weight * total(change.map((row) => row[k]))),
    );
  }
  const { slopes, others } = divide(predict, base.flat(), means, c, width);
  const worth = (row) => total(row.map((score, k) => slopes[k] * score));
  const ofSet = [...changes].map(([feature, added]) => ({ feature, scores: added, adds: worth(added) }));
  const start = Evaluate.followed(model, Evaluate.fromMeans(model, base.flat(), 1), c);
  const prediction = Evaluate.followed(model, result, c);
  let tokens = own.map((row) => ({ scores: row, adds: weight * worth(row) }));
  if (!n) {
    /* What is said of a set without a token is not made of scores. */
    const added = prediction - start - total(ofSet.map(({ adds }) => adds)) - (others || 0);
    tokens = [{ scores: model.nothing ? own[0].map(() => 0) : own[0], adds: added }];
  }
  return { base: start, prediction, tokens, ofSet, others };
}
