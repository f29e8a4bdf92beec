"use strict";
/* Sets of strings and texts: put items together, see the tokens that the table knows of them, and what these say. */
const Items = (() => {
  const LEADS = {
    text: "Type a text. The words and runs of words that the model knows are its tokens; each has a score.",
    items:
      "Put items together. Those, and combinations of them, that the model knows are its tokens; each has a score.",
  };

  function build(model) {
    const { tokens } = model;
    const server = model.served ? Explorer : null; /* knows all tokens, where a page holds some */
    const text = Typing.isText(model);
    const multi = Tokens.columns(model) > 1;
    const state = {
      example: { items: [], details: {} },
      label: null,
      explained: null,
      column: 0,
      token: null,
    };
    const found = h("div");
    const panel = h("div", { class: "panel" });
    const cards = h("div", { class: "cards" });
    const editor = Editor.build(model, server, change);
    const known = Search.build(model, server, () => state.column, addToken);

    const spelled = (items) => items.map((item) => named(Typing.spoken(item), 60)).join(text ? " " : " · ");
    const picker = h(
      "select",
      { id: "example", onchange: () => load(Number(picker.value)) },
      model.examples.map(({ name, items }, i) =>
        h("option", { value: i }, cut(`${name}: ${spelled(items)}`, 60)),
      ),
      h("option", { value: -1 }, "My own example"),
    );

    function load(i) {
      const example = model.examples[i];
      state.example = { items: example ? [...example.items] : [], details: example ? example.details : {} };
      state.label = example ? example.label : null;
      picker.value = String(example ? i : -1);
      editor.write(state.example.items);
      renew();
    }

    function change(items) {
      state.example = { items, details: {} };
      state.label = null;
      picker.value = "-1";
      renew();
    }

    function addToken(items) {
      change([...state.example.items, ...(tokens.own ? [items.join(Tokens.BETWEEN)] : items)]);
      editor.write(state.example.items);
    }

    let asked = 0;
    function renew() {
      const number = ++asked;
      update();
      if (!server) return;
      server.known(state.example.items).then((more) => {
        Tokens.learn(model, more);
        if (number === asked) update();
      }, server.failed);
    }

    function explain(column) {
      state.explained = column;
      update();
      known.search();
    }

    function open(token) {
      state.token = token;
      update();
    }

    function update() {
      const result = Tokens.evaluate(model, state.example);
      const unknown = new Set(result.found.unknown);
      const rows = result.rows.filter((row) => row.token >= 0);
      state.column = !multi ? 0 : state.explained === null ? result.chosen : state.explained;
      if (!rows.some((row) => row.token === state.token)) state.token = rows.length ? rows[0].token : null;
      editor.mark(state.example.items, unknown);
      const empty = state.example.items.length ? "No known token is in it" : "Empty";
      replace(
        found,
        Found.unknown(unknown, !!server),
        rows.length > 0
          ? Found.list(model, rows, state, open)
          : h("p", { class: "note" }, `${empty}: the model says what it would say of nothing.`),
      );
      const c = state.column;
      Prediction.announce(model, result);
      replace(
        panel,
        Prediction.dock(model, result),
        Prediction.figure(model, result, multi ? c : result.chosen, multi && explain),
        Prediction.known(state.label),
        multi && Prediction.explained("Shares and scores are", model.classes[c]),
        Prediction.aggregate(model, result.means[c], result.outputs[c], 0),
      );
      draw(result.rows, c);
    }

    function draw(rows, c) {
      const own = (row) => row.value && row.value.refined[Found.byClass(model, c)];
      const current = rows.find((row) => row.token === state.token);
      const values = current && [own(current), ...current.others];
      replace(
        cards,
        model.features.map((feature, d) =>
          Features.card(feature, {
            curve: (value) =>
              model.function.calibration.map((row) => Evaluate.read(row, Evaluate.place(feature, value))),
            current: values ? values[d] : undefined,
            marks: d === 0 ? rows.map(own) : [],
            range: [0, 1],
            unit: "calibrated",
          }),
        ),
      );
    }

    const start = model.examples.length > 0 && [h("label", { for: "example" }, "Start from"), picker];
    const empty = h("button", { type: "button", onclick: () => (load(-1), editor.focus()) }, "Empty");
    const sections = [
      Sections.section(
        "try",
        "Try it",
        LEADS[text ? "text" : "items"],
        h("div", { class: "toolbar" }, start, empty),
        server ? null : partly(tokens),
        h(
          "div",
          { class: "split" },
          h("div", null, editor.element, found),
          h("aside", { "aria-label": "Prediction" }, Prediction.status, panel),
        ),
      ),
      known.section,
      Sections.section(
        "features",
        "What it reads in each token",
        "What is known of a token is first read through curves from 0 to 1, then mixed into its score. Behind each " +
          "curve: how often its values occur. The point is the token marked above.",
        cards,
      ),
    ];
    load(model.examples.length ? 0 : -1);
    known.search();
    return sections;
  }

  function partly({ n_tokens: all, items }) {
    if (all <= items.length) return null;
    return h(
      "p",
      { class: "warning" },
      `This page holds ${items.length.toLocaleString("en")} of the model's ${count(all, "token")}, the most ` +
        "frequent and the most telling, and all of the examples above. Of what you type yourself, rarer tokens are " +
        "missing here, so that the model's own prediction can differ.",
    );
  }

  return { build };
})();
