/* How the way from the base rate to a prediction is divided among the tokens and the features of a set, without any
   page: what one unit of each mean score is worth on the way, times the distances of scores from the base. */

import * as Evaluate from "./evaluate.js";

const TOUCHING = 1e-11; /* a mean score nearer to its base has the slope of the curve there */
const STEP = 1e-6; /* by which such slopes are found */

const total = (values) => values.reduce((sum, value) => sum + value, 0);
const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const logSigmoid = (x) => Math.min(x, 0) - Math.log1p(Math.exp(-Math.abs(x)));

function logSum(values) {
  const largest = Math.max(...values);
  return largest + Math.log(total(values.map((value) => Math.exp(value - largest))));
}

function choose(n, k) {
  let found = 1;
  for (let i = 1; i <= k; i++) found = (found * (n - k + i)) / i;
  return found;
}

/* What one unit of each mean score adds to an output of rho: Shapley values, what each adds, over all orders. */
function slopes(rho, base, means) {
  const width = means.length;
  const parts = Array(width).fill(0);
  for (let number = 0; number < 2 ** width; number++) {
    const group = parts.map((_, k) => ((number >> k) & 1) === 1);
    const size = group.filter(Boolean).length;
    const reached = rho(means.map((mean, k) => (group[k] ? mean : base[k])));
    group.forEach((joined, k) => {
      const before = joined ? size - 1 : size;
      parts[k] += ((joined ? 1 : -1) * reached) / (width * choose(width - 1, before));
    });
  }
  return parts.map((part, k) => {
    const distance = means[k] - base[k];
    if (Math.abs(distance) >= TOUCHING) return part / distance;
    const at = (step) => rho(means.map((mean, i) => (i === k ? mean + step : mean)));
    return (at(STEP) - at(-STEP)) / (2 * STEP);
  });
}

/* The slope of the line between two points of a curve; of one point, that of the curve. */
const secant = (curve, start, end, slope) =>
  Math.abs(end - start) < 1e-9 ? slope(end) : (curve(end) - curve(start)) / (end - start);

/* The mean of exp along the line between two exponents. */
function logarithmicMean(a, b) {
  const distance = Math.abs(a - b);
  return Math.exp(Math.max(a, b)) * (distance < 1e-9 ? 1 : -Math.expm1(-distance) / distance);
}

/* What one unit of each other class's logarithm adds to that of the sum of all others; 0 for the class itself. */
function partsOfOthers(starts, ends, c) {
  const others = (values) => values.filter((_, j) => j !== c);
  const largest = Math.max(...others(starts), ...others(ends));
  const sum = logarithmicMean(logSum(others(starts)) - largest, logSum(others(ends)) - largest);
  return starts.map((start, j) => (j === c ? 0 : logarithmicMean(start - largest, ends[j] - largest) / sum));
}

/* What one unit of each mean score of each class is worth: in log-odds or outputs, and one of these in predictions. */
function worth(model, base, means, c) {
  const { outputs: several } = model.function;
  const rho = (j) => (inputs) => Evaluate.rho(model, inputs, several > 1 ? j : 0);
  let starts = base.map((own, j) => rho(j)(own));
  let ends = means.map((own, j) => rho(j)(own));
  let units = means.map((own, j) => slopes(rho(j), base[j], own));
  let factors = base.map((_, j) => (j === c ? 1 : 0));
  let [start, end] = [starts[c], ends[c]];
  if (model.link === "softmax" || model.link === "shares") {
    if (model.link === "shares") {
      const steep = starts.map((own, j) => secant(logSigmoid, own, ends[j], (x) => sigmoid(-x)));
      units = units.map((own, j) => own.map((unit) => unit * steep[j]));
      starts = starts.map(logSigmoid);
      ends = ends.map(logSigmoid);
    }
    const others = partsOfOthers(starts, ends, c);
    factors = factors.map((factor, j) => factor - others[j]);
    const against = (values) => values[c] - logSum(values.filter((_, j) => j !== c));
    [start, end] = [against(starts), against(ends)];
  }
  const curves = {
    exp: [Math.exp, Math.exp],
    identity: [(x) => x, () => 1],
    margin: [(x) => x, () => 1],
  };
  const [curve, slope] = curves[model.link] || [sigmoid, (x) => sigmoid(x) * sigmoid(-x)];
  return {
    toLogOdds: units.flatMap((own, j) => own.map((unit) => unit * factors[j])),
    toPrediction: secant(curve, start, end, slope),
  };
}

/* Explain a result of `evaluate` for one class. `asUsual(d)` gives the scores of the tokens if a feature of the whole
   set were as it is on average: what it adds to scores is the difference, the rest is the tokens' own.

   The answer has the `base` rate and the `prediction`; for each token its `scores`, as distances from the base (of
   several classes, what they say in log-odds of the class against all others), and what it `adds`; of each feature of
   the whole set the same in `ofSet`. */
export function explain(model, result, c, asUsual) {
  const { width } = model.function;
  const { base } = model.support;
  const { scores, n, means } = result;
  const start = base.flat();
  const weight = (n ? Evaluate.supported(model, n) : 1) / scores.length;
  let own = scores.map((row) => row.map((score, i) => score - start[i]));
  const changes = new Map();
  for (const [d, feature] of model.features.entries()) {
    if (Evaluate.ofTokens(feature) && !model.told_apart) continue;
    const usual = asUsual(d);
    const change = scores.map((row, t) => row.map((score, i) => score - usual[t][i]));
    own = own.map((row, t) => row.map((score, i) => score - change[t][i]));
    changes.set(
      d,
      start.map((_, i) => weight * total(change.map((row) => row[i]))),
    );
  }
  const ofClass = (j) => means.slice(j * width, (j + 1) * width);
  const { toLogOdds, toPrediction } = worth(
    model,
    base,
    base.map((_, j) => ofClass(j)),
    c,
  );
  const said = !n && model.nothing ? 0 : toPrediction;
  const spoken = (row) => total(row.map((score, i) => score * toLogOdds[i]));
  const shown = (row) => (base.length === 1 ? row : [spoken(row)]);
  const ofSet = [...changes].map(([feature, added]) => ({
    feature,
    scores: said ? shown(added) : shown(added).map(() => 0) /* nothing known, nothing said */,
    adds: said * spoken(added),
  }));
  const rate = Evaluate.followed(model, Evaluate.fromMeans(model, start, 1), c);
  const prediction = Evaluate.followed(model, result, c);
  let tokens = own.map((row) => ({ scores: shown(row), adds: said * weight * spoken(row) }));
  if (!n) {
    /* What is said of a set without a token is not made of scores. */
    const added = prediction - rate - total(ofSet.map(({ adds }) => adds));
    tokens = [{ scores: model.nothing ? tokens[0].scores.map(() => 0) : tokens[0].scores, adds: added }];
  }
  return { base: rate, prediction, tokens, ofSet };
}
