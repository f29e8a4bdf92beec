/* Sets of tokens with features: choose or make a set, move its values, see what becomes of it. */

import * as Cautions from "./cautions.js";
import * as Contributions from "./contributions.js";
import * as Effects from "./effects.js";
import { h, named, show } from "./elements.js";
import * as Evaluate from "./evaluate.js";
import * as Fields from "./fields.js";
import * as Prediction from "./prediction.js";
import * as Sections from "./sections.js";
import * as TokenList from "./tokenlist.js";

const WITHOUT_DATA =
  "The report was made without data, so it has no examples and no histograms, and takes every feature to " +
  "be each token's own.";

/* `server` knows all examples, where a page holds some. */
export function build(model, server) {
  const { features } = model;
  const multi = model.function.outputs > 1;
  const usual = (scope) => features.map((f) => (f.scope === scope ? Fields.usual(f) : null));
  const blank = () => ({ tokens: [usual("token")], set: usual("set") });
  const state = { set: blank(), label: null, selected: 0, explained: null };
  const panel = Prediction.panel(model);
  const effects = Effects.build(model, "What each feature does");
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
    const { set } = state;
    const result = Evaluate.evaluate(model, set);
    const c = !multi ? 0 : state.explained === null ? result.chosen : state.explained;
    const explained = Contributions.explain(model, result, c, Evaluate.asUsual(model, set));
    const rows = Evaluate.rows(model, set);
    const without = Evaluate.without(model, set, result);
    list.update(explained, c, rows[0], without && ((i) => Evaluate.followed(model, without(i), c)));
    panel.update(result, explained, {
      column: c,
      label: state.label,
      what: "Scores, and what is added,",
      choose: multi && explain,
      cautions: Cautions.cautions(model, rows, set.tokens.length),
    });
    effects.draw({
      c,
      base: explained.base,
      current: (d) => current(rows, d),
      marks: marks(rows),
      moved: (d, value) => moved(rows, result, d, value),
    });
  }

  /* What the open token has of a feature; nothing where there is no token. */
  function current(rows, d) {
    const { set, selected } = state;
    if (!set.tokens.length && Evaluate.ofTokens(features[d])) return undefined;
    return rows[set.tokens.length ? selected : 0][d];
  }

  const marks = (rows) => (d) =>
    state.set.tokens.length && Evaluate.ofTokens(features[d]) && !features[d].categories
      ? rows.map((row) => row[d])
      : [];

  /* One value of the open token moves; what belongs to the set moves in all tokens. */
  function moved(rows, { scores, n }, d, value) {
    const fixed = (i) => Evaluate.ofTokens(features[d]) && i !== state.selected;
    const other = (row) => row.map((old, e) => (e === d ? value : old));
    const changed = rows.map((row, i) => (fixed(i) ? scores[i] : Evaluate.phi(model, other(row))));
    return Evaluate.fromScores(model, changed, n);
  }

  const add = () => list.insert(Math.min(state.selected + 1, state.set.tokens.length), usual("token"));
  const sections = [
    Sections.section(
      "try",
      "Try it",
      "Open a token and move its values: what it adds and the prediction follow at once.",
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
    effects.section,
  ];
  load(model.examples.length ? 0 : -1);
  return sections;
}
