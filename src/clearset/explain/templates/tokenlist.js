"use strict";
/* The tokens of a set as a list, one of them open for changes, and what belongs to the whole set above it. */
const TokenList = (() => {
  const MOST_TOKENS = 100;
  const MOST_COMPARED = 40; /* tokens up to which the prediction without each is shown */

  /* `state` has the set and which token is selected; `changed()` hears of other values. */
  function build(model, state, changed) {
    const { features } = model;
    const width = model.function.width;
    const shared = h("div", { class: "shared" });
    const list = h("div", { class: "tokens" });
    let heads = [];

    /* Among the numbers of a token or the set, the place of one feature. */
    const place = (values, d) => ({
      get: () => values[d],
      set: (value) => {
        values[d] = value;
        changed();
      },
    });

    const fieldsOf = (scope, values, of) =>
      features.map((feature, d) => feature.scope === scope && Fields.field(feature, place(values, d), of));

    function select(i) {
      state.selected = Math.max(Math.min(i, state.set.tokens.length - 1, MOST_TOKENS - 1), 0);
      rebuild();
      if (heads[state.selected]) heads[state.selected].button.focus();
    }

    function insert(i, token) {
      state.set.tokens.splice(i, 0, token);
      select(i);
    }

    function remove(i) {
      state.set.tokens.splice(i, 1);
      select(i);
    }

    function editor(token, i) {
      const action = (name, act) => h("button", { type: "button", onclick: act }, name);
      return h(
        "div",
        { class: "fields" },
        fieldsOf("token", token, `token ${i + 1}`),
        h(
          "div",
          { class: "actions" },
          action("Copy token", () => insert(i + 1, [...token])),
          action("Remove token", () => remove(i)),
        ),
      );
    }

    function head(token, i) {
      const open = i === state.selected;
      const summary = h("span", { class: "summary" });
      const scores = h("span", { class: "score" });
      const effect = h("span", { class: "effect number" });
      const button = h(
        "button",
        { type: "button", class: "pick", "aria-expanded": String(open), onclick: () => select(i) },
        h("span", { class: "order" }, String(i + 1)),
        summary,
        scores,
        effect,
      );
      const row = h("div", { class: open ? "token open" : "token" }, button, open && editor(token, i));
      return { token, row, button, summary, scores, effect };
    }

    function rebuild() {
      const { set } = state;
      const some = features.some((feature) => feature.scope === "set");
      const legend = h("legend", null, "Of the whole set");
      replace(shared, some && h("fieldset", null, legend, fieldsOf("set", set.set, "the set")));
      heads = set.tokens.slice(0, MOST_TOKENS).map(head);
      const left = set.tokens.length - heads.length;
      const more = `and ${count(left, "more token")}, which count as well`;
      const empty = "The set is empty: it is read as one token whose features are all missing.";
      replace(
        list,
        heads.map(({ row }) => row),
        left > 0 && h("p", { class: "note" }, more),
        !set.tokens.length && h("p", { class: "note" }, empty),
      );
      changed();
    }

    function valued(feature, value) {
      const shown = feature.categories && value !== null ? label(feature.categories[value], 24) : show(value);
      const strong = h("strong", null, value === null ? "–" : shown);
      return h("span", { class: "value" }, label(feature.name, 24), " ", strong);
    }

    /* Show what became of the values: `result` of the set, for the class whose scores begin at `first`;
       `output` says which number is followed. */
    function update(result, first, output) {
      const own = heads.map((_, i) => result.scores[i].slice(first, first + width));
      const numbers = show.column(
        own.map(([score]) => score),
        { digits: 3, signed: true },
      );
      const whole = output(result);
      const effects = compared() ? heads.map((_, i) => whole - output(without(result, i))) : [];
      const added = show.column(effects, { digits: 3, signed: true });
      heads.forEach(({ token, summary, scores, effect }, i) => {
        replace(
          summary,
          features.map((feature, d) => feature.scope === "token" && valued(feature, token[d])),
        );
        replace(scores, Charts.scores(own[i]), h("span", { class: "number" }, width === 1 ? numbers[i] : ""));
        effect.textContent = added[i] || "";
      });
    }

    const compared = () => state.set.tokens.length > 1 && state.set.tokens.length <= MOST_COMPARED;
    const sized = features.some((feature) => feature.scope === "size");

    /* Where the number of tokens counts, one less changes all the others' scores. */
    function without(result, i) {
      const others = (list) => list.filter((_, j) => j !== i);
      if (!sized) return Evaluate.fromScores(model, others(result.scores));
      return Evaluate.evaluate(model, { ...state.set, tokens: others(state.set.tokens) });
    }

    const followed = !model.classes ? "prediction" : model.link === "margin" ? "margin" : "log-odds";
    const titles = h(
      "div",
      { class: "heads", "aria-hidden": "true" },
      h("span", null, "token"),
      h("span", null, width === 1 ? "score" : "scores"),
      h("span", { class: "number" }, `adds to ${followed}`),
    );
    return { elements: [shared, titles, list], rebuild, update, insert };
  }

  return { build };
})();
