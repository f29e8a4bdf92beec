/* A feature as a card: its curve over how often its values occur, or its categories. */

import * as Charts from "./charts.js";
import { h, label, named, show } from "./elements.js";

const MOST_ROWS = 60;
export const title = (feature) => (feature.scope === "size" ? "number of tokens" : feature.name);

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

/* Places along a numeric feature at which its curve is drawn: the keypoints, and some between them. */
function places({ keypoints }, between) {
  const found = new Set(keypoints);
  const [low, high] = [keypoints[0], keypoints[keypoints.length - 1]];
  for (let i = 1; i < between; i++) found.add(low + ((high - low) * i) / between);
  return [...found].sort((a, b) => a - b);
}

/* Categories that are listed: where there are too many, the most frequent. */
function listed({ categories, histogram }) {
  const order = categories.map((_, place) => place);
  if (histogram && order.length > MOST_ROWS) order.sort((a, b) => histogram.counts[b] - histogram.counts[a]);
  return order.slice(0, MOST_ROWS);
}

/* Where a curve of one line is lowest and highest, and how low and high: [[value, height], [value, height]]. */
export function ends(feature, { curve, current, between }) {
  const at = feature.categories ? listed(feature) : places(feature, between);
  if (current !== null && current !== undefined) at.push(current);
  const heights = at.map((value) => [value, curve(value)[0]]);
  const furthest = (further) => heights.reduce((best, one) => (further(one[1], best[1]) ? one : best));
  return [furthest((a, b) => a < b), furthest((a, b) => a > b)];
}

const valued = (feature, value) => (feature.categories ? label(feature.categories[value], 30) : show(value));

/* What a feature can do: from the lowest to the highest. */
export function moves(feature, [[x, low], [y, high]], write) {
  const [from, to] = [write(low), write(high)];
  if (from === to) return h("p", { class: "note moves" }, "hardly moves it");
  const end = (text, value) => [h("strong", null, text), " (at ", valued(feature, value), ")"];
  return h("p", { class: "note moves" }, "moves it from ", end(from, x), " to ", end(to, y));
}

const short = (y) => show(Math.abs(y) < 5e-4 ? 0 : y, 3);

/* One feature as a card: `curve(value)` gives the heights of its lines at a value, `write` a height as text; `more`
   stands under it. */
export function card(feature, { curve, current, marks = [], range, unit, between = 0, write = short, more }) {
  const said = (value) => curve(value).map(write).join(", ");
  const note = h("p", { class: "note" }, "missing gives ", said(null));
  if (current !== undefined && current !== null) {
    const text = valued(feature, current);
    note.prepend("here: ", h("strong", null, text), " gives ", h("strong", null, said(current)), " · ");
  } else if (current === null) note.prepend("here: ");
  return h(
    "figure",
    { class: "card feature" },
    h("figcaption", null, label(title(feature), 60), ...declared(feature)),
    feature.categories
      ? rows(feature, { curve, current, range, write })
      : drawn(feature, { curve, current, marks, range, unit, between }),
    more,
    note,
  );
}

function drawn(feature, { curve, current, marks, range, unit, between }) {
  const { keypoints, histogram } = feature;
  const at = places(feature, between);
  const heights = at.map(curve);
  return Charts.curves({
    lines: heights[0].map((_, k) => at.map((x, i) => [x, heights[i][k]])),
    bars: histogram?.edges ? histogram : null,
    x: [keypoints[0], keypoints[keypoints.length - 1]],
    y: range,
    whole: isWhole(feature),
    points: current === null || current === undefined ? [] : curve(current).map((value) => [current, value]),
    marks: marks.filter((mark) => mark !== null),
    title: `${unit} by ${named(title(feature), 60)}`,
    yTitle: unit,
  });
}

function rows(feature, { curve, current, range, write }) {
  const counts = feature.histogram ? feature.histogram.counts : null;
  const shown = listed(feature);
  const most = counts ? Math.max(...shown.map((place) => counts[place]), 1) : 1;
  const all = new Map(shown.map((place) => [place, curve(place)]));
  const [low, high] = range;
  const left = feature.categories.length - shown.length;
  return h(
    "div",
    {
      class: "categories",
      tabindex: feature.categories.length > 7 ? 0 : null,
      role: "group",
      "aria-label": `categories of ${named(feature.name, 60)}`,
    },
    shown.map((place) =>
      h(
        "div",
        { class: place === current ? "category current" : "category" },
        label(feature.categories[place], 40),
        h(
          "span",
          { class: "lane", "aria-hidden": "true" },
          counts && h("span", { class: "seen", style: { width: `${(100 * counts[place]) / most}%` } }),
          all
            .get(place)
            .map((value) =>
              h("span", { class: "place", style: { left: `${(100 * (value - low)) / (high - low)}%` } }),
            ),
        ),
        h("span", { class: "number" }, all.get(place).length > 1 ? "" : write(all.get(place)[0])),
      ),
    ),
    left > 0 && h("p", { class: "note" }, `and ${left.toLocaleString("en")} more`),
  );
}
