/* The inputs of one value: slider and number, or a choice of categories, and whether it is missing. */

import { h, label, named, show } from "./elements.js";
import * as Evaluate from "./evaluate.js";
import * as Features from "./features.js";

const STEPS = 200;
const MOST_OPTIONS = 2000;
let next = 0;

/* A value in the middle of what is usual, to begin with. */
export function usual(feature) {
  const { keypoints, histogram } = feature;
  if (!keypoints) {
    const counts = histogram ? histogram.counts : null;
    return counts ? counts.reduce((best, count, i) => (count > counts[best] ? i : best), 0) : 0;
  }
  const middle = keypoints[Math.floor(keypoints.length / 2)];
  return Features.isWhole(feature) ? Math.round(middle) : middle;
}

/* `value` is {get, set} of what is edited, `of` what it belongs to. */
export function field(feature, value, of) {
  const id = `v${next++}`;
  const name = h("label", { for: id, class: "what" }, label(feature.name, 60));
  const spoken = `${named(feature.name, 60)} of ${of}`;
  const inputs = feature.categories ? choice(feature, value, id) : numeric(feature, value, id, spoken);
  return h("div", { class: "field" }, name, inputs);
}

function choice({ categories }, value, id) {
  const current = value.get();
  const places = categories.map((_, place) => place).slice(0, MOST_OPTIONS);
  if (current >= MOST_OPTIONS) places.push(current);
  const select = h(
    "select",
    { id, onchange: () => value.set(select.value === "" ? null : Number(select.value)) },
    places.map((place) => h("option", { value: place }, named(categories[place], 80))),
    current < 0 && h("option", { value: current }, Features.UNKNOWN),
    h("option", { value: "" }, "missing"),
  );
  select.value = current === null ? "" : String(current);
  return select;
}

/* As many digits as tell usual values apart and fit the box; large numbers are often whole. */
function written(number) {
  const size = Math.abs(number);
  return size >= 1e9 ? number.toExponential(5) : String(Number(number.toPrecision(size < 1e5 ? 6 : 9)));
}

function numeric(feature, value, id, spoken) {
  const { keypoints } = feature;
  const [low, high] = [keypoints[0], keypoints[keypoints.length - 1]];
  const n = Features.isWhole(feature) ? Math.round(high - low) : STEPS;
  /* Shares of the ends: their difference may overflow. */
  const at = (i) => (i >= n ? high : Number((low * (1 - i / n) + high * (i / n)).toPrecision(6)));
  const place = (x) => Math.round(n * Evaluate.share(Math.min(Math.max(x, low), high), low, high));
  const slider = h("input", {
    type: "range",
    min: 0,
    max: n,
    step: 1,
    "aria-label": spoken,
    oninput: () => set(at(Number(slider.value)), slider),
  });
  const number = h("input", {
    id,
    type: "number",
    step: "any",
    oninput: () => number.value !== "" && set(Number(number.value), number),
    onblur: () => number.value === "" && reflect(),
  });
  const missing = h("input", {
    type: "checkbox",
    "aria-label": `${spoken} is missing`,
    onchange: () => set(missing.checked ? null : usual(feature)),
  });

  function reflect(from) {
    const now = value.get();
    missing.checked = now === null;
    slider.disabled = number.disabled = now === null;
    if (now === null) number.value = "";
    else {
      if (from !== slider) slider.value = String(place(now));
      if (from !== number) number.value = written(now);
    }
    slider.setAttribute("aria-valuetext", show(now));
  }

  function set(to, from) {
    value.set(to);
    reflect(from);
  }

  reflect();
  return [slider, number, h("label", { class: "missing" }, missing, "missing")];
}
