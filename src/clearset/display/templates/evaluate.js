/* The set function of a document, without any page: phi of a token, the mean over a set, rho.
   A token is one value for each feature: a number, the place of a category (-1 for one that the model does not
   know), or null for missing. Scores stand class after class, `width` numbers for each. */

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

/* One score: the mean over the lattices of one row of phi, which read calibrated values. */
function mixed(model, row, inputs) {
  const { sizes, subsets, vertices } = model.function;
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

/* The scores of a token by all rows of phi; the feature `usual`, where one is given, as it is on average. */
export function phi(model, token, usual = -1) {
  const places = model.features.map((feature, d) => place(feature, token[d]));
  return model.function.calibration.map((table, row) => {
    const inputs = places.map((at, d) => (d === usual ? model.support.usual[d][row] : read(table, at)));
    return mixed(model, row, inputs);
  });
}

/* What a value of one feature makes of the scores of a class, all other features as they are on average: the
   distances from the base. */
export function effect(model, c, d, value) {
  const { width, outputs, calibration } = model.function;
  const { base, usual } = model.support;
  const at = place(model.features[d], value);
  return base[c].map((start, k) => {
    const row = outputs > 1 ? c * width + k : k;
    const inputs = usual.map((own) => own[row]);
    inputs[d] = read(calibration[row], at);
    return mixed(model, row, inputs) - start;
  });
}

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
function predicted(model, outputs) {
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

/* Whether a feature has a value for each token; others have one for the whole set. */
export const ofTokens = ({ scope }) => scope !== "set" && scope !== "size";

/* Whether the order of tokens matters. */
export const ordered = ({ features }) => features.some(({ scope }) => scope.startsWith("place"));

/* The tokens of a set as phi reads them: whole-set values the same in all; no token is one all missing. What is built
   in counts as if so many `later` and `earlier` tokens were gone. */
export function rows(model, set, { later = 0, earlier = 0 } = {}) {
  const n = set.tokens.length;
  const tokens = n ? set.tokens : [model.features.map(() => null)];
  const of = {
    size: () => n - later - earlier,
    place: (_, __, t) => (n ? n - 1 - t - later : null),
    place_from_start: (_, __, t) => (n ? t - earlier : null),
    set: (_, d) => set.set[d],
    token: (token, d) => token[d],
  };
  return tokens.map((token, t) => model.features.map((feature, d) => of[feature.scope](token, d, t)));
}

function mean(scores) {
  const sums = scores[0].map(() => 0);
  for (const row of scores) for (const k of sums.keys()) sums[k] += row[k];
  return sums.map((sum) => sum / scores.length);
}

/* How much the mean scores of n tokens count: from 0 without any, by `alone` for one, to 1 for as many as training
   sets had. */
export function supported({ support: { tokens, alone } }, n) {
  if (tokens < 2 || n >= tokens) return 1;
  return n ? alone + ((n - 1) / (tokens - 1)) * (1 - alone) : 0;
}

/* The mean scores of n tokens, drawn to the base where training sets had more. */
function drawn(model, means, n) {
  const counts = supported(model, n);
  if (counts === 1) return means;
  return model.support.base.flat().map((start, i) => start + counts * (means[i] - start));
}

/* From means that count in full, of n tokens, to the prediction. */
export function fromMeans(model, means, n) {
  const { width, outputs: several } = model.function;
  const own = (c) => means.slice(c * width, (c + 1) * width);
  const outputs =
    model.nothing && !n
      ? model.nothing
      : model.support.base.map((_, c) => rho(model, own(c), several > 1 ? c : 0));
  return { means, outputs, ...predicted(model, outputs) };
}

/* From the scores of n tokens to the prediction for their set; without tokens there is one row all the same. */
export const fromScores = (model, scores, n) => ({
  scores,
  n,
  ...fromMeans(model, drawn(model, mean(scores), n), n),
});

/* How many tokens count: of a row of a plain table without any value, none. */
const counting = ({ told_apart: plain }, { tokens }) =>
  plain && tokens.every((token) => token.every((value) => value === null)) ? 0 : tokens.length;

export const evaluate = (model, set) =>
  fromScores(
    model,
    rows(model, set).map((token) => phi(model, token)),
    counting(model, set),
  );

/* The number that is predicted for the class looked at; of two classes, all numbers speak for the second. */
export const followed = (model, { estimates }, c) =>
  estimates[model.classes && model.classes.length === 2 ? 1 : c];

/* What is said of a set of n > 1 tokens without one of them, as a function of its place; the scores are those in a
   set of n - 1: of tokens before the one that is gone, and of those after it. */
export function leaving(model, before, n, after = before) {
  const all = mean(after);
  const more = [all.map(() => 0)];
  for (const [i, row] of before.entries()) more.push(row.map((score, k) => more[i][k] + score - after[i][k]));
  return (i) => {
    const others = all.map((value, k) => (value * n - after[i][k] + more[i][k]) / (n - 1));
    return fromMeans(model, drawn(model, others, n - 1), n - 1);
  };
}

/* The same of a set; null where nothing would be left, or where there is too much to compare. What counts
   tokens falls by one, whichever goes, and a place by one on one side of it. */
export function without(model, set, { scores, n }) {
  if (n < 2 || n > MOST_COMPARED) return null;
  const counted = model.features.some(({ scope }) => scope === "size");
  const fewer = (gone) => rows(model, set, gone).map((token) => phi(model, token));
  if (ordered(model)) return leaving(model, fewer({ later: 1 }), n, fewer({ earlier: 1 }));
  return leaving(model, counted ? fewer({ later: 1 }) : scores, n);
}

/* The scores of a set's tokens if a feature of the whole set were as it is on average. */
export const asUsual = (model, set) => (d) => rows(model, set).map((token) => phi(model, token, d));
