/* A feature as a card: its curve over how often its values occur, or its categories. */

import * as Charts from "./charts.js";
import { h, label, named, show } from "./elements.js";
import * as Evaluate from "./evaluate.js";

const MOST_ROWS = 60;
export const UNKNOWN = "unknown"; /* a category that training did not have */

/* What is built in: the scope, the reserved name, and how people read it. */
const BUILT_IN = [
  ["size", "cs.SIZE", "number of tokens"],
  ["place_from_start", "cs.PLACE_FROM_START", "place from the start"],
  ["place", "cs.PLACE", "place from the end"],
];

/* A text without reserved names. */
export const plainly = (text) =>
  BUILT_IN.reduce((said, [, reserved, read]) => said.replaceAll(reserved, read), text);

/* What a feature is called; those of a set of strings count its items or its tokens. */
export function title({ semantic }, { name, scope }) {
  const built = BUILT_IN.find(([kind]) => kind === scope);
  if (built) return built[2];
  return semantic && scope === "set" ? `number of ${name}` : name;
}

function declared(feature) {
  const said = [];
  if (typeof feature.monotonic === "string") said.push(feature.monotonic);
  else if (feature.monotonic) said.push("ordered");
  if (feature.shape) said.push(feature.shape);
  return said.map((word) => h("span", { class: "tag" }, word));
}

export const isWhole = (feature) => {
  const { edges } = feature.histogram || {};
  return !!edges && edges.length > 1 && Math.abs(edges[1] - edges[0] - 1) < 1e-9 && edges[0] % 1 !== 0;
};

/* A value of a feature as people read it. */
export function valued(feature, value, most = 30) {
  if (value === null || !feature.categories) return show(value);
  return value < 0 ? UNKNOWN : label(feature.categories[value], most);
}

/* How many training sets have each keypoint or category, and from how many on that is enough; null where it is not
   known. */
function supported(model, { first, keypoints, categories }) {
  const n = (keypoints || categories).length;
  const counts = model.support.counts.slice(first, first + n + 1);
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (!all) return null;
  return { counts: counts.slice(0, n), enough: Math.ceil(model.support.enough) };
}

/* Whether few training sets have a category, or the keypoint that is nearest to a number. */
function thinly(model, feature) {
  const known = supported(model, feature);
  if (!known) return () => false;
  const few = (place) => known.counts[place] < known.enough;
  if (feature.categories) return few;
  return (value) => {
    const [slot, fraction] = Evaluate.place(feature, value);
    return few(slot - feature.first + (fraction < 0.5 ? 0 : 1));
  };
}

/* How often values occur: in the data, or near each keypoint in training. */
function occurrences(model, feature) {
  const { histogram, keypoints } = feature;
  if (histogram?.edges) return histogram;
  const known = supported(model, feature);
  if (!known || keypoints.length < 2) return null;
  const between = keypoints.slice(1).map((x, i) => x / 2 + keypoints[i] / 2);
  const edges = [keypoints[0], ...between, keypoints.at(-1)];
  const span = keypoints.at(-1) / 2 - keypoints[0] / 2;
  const counts = known.counts.map((n, i) => n / ((edges[i + 1] / 2 - edges[i] / 2) / span || 1));
  return { edges, counts };
}

/* Places along a numeric feature at which its curve is drawn: keypoints, the middles between them, and some more. */
function places({ keypoints }, between) {
  const found = new Set(keypoints);
  const [low, high] = [keypoints[0], keypoints[keypoints.length - 1]];
  for (const [i, x] of keypoints.slice(1).entries()) found.add(x / 2 + keypoints[i] / 2);
  for (let i = 1; i < between; i++) found.add(low * (1 - i / between) + high * (i / between));
  return [...found].sort((a, b) => a - b);
}

/* Categories that are listed: where there are too many, the most frequent. */
function listed(model, feature) {
  const order = feature.categories.map((_, place) => place);
  const counts = feature.histogram?.counts || supported(model, feature)?.counts;
  if (counts && order.length > MOST_ROWS) order.sort((a, b) => counts[b] - counts[a]);
  return order.slice(0, MOST_ROWS);
}

/* Values of a feature, with the heights of its lines there. */
export function heights(model, feature, { curve, current, between }) {
  const at = feature.categories ? listed(model, feature) : places(feature, between);
  if (current !== null && current !== undefined) at.push(current);
  return at.map((value) => [value, curve(value)]);
}

