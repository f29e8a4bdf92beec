/* Charts as SVG, drawn by hand: curves over a histogram, points, lines of training, bars. */

import { cut, h, show, svg } from "./elements.js";
import * as Evaluate from "./evaluate.js";

const WIDTH = 340;
const HEIGHT = 200;
const EDGE = { left: 28, right: 10, top: 20, bottom: 24 };
const LETTER = 6; /* about the width of one in an axis */
const UNITS = Object.entries({ T: 1e12, B: 1e9, M: 1e6, K: 1e3 });

/* Round numbers in a range, with what to write at each: as many digits as tell them apart. */
function ticks(low, high, most, whole = false) {
  if (!(high > low)) return [[low, show(low, 3)]];
  const rough = Math.max(high / most - low / most, whole ? 1 : 0);
  const power = Math.floor(Math.log10(rough));
  const step = 10 ** power * [1, 2, 5, 10].find((n) => n >= (rough / 10 ** power) * (1 - 1e-9));
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(i * step);
  const place = Math.floor(Math.log10(step) + 1e-9);
  const largest = Math.max(...found.map(Math.abs));
  return found.map((tick) => [tick, written(tick, largest, place)]);
}

/* A tick whose last digit that counts stands at 10 ** place, beside others as large as `largest`. */
function written(tick, largest, place) {
  const minus = (text) =>
    Number(tick.toPrecision(12)) === 0 ? text.replace("-", "") : text.replace("-", "−");
  if (largest >= 1e15 || largest < 1e-4) {
    if (tick === 0) return "0";
    return minus(
      tick.toExponential(Math.min(Math.max(Math.floor(Math.log10(Math.abs(tick))) - place, 0), 15)),
    );
  }
  const [letter, unit] = (largest >= 1e5 && UNITS.find(([, size]) => largest >= size)) || ["", 1];
  const digits = Math.min(Math.max(Math.round(Math.log10(unit)) - place, 0), 12);
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return minus((tick / unit).toLocaleString("en", options)) + letter;
}

const longest = (marks) => LETTER * Math.max(...marks.map(([, text]) => text.length), 0);

const scale = (low, high, from, to) => (x) =>
  high > low ? from + Evaluate.share(x, low, high) * (to - from) : from;

/* The frame of a chart: axes with ticks, and how to place things in it. */
function frame({ x, y, height = HEIGHT, title, yTitle, whole = false }) {
  const across = ticks(y[0], y[1], 5);
  const left = Math.max(EDGE.left, longest(across) + 8);
  const right = WIDTH - EDGE.right;
  const bottom = height - EDGE.bottom;
  const sx = scale(x[0], x[1], left, right);
  const sy = scale(y[0], y[1], bottom, EDGE.top);
  const root = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", class: "chart" });
  root.append(svg("title", null, title));
  for (const [tick, text] of across) {
    root.append(svg("line", { class: "grid", x1: left, x2: right, y1: sy(tick), y2: sy(tick) }));
    root.append(svg("text", { class: "tick end", x: left - 5, y: sy(tick) + 3.5 }, text));
  }
  for (const [tick, text] of along(x, right - left, whole)) {
    const half = (LETTER * text.length) / 2;
    const at = Math.min(Math.max(sx(tick), half), WIDTH - half); /* within the card */
    root.append(svg("text", { class: "tick middle", x: at, y: bottom + 15 }, text));
  }
  if (yTitle) root.append(svg("text", { class: "tick", x: 2, y: 9 }, cut(yTitle, 50)));
  root.append(svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }));
  return { root, sx, sy, bottom, left, right };
}

/* The ticks along the foot: as many as there is room for. */
function along(x, room, whole) {
  for (let most = 6; ; most--) {
    const marks = ticks(x[0], x[1], most, whole);
    if (most === 1 || (longest(marks) + 2 * LETTER) * marks.length <= room) return marks;
  }
}

const path = (points, sx, sy) =>
  points.map(([a, b], i) => `${i ? "L" : "M"}${sx(a).toFixed(2)},${sy(b).toFixed(2)}`).join("");

/* A line in pieces: what lies below `zero` apart from what lies above, and what is `thin` from what is not. */
function pieces(line, zero, thin) {
  const found = [];
  const add = (from, to) => {
    const middle = [from[0] / 2 + to[0] / 2, from[1] / 2 + to[1] / 2]; /* sums may overflow */
    const kind = (middle[1] < zero ? " below" : "") + (thin(middle[0]) ? " thin" : "");
    if (found.at(-1)?.kind === kind) found.at(-1).points.push(to);
    else found.push({ kind, points: [from, to] });
  };
  for (const [i, to] of line.slice(1).entries()) {
    const from = line[i];
    if ((from[1] - zero) * (to[1] - zero) < 0) {
      const way = Evaluate.share(zero, from[1], to[1]);
      const crossing = [from[0] * (1 - way) + to[0] * way, zero];
      add(from, crossing);
      add(crossing, to);
    } else add(from, to);
  }
  return found;
}

