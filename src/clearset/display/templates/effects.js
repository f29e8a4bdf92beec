/* What features do, a card for each: to scores on average, to the prediction at hand, and their calibration. */

import * as Charts from "./charts.js";
import { h, replace, show } from "./elements.js";
import * as Evaluate from "./evaluate.js";
import * as Features from "./features.js";
import * as Prediction from "./prediction.js";
import * as Sections from "./sections.js";

const BETWEEN = 16; /* points of a curve beside its keypoints */
const BEHIND = "Behind each curve: how often its values occur. The point is the token chosen above.";
const COLOURS = "Blue raises the prediction, grey lowers it.";
const MODES = [
  [
    "Effect",
    "What each value makes of a token’s score, all else as it is on average; 0 is the base rate, from which a token " +
      `that is average in everything may differ. ${COLOURS} All charts have the same scale. ${BEHIND}`,
  ],
  [
    "Effect on this prediction",
    "What the prediction would be if one value of the token chosen above, or of the whole set, were another and all " +
      "else stayed. The line across is the base rate: above it curves are blue, below it grey. All charts have the " +
      `same axis. ${BEHIND}`,
  ],
  [
    "Calibration",
    "The parameters behind the effects: every value is first read through a curve from 0 to 1, then mixed into the " +
      "token’s score. Whether a higher calibrated value raises or lowers the score is up to the mixing: see “Effect”.",
  ],
];

const tiny = (height) => (Math.abs(height) < 5e-4 ? 0 : height);

/* `draw(view)` shows the cards. Of the view, `c` is the class looked at, `base` its base rate; `current(d)` is what
   the chosen token has of a feature, `marks(d)` what others have, and `moved(d, value)` what would be said of the set
   with another value. */
export function build(model, heading) {
  const { features } = model;
  const { width } = model.function;
  const cards = h("div", { class: "cards" });
  const lead = h("span", null, MODES[0][1]);
  let shown = 0;
  let last = null;

  const effects = new Map(); /* they do not depend on the set */
  function effect(c, d, value) {
    const key = `${c} ${d} ${value}`;
    if (!effects.has(key)) effects.set(key, Evaluate.effect(model, c, d, value));
    return effects.get(key);
  }

  function calibrated(c, d, value) {
    const first = model.function.outputs > 1 ? c * width : 0;
    const at = Evaluate.place(features[d], value);
    return model.function.calibration.slice(first, first + width).map((row) => Evaluate.read(row, at));
  }

  function predicted({ c, moved }, d) {
    const known = new Map();
    return (value) => {
      if (!known.has(value)) known.set(value, [Evaluate.followed(model, moved(d, value), c)]);
      return known.get(value);
    };
  }

  const several = width > 1 ? "s" : "";
  const kinds = [
    ({ c }) => ({
      curve: (d) => (value) => effect(c, d, value),
      unit: `effect on the score${several}`,
      write: (height) => show.signed(tiny(height)),
      between: BETWEEN,
      zero: 0,
    }),
    (view) => ({
      curve: (d) => predicted(view, d),
      unit: Prediction.followed(model, view.c),
      write: (height) => Prediction.written(model, [height])[0],
      between: BETWEEN,
      zero: view.base,
      moves: true,
    }),
    ({ c }) => ({
      curve: (d) => (value) => calibrated(c, d, value),
      unit: "calibrated",
      write: (height) => show(tiny(height), 3),
      between: 0,
      range: [0, 1],
    }),
  ];

  function draw(view) {
    last = view;
    const { curve, range, zero, moves, ...kind } = kinds[shown](view);
    const all = features.map((feature, d) => {
      const given = { ...kind, curve: curve(d), current: view.current(d), marks: view.marks(d) };
      return { feature, given, found: Features.heights(model, feature, given) };
    });
    const reached = all.flatMap(({ found }) => found.flatMap(([, heights]) => heights));
    const common = range || Charts.padded([zero, ...reached]);
    replace(
      cards,
      all.map(({ feature, given, found }) => {
        const more = moves && Features.moves(feature, found, kind.write);
        return Features.card(model, feature, { ...given, range: common, zero, more });
      }),
    );
  }

  const buttons = MODES.map(([name], i) =>
    h("button", { type: "button", "aria-pressed": String(i === 0), onclick: () => choose(i) }, name),
  );
  function choose(i) {
    shown = i;
    for (const [j, button] of buttons.entries()) button.setAttribute("aria-pressed", String(i === j));
    lead.textContent = MODES[i][1];
    if (last) draw(last);
  }

  const modes = { class: "toolbar modes", role: "group", "aria-label": "What the charts show" };
  return { section: Sections.section("features", heading, lead, h("div", modes, buttons), cards), draw };
}
