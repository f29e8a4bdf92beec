/* Sets of tokens with features: choose or make a set, move its values, see what becomes of it. */

import * as Charts from "./charts.js";
import { h, named, replace, show } from "./elements.js";
import * as Evaluate from "./evaluate.js";
import * as Features from "./features.js";
import * as Fields from "./fields.js";
import * as Prediction from "./prediction.js";
import * as Sections from "./sections.js";
import * as TokenList from "./tokenlist.js";

const WITHOUT_DATA =
  "The report was made without data, so it has no examples and no histograms, and takes every feature to " +
  "be each token's own.";

const BEHIND = "Behind each curve: how often its values occur. The point is the open token.";
const LEADS = [
  `Every value is first read through a curve from 0 to 1, then mixed into the token's score. ${BEHIND}`,
  "What the prediction would be if one value of the open token, or of the whole set, were another and all else " +
    `stayed. All charts have the same axis, so that heights can be compared. ${BEHIND}`,
];

/* `server` knows all examples, where a page holds some. */
export function build(model, server) {
  const { features } = model;
  const multi = model.function.outputs > 1;
  const width = model.function.width;
  const usual = (scope) => features.map((f) => (f.scope === scope ? Fields.usual(f) : null));
  const blank = () => ({ tokens: [usual("token")], set: usual("set") });
  const state = { set: blank(), label: null, selected: 0, explained: null, effects: false };
  const panel = Prediction.panel(model);
  const cards = h("div", { class: "cards" });
  const list = TokenList.build(model, state, update, own);

  const labelled = ({ name, label: said }) => {
    const text = typeof said === "number" ? show(said) : said !== null && named(said, 30);
    return named(name, 40) + (said === null ? "" : ` (label ${text})`);
  };
  function option(example, i) {
    return h("option", { value: i }, labelled(example));
  }
  const picker = h(
    "select",
    { id: "example", onchange: () => load(Number(picker.value)) },
    model.examples.map(option),
    h("option", { value: -1 }, "My own example"),
  );

  let turn = 0;
  function load(i) {
    turn++;
    const example = model.examples[i];
    state.set = example
      ? { tokens: example.tokens.map((token) => [...token]), set: [...example.set] }
      : blank();
    state.label = example ? example.label : null;
    state.selected = 0;
    picker.value = String(example ? i : -1);
    list.rebuild();
  }

  /* Once it is changed, it is no longer the example that has the label. */
  function own() {
    turn++;
    state.label = null;
    picker.value = "-1";
  }

  function explain(column) {
    state.explained = column;
    update();
  }

  function update() {
    const result = Evaluate.evaluate(model, state.set);
    const c = !multi ? 0 : state.explained === null ? result.chosen : state.explained;
    list.update(result, c);
    const means = result.means.slice(c * width, (c + 1) * width);
    const said = { column: c, label: state.label, what: "Scores", choose: multi && explain };
    panel.update(result, means, said);
    replace(cards, state.effects ? effects(c, result.scores) : features.map(calibrators(c)));
  }

  /* What the open token has of a feature. */
  function current(feature, d) {
    const { set, selected } = state;
    if (!set.tokens.length && feature.scope === "token") return undefined;
    return Evaluate.rows(model, set)[set.tokens.length ? selected : 0][d];
  }

  /* Each feature's calibrators. */
  const calibrators = (c) => (feature, d) => {
    const rows = model.function.calibration.slice(c * width, (c + 1) * width);
    const curve = (value) => rows.map((row) => Evaluate.read(row, Evaluate.place(feature, value)));
    const numeric = feature.scope === "token" && !feature.categories;
    const marks = numeric ? state.set.tokens.map((token) => token[d]) : [];
    return Features.card(feature, {
      curve,
      current: current(feature, d),
      marks,
      range: [0, 1],
      unit: "calibrated",
    });
  };

  /* The prediction while one value moves, on one axis for all features: what does little looks like it. */
  function effects(c, scores) {
    const unit = Prediction.followed(model, c);
    const drawn = features.map((feature, d) => {
      const curve = effect(c, scores, feature, d);
      const given = { curve, current: current(feature, d), unit, between: 16 };
      return { feature, given, ends: Features.ends(feature, given) };
    });
    const write = (height) => Prediction.written(model, [height])[0];
    const range = Charts.padded(drawn.flatMap(({ ends }) => ends.map(([, height]) => height)));
    return drawn.map(({ feature, given, ends }) => {
      return Features.card(feature, { ...given, range, write, more: Features.moves(feature, ends, write) });
    });
  }

  /* One value of the open token moves; what belongs to the set moves in all tokens. */
  function effect(c, scores, feature, d) {
    const rows = Evaluate.rows(model, state.set);
    const known = new Map();
    const moved = (row, value) =>
      Evaluate.phi(
        model,
        row.map((old, e) => (e === d ? value : old)),
      );
    const fixed = (i) => feature.scope === "token" && i !== state.selected;
    const curve = (value) => {
      const changed = rows.map((row, i) => (fixed(i) ? scores[i] : moved(row, value)));
      return [Prediction.followedIn(model, Evaluate.fromScores(model, changed), c)];
    };
    return (value) => {
      if (!known.has(value)) known.set(value, curve(value));
      return known.get(value);
    };
  }

  const lead = h("span", null, LEADS[0]);
  const modes = ["How it is read", "Effect on this prediction"].map((text, i) =>
    h("button", { type: "button", "aria-pressed": String(i === 0), onclick: () => mode(i) }, text),
  );
  function mode(i) {
    state.effects = i === 1;
    for (const [j, button] of modes.entries()) button.setAttribute("aria-pressed", String(i === j));
    lead.textContent = LEADS[i];
    update();
  }

  const add = () => list.insert(Math.min(state.selected + 1, state.set.tokens.length), usual("token"));
  const sections = [
    Sections.section(
      "try",
      "Try it",
      "Open a token and move its values: its score, the average and the prediction follow at once.",
      model.n_sets === null && h("p", { class: "warning" }, WITHOUT_DATA),
      h(
        "div",
        { class: "toolbar" },
        h("label", { for: "example" }, "Start from"),
        picker,
        server ? server.rows(model, picker, option, load, () => turn) : Sections.chosen(model),
        h("button", { type: "button", onclick: add }, "Add token"),
      ),
      h("div", { class: "split" }, h("div", null, list.elements), panel.element),
    ),
    Sections.section(
      "features",
      "What it reads in each feature",
      lead,
      h("div", { class: "toolbar modes", role: "group", "aria-label": "What the charts show" }, modes),
      cards,
    ),
  ];
  load(model.examples.length ? 0 : -1);
  return sections;
}