function histogram(root, { edges, counts }, sx, bottom, left, right) {
  const most = Math.max(...counts, 1e-9);
  const group = svg("g", { class: "histogram" });
  counts.forEach((count, i) => {
    if (!count) return;
    const x1 = Math.max(sx(edges[i]), left) + 0.5;
    const x2 = Math.min(sx(edges[i + 1]), right) - 0.5;
    const size = (count / most) * (bottom - EDGE.top) * 0.9;
    group.append(svg("rect", { x: x1, y: bottom - size, width: Math.max(x2 - x1, 0.8), height: size }));
  });
  root.append(group);
}

export const padded = (values) => {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const edge = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
  return [low - edge, high + edge];
};

/* Curves, the data's histogram behind them, marks of other tokens, and the current point. Where there is a `zero`,
   the base rate, lines have another colour below it; stretches of `x` that are `thin` are drawn lighter. */
export function curves({
  lines,
  bars,
  x,
  y,
  points = [],
  marks = [],
  zero = -Infinity,
  thin = () => false,
  ...labels
}) {
  const { whole } = labels;
  const range = y || padded(lines.flatMap((line) => line.map((point) => point[1])));
  const ends = bars && whole ? [x[0] - 0.5, x[1] + 0.5] : x;
  const { root, sx, sy, bottom, left, right } = frame({ x: ends, y: range, ...labels });
  if (bars) histogram(root, bars, sx, bottom, left, right);
  if (zero >= range[0] && zero <= range[1])
    root.append(svg("line", { class: "axis zero", x1: left, x2: right, y1: sy(zero), y2: sy(zero) }));
  for (const mark of marks) {
    const at = Math.min(Math.max(sx(mark), left), right);
    root.append(svg("line", { class: "mark", x1: at, x2: at, y1: bottom - 6, y2: bottom }));
  }
  for (const [k, line] of lines.entries())
    for (const { kind, points: some } of pieces(line, zero, thin))
      root.append(svg("path", { class: `curve curve-${k % 4}${kind}`, d: path(some, sx, sy) }));
  for (const [a, b] of points) {
    const at = Math.min(Math.max(sx(a), left), right);
    const kind = b < zero ? " below" : "";
    root.append(svg("line", { class: `drop${kind}`, x1: at, x2: at, y1: sy(b), y2: bottom }));
    root.append(svg("circle", { class: `point${kind}`, cx: at, cy: sy(b), r: 5 }));
  }
  return root;
}

/* Predictions against labels, with the line of equality; or shares said against shares seen. */
export function scatter({ points, range, title, yTitle, sizes }) {
  const ends = range || padded(points.flat());
  const { root, sx, sy } = frame({ x: ends, y: ends, height: 260, title, yTitle });
  root.append(
    svg("line", { class: "equal", x1: sx(ends[0]), y1: sy(ends[0]), x2: sx(ends[1]), y2: sy(ends[1]) }),
  );
  points.forEach(([a, b], i) => {
    root.append(
      svg("circle", { class: sizes ? "point" : "dot", cx: sx(a), cy: sy(b), r: sizes ? sizes[i] : 2.6 }),
    );
  });
  return root;
}

/* A bar from the middle for each value, to the right where it raises and to the left where it lowers; the longest
   is for `largest`. */
export function scores(values, largest, longest = show(largest, 3)) {
  const title = `A full half stands for ${longest}`;
  return h(
    "span",
    { class: "scores", "aria-hidden": "true", title },
    values.map((value) => {
      const size = largest > 0 ? (Math.min(Math.abs(value), largest) / largest) * 50 : 0;
      const style = { left: `${value < 0 ? 50 - size : 50}%`, width: `${size}%` };
      return h("span", { class: "track" }, h("span", { class: value < 0 ? "bar below" : "bar", style }));
    }),
  );
}

export const bar = (share) =>
  h(
    "span",
    { class: "track from-left", "aria-hidden": "true" },
    h("span", { class: "bar", style: { left: "0", width: `${100 * Math.min(Math.max(share, 0), 1)}%` } }),
  );

export const largest = (scores) => scores.flat().reduce((most, score) => Math.max(most, Math.abs(score)), 0);
