/* The set function of a document, without any page: phi of a token, the mean over a set, rho.
   A token is one value for each feature: a number, the place of a category, or null for missing. */

export const MOST_COMPARED = 400; /* tokens of a set up to which it is evaluated without each */
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/* How far a value is on the way from one to another. Halved first: the difference of two finite numbers may
   overflow, that of their halves cannot. */
export const share = (value, from, to) => (value / 2 - from / 2) / (to / 2 - from / 2);

/* Where a value stands in its feature's calibrator: [slot, fraction on the way to the next slot]. */
export function place(feature, value) {
  const keypoints = feature.keypoints;
  const last = feature.first + (keypoints || feature.categories).length;
  if (value === null || value === undefined || Number.isNaN(value)) return [last, 0];
  if (!keypoints) return [value >= 0 && feature.first + value < last ? feature.first + value : last, 0];
  const inside = clamp(value, keypoints[0], keypoints[keypoints.length - 1]);
  let low = 0;
  let high = keypoints.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (keypoints[middle] <= inside) low = middle;
    else high = middle - 1;
  }
  return [feature.first + low, share(inside, keypoints[low], keypoints[low + 1])];
}

export function read(table, [slot, fraction]) {
  return fraction === 0 ? table[slot] : table[slot] + fraction * (table[slot + 1] - table[slot]);
}

/* Multilinear interpolation: the cell is folded one dimension after the other. */
function lattice(vertices, start, sizes, inputs) {
  let values = vertices;
  let n = sizes.reduce((product, size) => product * size, 1);
  sizes.forEach((size, d) => {
    n /= size;
    const at = clamp(inputs[d], 0, 1) * (size - 1);
    const cell = Math.min(Math.floor(at), size - 2);
    const folded = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      const low = values[start + cell * n + i];
      folded[i] = low + (at - cell) * (values[start + (cell + 1) * n + i] - low);
    }
    values = folded;
    start = 0;
  });
  return values[0];
}

/* The calibrated values of a token for one row of phi. */
function calibrated(model, row, token) {
  const table = model.function.calibration[row];
  return model.features.map((feature, d) => read(table, place(feature, token[d])));
}

/* One score of a token: the mean over the lattices of one row of phi. */
function score(model, row, token) {
  const { sizes, subsets, vertices } = model.function;
  const inputs = calibrated(model, row, token);
  let sum = 0;
  let start = 0;
  for (const subset of subsets) {
    const own = subset.map((d) => sizes[d]);
    sum += lattice(
      vertices[row],
      start,
      own,
      subset.map((d) => inputs[d]),
    );
    start += own.reduce((product, size) => product * size, 1);
  }
  return sum / subsets.length;
}

/* All scores of a token, output after output. */
export const phi = (model, token) => model.function.calibration.map((_, row) => score(model, row, token));

/* Keypoints uniform on [-1, 1]. */
function curve(table, input) {
  const segments = table.length - 1;
  const at = ((clamp(input, -1, 1) + 1) * segments) / 2;
  const left = Math.min(Math.floor(at), segments - 1);
  return table[left] + (at - left) * (table[left + 1] - table[left]);
}

/* The output of one set function from its `width` means. */
export function rho(model, means, output = 0) {
  const { width, rho: tables } = model.function;
  const inputs = means.map((mean, k) => curve(tables.calibrators[output * width + k], mean));
  const fused = lattice(tables.vertices[output], 0, Array(width).fill(2), inputs);
  return curve(tables.output[output], fused);
}

/* What outputs say: {estimates: [number] or a share for each class, chosen: the class}. */
export function predicted(model, outputs) {
  const sigmoid = (x) => 1 / (1 + Math.exp(-x));
  const largest = (values) => values.indexOf(Math.max(...values));
  const link = model.link;
  if (link === "identity") return { estimates: outputs, chosen: null };
  if (link === "exp") return { estimates: outputs.map(Math.exp), chosen: null };
  if (outputs.length === 1) {
    const chosen = outputs[0] > 0 ? 1 : 0;
    if (link === "margin") return { estimates: [-outputs[0], outputs[0]], chosen };
    return { estimates: [sigmoid(-outputs[0]), sigmoid(outputs[0])], chosen };
  }
  const chosen = largest(outputs);
  if (link === "margin") return { estimates: outputs, chosen };
  const parts = link === "shares" ? outputs.map(sigmoid) : outputs.map((x) => Math.exp(x - outputs[chosen]));
  const sum = parts.reduce((a, b) => a + b, 0);
  return { estimates: parts.map((part) => part / sum), chosen };
}

/* The tokens of a set as phi reads them: whole-set values the same in all; no token is one all missing. */
export function rows(model, set, size = set.tokens.length) {
  const tokens = set.tokens.length ? set.tokens : [model.features.map(() => null)];
  const of = { size: () => size, set: (_, d) => set.set[d], token: (token, d) => token[d] };
  return tokens.map((token) => model.features.map((feature, d) => of[feature.scope](token, d)));
}

export function mean(scores) {
  const sums = scores[0].map(() => 0);
  for (const row of scores) for (const k of sums.keys()) sums[k] += row[k];
  return sums.map((sum) => sum / scores.length);
}

/* The mean of the scores without those of each token; there are at least two. */
export function othersMeans(scores) {
  const n = scores.length;
  const all = mean(scores);
  return (i) => all.map((value, k) => (value * n - scores[i][k]) / (n - 1));
}

function fromMeans(model, means) {
  const { width, outputs: n } = model.function;
  const outputs = Array.from({ length: n }, (_, c) => rho(model, means.slice(c * width, (c + 1) * width), c));
  return { means, outputs, ...predicted(model, outputs) };
}

/* From the scores of a set's tokens to its prediction. */
export const fromScores = (model, scores) => ({ scores, ...fromMeans(model, mean(scores)) });

export const evaluate = (model, set) =>
  fromScores(
    model,
    rows(model, set).map((token) => phi(model, token)),
  );

/* What is said of a set without its i-th token, as a function of i; null where there would be none, or too many
   to compare. Where a feature counts tokens, it falls by one, whichever token goes. */
export function without(model, set, { scores }) {
  const n = set.tokens.length;
  if (n < 2 || n > MOST_COMPARED) return null;
  const counted = model.features.some((feature) => feature.scope === "size");
  const others = othersMeans(counted ? rows(model, set, n - 1).map((token) => phi(model, token)) : scores);
  return (i) => fromMeans(model, others(i));
}