/* What a feature can do: from the lowest to the highest of the heights of its one line. */
export function moves(feature, found, write) {
  const furthest = (further) => found.reduce((best, one) => (further(one[1][0], best[1][0]) ? one : best));
  const [low, high] = [furthest((a, b) => a < b), furthest((a, b) => a > b)];
  const [from, to] = [write(low[1][0]), write(high[1][0])];
  if (from === to) return h("p", { class: "note moves" }, "hardly moves it");
  const end = (text, [value]) => [h("strong", null, text), " (at ", valued(feature, value), ")"];
  return h("p", { class: "note moves" }, "moves it from ", end(from, low), " to ", end(to, high));
}

/* One feature as a card: `curve(value)` gives the heights of its lines at a value, `write` a height as text; `zero` is
   the height of the base rate, where heights have one; `more` stands under it. */
export function card(model, feature, { curve, current, write, more, ...drawing }) {
  const said = (value) => curve(value).map(write).join(", ");
  const note = h("p", { class: "note" }, "missing gives ", said(null));
  if (current !== undefined && current !== null) {
    const text = valued(feature, current);
    note.prepend("here: ", h("strong", null, text), " gives ", h("strong", null, said(current)), " · ");
  } else if (current === null) note.prepend("here: ");
  const thin = thinly(model, feature);
  const at = feature.categories ? listed(model, feature) : feature.keypoints;
  if (at.some(thin)) {
    const look = feature.categories || model.function.width > 1 ? "pale" : "dashed";
    note.append(` · ${look}: fewer than ${supported(model, feature).enough} training sets have it`);
  }
  const given = { curve, current, thin, write, ...drawing };
  return h(
    "figure",
    { class: "card feature" },
    h("figcaption", null, label(title(model, feature), 60), ...declared(feature)),
    feature.categories ? rows(model, feature, given) : drawn(model, feature, given),
    more,
    note,
  );
}

function drawn(model, feature, { curve, current, marks = [], range, zero, unit, between = 0, thin }) {
  const { keypoints } = feature;
  const at = places(feature, between);
  const reached = at.map(curve);
  return Charts.curves({
    lines: reached[0].map((_, k) => at.map((x, i) => [x, reached[i][k]])),
    bars: occurrences(model, feature),
    x: [keypoints[0], keypoints[keypoints.length - 1]],
    y: range,
    zero,
    thin,
    whole: isWhole(feature),
    points: current === null || current === undefined ? [] : curve(current).map((value) => [current, value]),
    marks: marks.filter((mark) => mark !== null),
    title: `${unit} by ${named(title(model, feature), 60)}`,
    yTitle: unit,
  });
}

/* Categories, the highest first: bars from the base rate where there is one, on one scale for all features. */
function rows(model, feature, { curve, current, range, zero, write, thin }) {
  const counts = feature.histogram?.counts || supported(model, feature)?.counts;
  const all = listed(model, feature).map((place) => [place, curve(place)]);
  all.sort(([, a], [, b]) => b[0] - a[0]);
  const left = feature.categories.length - all.length;
  const largest = zero === undefined ? 0 : Math.max(range[1] - zero, zero - range[0]);
  const bars = (values) =>
    zero === undefined
      ? values.map(Charts.bar)
      : Charts.scores(
          values.map((value) => value - zero),
          largest,
        );
  const kind = (place) => `category${place === current ? " current" : ""}${thin(place) ? " thin" : ""}`;
  return h(
    "div",
    {
      class: "categories",
      tabindex: feature.categories.length > 7 ? 0 : null,
      role: "group",
      "aria-label": `categories of ${named(feature.name, 60)}`,
    },
    all.map(([place, values]) =>
      h(
        "div",
        { class: kind(place) },
        label(feature.categories[place], 40),
        h("span", null, bars(values)),
        h("span", { class: "number" }, values.length > 1 ? "" : write(values[0])),
        h(
          "span",
          { class: "number often", title: "how often it occurs" },
          counts ? `${show(counts[place], 3)}×` : "",
        ),
      ),
    ),
    left > 0 && h("p", { class: "note" }, `and ${left.toLocaleString("en")} more`),
  );
}
