"use strict";
/* Sets of tokens with features: choose or make a set, move its values, see what becomes of it. */
const Sets = (() => {
  const STEPS = 200;
  const MOST_OPTIONS = 2000;
  const MOST_TOKENS = 100;
  const MOST_COMPARED = 40; /* tokens up to which the prediction without each is shown */

  /* A value in the middle of what is usual, to begin with. */
  function usual(feature) {
    const { keypoints, histogram } = feature;
    if (!keypoints) {
      const counts = histogram ? histogram.counts : null;
      return counts ? counts.reduce((best, count, i) => (count > counts[best] ? i : best), 0) : 0;
    }
    const middle = keypoints[Math.floor(keypoints.length / 2)];
    return Sections.isWhole(feature) ? Math.round(middle) : middle;
  }

  function build(model) {
    const { features } = model;
    const sized = features.some((f) => f.scope === "size"); /* then a token less changes all the others' scores */
    const multi = model.function.outputs > 1;
    const width = model.function.width;
    const fresh = () => features.map((f) => (f.scope === "token" ? usual(f) : null));
    const blank = () => ({ tokens: [fresh()], set: features.map((f) => (f.scope === "set" ? usual(f) : null)) });
    const state = { set: null, label: null, selected: 0, explained: null, effects: false };
    const list = h("div", { class: "tokens" });
    const shared = h("div", { class: "shared" });
    const panel = h("div", { class: "panel" });
    const cards = h("div", { class: "cards" });
    let heads = [];

    const picker = h("select", { id: "example", onchange: () => load(Number(picker.value)) },
      model.examples.map((example, i) => h("option", { value: i }, cut(example.name, 60) +
        (example.label === null ? "" : ` (label ${cut(typeof example.label === "number" ? show(example.label) : example.label, 30)})`))),
      h("option", { value: -1 }, "My own set"));

    function load(i) {
      const example = model.examples[i];
      state.set = example ? { tokens: example.tokens.map((token) => [...token]), set: [...example.set] } : blank();
      state.label = example ? example.label : null;
      state.selected = 0;
      picker.value = String(example ? i : -1);
      rebuild();
    }

    const named = (feature, i) => `${cut(Sections.title(feature), 60)} of ${i < 0 ? "the set" : `token ${i + 1}`}`;

    /* The inputs of one value: slider and number, or a choice of categories, and whether it is missing. */
    function field(feature, read, write, of) {
      const id = `v${field.next++}`;
      const name = h("label", { for: id, class: "what" }, label(Sections.title(feature), 60));
      if (feature.categories) {
        const current = read();
        const places = feature.categories.map((_, place) => place).slice(0, MOST_OPTIONS);
        if (current >= MOST_OPTIONS) places.push(current);
        const select = h("select", { id, onchange: () => { write(select.value === "" ? null : Number(select.value)); update(); } },
          places.map((place) => h("option", { value: place }, cut(feature.categories[place], 80))), h("option", { value: "" }, "missing"));
        select.value = current === null ? "" : String(current);
        return h("div", { class: "field" }, name, select);
      }
      const { keypoints } = feature;
      const [low, high] = [keypoints[0], keypoints[keypoints.length - 1]];
      const whole = Sections.isWhole(feature);
      const n = whole ? Math.round(high - low) : STEPS;
      const at = (i) => (i >= n ? high : Number((low + ((high - low) * i) / n).toPrecision(6)));
      const slider = h("input", { type: "range", min: 0, max: n, step: 1, "aria-label": named(feature, of), oninput: () => set(at(Number(slider.value)), slider) });
      const number = h("input", { id, type: "number", step: "any", oninput: () => number.value !== "" && set(Number(number.value), number) });
      const missing = h("input", { type: "checkbox", "aria-label": `${named(feature, of)} is missing`, onchange: () => set(missing.checked ? null : usual(feature)) });
      function reflect(from) {
        const value = read();
        missing.checked = value === null;
        slider.disabled = number.disabled = value === null;
        if (value === null) number.value = "";
        else {
          if (from !== slider) slider.value = String(Math.round(((Math.min(Math.max(value, low), high) - low) / (high - low)) * n));
          if (from !== number) number.value = String(Number(value.toPrecision(6)));
        }
        slider.setAttribute("aria-valuetext", show(value));
      }
      function set(value, from) {
        write(value);
        reflect(from);
        update();
      }
      reflect();
      return h("div", { class: "field" }, name, slider, number, h("label", { class: "missing" }, missing, "missing"));
    }
    field.next = 0;

    function move(from, to) {
      state.selected = Math.max(Math.min(to, state.set.tokens.length - 1, MOST_TOKENS - 1), 0);
      rebuild(from);
    }

    function act(what, i) {
      const { tokens } = state.set;
      if (what === "remove") tokens.splice(i, 1);
      else tokens.splice(i + 1, 0, what === "copy" ? [...tokens[i]] : fresh());
      move(true, what === "remove" ? i : i + 1);
    }

    function rebuild(focus) {
      const { set } = state;
      const ofSet = features.map((f, d) => [f, d]).filter(([f]) => f.scope === "set");
      replace(shared, ofSet.length > 0 && h("fieldset", null, h("legend", null, "Of the whole set"),
        ofSet.map(([f, d]) => field(f, () => set.set[d], (value) => (set.set[d] = value), -1))));
      heads = set.tokens.slice(0, MOST_TOKENS).map((token, i) => {
        const open = i === state.selected;
        const summary = h("span", { class: "summary" });
        const scores = h("span", { class: "score" });
        const effect = h("span", { class: "effect number" });
        const button = h("button", { type: "button", class: "pick", "aria-expanded": String(open), onclick: () => move(true, i) },
          h("span", { class: "order" }, String(i + 1)), summary, scores, effect);
        const row = h("div", { class: open ? "token open" : "token" }, button, open && h("div", { class: "fields" },
          features.map((f, d) => f.scope === "token" && field(f, () => token[d], (value) => (token[d] = value), i)),
          h("div", { class: "actions" },
            h("button", { type: "button", onclick: () => act("copy", i) }, "Copy token"),
            h("button", { type: "button", onclick: () => act("remove", i) }, "Remove token"))));
        return { token, row, button, summary, scores, effect };
      });
      const left = set.tokens.length - heads.length;
      replace(list, heads.map((head) => head.row),
        left > 0 && h("p", { class: "note" }, `and ${left.toLocaleString("en")} more tokens, which count as well`),
        !set.tokens.length && h("p", { class: "note" }, "The set is empty: it is read as one token whose features are all missing."));
      if (focus && heads[state.selected]) heads[state.selected].button.focus();
      update();
    }

    const single = (result, c) => (model.classes ? result.outputs[multi ? c : 0] : result.estimates[0]);

    function update() {
      const { set } = state;
      const result = Evaluate.evaluate(model, set);
      const c = multi ? (state.explained === null ? result.chosen : state.explained) : 0;
      const own = (values) => values.slice(c * width, (c + 1) * width);
      heads.forEach(({ token, summary, scores, effect }, i) => {
        replace(summary, features.map((f, d) => f.scope === "token" && h("span", { class: "value" }, label(f.name, 24), " ",
          h("strong", null, token[d] === null ? "–" : f.categories ? label(f.categories[token[d]], 24) : show(token[d])))));
        const values = own(result.scores[i]);
        replace(scores, Charts.scores(values), h("span", { class: "number" }, width === 1 ? show.signed(values[0]) : ""));
        effect.textContent = "";
        if (set.tokens.length > 1 && set.tokens.length <= MOST_COMPARED) {
          const others = (list) => list.filter((_, j) => j !== i);
          const without = sized ? Evaluate.evaluate(model, { ...set, tokens: others(set.tokens) }) : Evaluate.fromScores(model, others(result.scores));
          effect.textContent = show.signed(single(result, c) - single(without, c));
        }
      });
      const shown = model.classes && model.classes.length === 2 ? result.chosen : c;
      Sections.announce(model, result);
      replace(panel, Sections.dock(model, result), h("h3", null, "Prediction"),
        Sections.prediction(model, result, multi ? c : shown, multi && ((chosen) => { state.explained = chosen; update(); })),
        state.label !== null && h("p", { class: "note" }, "label of this example: ", h("strong", null, typeof state.label === "number" ? show(state.label) : label(state.label, 40))),
        multi && h("p", { class: "note" }, "Scores are those of ", h("strong", null, label(model.classes[c], 40)), "; choose another class above."),
        Sections.aggregate(model, own(result.means), result.outputs[c], c));
      draw(c, result.scores);
    }

    /* Each feature: its calibrator, or the prediction while this one value moves. */
    function draw(c, scores) {
      const { set } = state;
      const token = set.tokens[state.selected];
      const values = Evaluate.rows(model, set)[set.tokens.length ? state.selected : 0];
      replace(cards, features.map((feature, d) => {
        const current = token || feature.scope !== "token" ? values[d] : undefined;
        const marks = feature.scope === "token" && !feature.categories ? set.tokens.map((other) => other[d]) : [];
        if (!state.effects) {
          const rows = Array.from({ length: width }, (_, k) => model.function.calibration[c * width + k]);
          const curve = (value) => rows.map((row) => Evaluate.read(row, Evaluate.place(feature, value)));
          return Sections.card(feature, { curve, current, marks, range: [0, 1], unit: "calibrated" });
        }
        /* A token's own value changes its own score; what belongs to the set changes all. */
        const changed = (value) => Evaluate.fromScores(model, Evaluate.rows(model, set).map((row, i) =>
          feature.scope === "token" && i !== state.selected ? scores[i] : Evaluate.phi(model, row.map((old, e) => (e === d ? value : old)))));
        const unit = model.classes ? (model.link === "margin" ? "margin" : "probability") : "prediction";
        const curve = (value) => {
          const { estimates } = changed(value);
          return [model.classes && model.classes.length === 2 ? estimates[1] : estimates[c]];
        };
        return Sections.card(feature, { curve, current, unit, between: 16 });
      }));
    }

    const modes = ["Calibrators", "Effect on this prediction"].map((text, i) =>
      h("button", { type: "button", "aria-pressed": String(i === 0), onclick: () => {
        state.effects = i === 1;
        modes.forEach((button, j) => button.setAttribute("aria-pressed", String(i === j)));
        update();
      } }, text));

    const sections = [
      Sections.section("try", "Try it", "Open a token and move its values: its score, the average and the prediction follow at once.",
        model.n_sets === null && h("p", { class: "warning" }, "The report was made without data, so it has no examples and no histograms, and takes every feature to be each token's own."),
        h("div", { class: "toolbar" },
          h("label", { for: "example" }, "Start from"), picker,
          h("button", { type: "button", onclick: () => act("add", state.selected) }, "Add token")),
        h("div", { class: "split" }, h("div", null, shared,
          h("div", { class: "heads", "aria-hidden": "true" }, h("span", null, "token"), h("span", null, width === 1 ? "score" : "scores"),
            h("span", { class: "number" }, model.classes ? (model.link === "margin" ? "changes margin by" : "changes log-odds by") : "changes prediction by")),
          list), h("aside", { "aria-label": "Prediction" }, Sections.status, panel))),
      Sections.section("features", "What it reads in each feature",
        "Every value is first read through a curve from 0 to 1, then the curves are mixed into the token's score. Behind each curve: how often its values occur. The point is the open token.",
        h("div", { class: "toolbar modes", role: "group", "aria-label": "What the charts show" }, modes), cards),
    ];
    load(model.examples.length ? 0 : -1);
    return sections;
  }

  return { build };
})();
