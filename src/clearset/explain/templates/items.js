"use strict";
/* Sets of strings and texts: type items, see the tokens that the table knows of them, and what these say. */
const Items = (() => {
  const MOST_ROWS = 20;
  const MOST_HINTS = 30;

  function build(model) {
    const { tokens } = model;
    const server = model.served ? Explorer : null; /* knows all tokens, where a page holds some */
    const text = tokens.in_order && tokens.tokeniser.split === null;
    const multi = Tokens.columns(model) > 1;
    const width = model.function.width;
    const spoken = (item) => item.split(Tokens.BETWEEN).join(" + ");
    const state = { example: { items: [], details: {} }, label: null, explained: null, column: 0, token: null };
    const chips = h("div", { class: "chips" });
    const found = h("div");
    const panel = h("div", { class: "panel" });
    const cards = h("div", { class: "cards" });
    const results = h("div");
    const hints = h("datalist", { id: "known" });

    const picker = h("select", { id: "example", onchange: () => load(Number(picker.value)) },
      model.examples.map((example, i) => h("option", { value: i }, cut(`${example.name}: ${example.items.map(spoken).join(text ? " " : ", ")}`, 60))),
      h("option", { value: -1 }, "My own example"));

    function load(i) {
      const example = model.examples[i];
      state.example = { items: example ? [...example.items] : [], details: example ? example.details : {} };
      state.label = example ? example.label : null;
      picker.value = String(example ? i : -1);
      if (text) area.value = state.example.items.join(" ");
      renew();
    }

    function change(items) {
      state.example = { items, details: {} };
      state.label = null;
      picker.value = "-1";
      renew();
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

    const add = (typed) => change([...state.example.items, ...Tokens.split(model, typed)]);
    const area = h("textarea", { id: "items", rows: 3, oninput: () => change(Tokens.split(model, area.value)) });
    const input = h("input", { id: "items", type: "text", list: "known", autocomplete: "off", placeholder: tokens.tokeniser.kind === "cross" ? "left=…, right=…" : "items, separated by commas",
      onkeydown: (event) => {
        if (event.key === "Enter" && input.value.trim()) { add(input.value); input.value = ""; }
        if (event.key === "Backspace" && !input.value && state.example.items.length) change(state.example.items.slice(0, -1));
      },
      oninput: () => {
        const parts = input.value.split(",");
        if (parts.length > 1 && parts.slice(0, -1).some((part) => part.trim())) {
          add(parts.slice(0, -1).join(","));
          input.value = parts[parts.length - 1].trimStart();
        }
        const wanted = input.value.trim().toLowerCase();
        replace(hints, wanted && tokens.vocabulary.filter((item) => item.toLowerCase().includes(wanted)).slice(0, MOST_HINTS).map((item) => h("option", { value: spoken(item) })));
      } });

    const byClass = (c) => (multi ? c : 0);
    const many = tokens.table_classes > 0;
    /* The share or the mean label that was counted for a token. */
    const counted = (token, c) => Tokens.means(model, token, 0).means[byClass(c)];
    const stated = (value) => (value === undefined || Number.isNaN(value) ? "–" : many ? show.share(value) : show(value));
    const chipsOf = (items) => h("span", { class: "items" }, items.map((item) => h("span", { class: "item" }, label(item, 40))));

    function update() {
      const result = Tokens.evaluate(model, state.example);
      const unknown = new Set(result.found.unknown);
      const c = multi ? (state.explained === null ? result.chosen : state.explained) : 0;
      state.column = c;
      if (!text) {
        replace(chips, state.example.items.map((item, i) => h("button", { type: "button", class: unknown.has(item) ? "chip unknown" : "chip",
          "aria-label": `Remove ${cut(spoken(item), 60)}`, onclick: () => change(state.example.items.filter((_, j) => j !== i)) }, label(spoken(item), 40), h("span", { "aria-hidden": "true" }, " ×"))));
      }
      const rows = result.rows.filter((row) => row.token >= 0);
      if (!rows.some((row) => row.token === state.token)) state.token = rows.length ? rows[0].token : null;
      const extra = model.features.slice(1);
      const what = many ? (multi ? "share of the class" : `share of “${cut(model.classes ? model.classes[1] : "1", 16)}”`) : "mean label";
      const head = [["token"], ["seen", 1], [what, 1], [tokens.value === "log_odds" ? "log-odds" : "estimate", 1],
        ...extra.filter((f) => f.name !== "count" && f.scope === "token").map((f) => [f.name, 1]), [width === 1 ? "score" : "scores"], width === 1 && ["adds", 1]].filter(Boolean);
      replace(found,
        unknown.size > 0 && h("p", { class: "note" }, server ? "In no token of the table: " : "Not among the tokens of this page: ", [...unknown].slice(0, 20).map((item) => h("span", { class: "item unknown" }, label(spoken(item), 40)))),
        rows.length ? h("div", { class: "scroll" }, h("table", { class: "found" },
          h("thead", null, h("tr", null, head.map(([name, number]) => h("th", { scope: "col", class: number && "number" }, label(name, 24))))),
          h("tbody", null, rows.map((row) => h("tr", { class: row.token === state.token ? "current" : null },
            h("td", null, h("button", { type: "button", class: "plain", "aria-pressed": String(row.token === state.token), onclick: () => { state.token = row.token; update(); } }, chipsOf(Tokens.spell(model, row.token)))),
            h("td", { class: "number" }, show(tokens.counts[row.token])),
            h("td", { class: "number" }, stated(counted(row.token, c))),
            h("td", { class: "number" }, show.signed(row.value.refined[byClass(c)]), row.value.corrected && h("span", { class: "was", title: "before the learned correction" }, ` (${show.signed(row.value.estimate[byClass(c)])})`)),
            extra.map((f, d) => f.name !== "count" && f.scope === "token" && h("td", { class: "number" }, show(row.others[d], 3))),
            h("td", null, h("span", { class: "score" }, Charts.scores(row.scores[c]), width === 1 && h("span", { class: "number" }, show.signed(row.scores[c][0])))),
            width === 1 && h("td", { class: "number" }, show.signed(row.scores[c][0] / rows.length, 2)))))))
          : h("p", { class: "note" }, state.example.items.length ? "No known token is in it: the model says what it would say of nothing." : "Empty: the model says what it would say of nothing."));
      const choose = multi && ((chosen) => { state.explained = chosen; update(); search(); });
      Sections.announce(model, result);
      replace(panel, Sections.dock(model, result), h("h3", null, "Prediction"),
        Sections.prediction(model, result, multi ? c : result.chosen, choose),
        state.label !== null && h("p", { class: "note" }, "label of this example: ", h("strong", null, typeof state.label === "number" ? show(state.label) : label(state.label, 40))),
        multi && h("p", { class: "note" }, "Shares and scores are those of ", h("strong", null, label(model.classes[c], 40)), "; choose another class above."),
        Sections.aggregate(model, result.means[c], result.outputs[c], 0));
      const open = result.rows.find((row) => row.token === state.token);
      const values = open && [open.value.refined[byClass(c)], ...open.others];
      replace(cards, model.features.map((feature, d) => Sections.card(feature, {
        curve: (value) => model.function.calibration.map((row) => Evaluate.read(row, Evaluate.place(feature, value))),
        current: values ? values[d] : undefined,
        marks: d === 0 ? rows.map((row) => row.value.refined[byClass(c)]) : [],
        range: [0, 1], unit: "calibrated",
      })));
    }

    /* The strongest tokens that hold what is looked for. */
    const query = h("input", { id: "search", type: "search", autocomplete: "off", oninput: () => search() });
    const order = h("select", { id: "order", onchange: () => search() },
      [["telling", "most telling"], ["count", "most frequent"], ["high", "highest"], ["low", "lowest"]].map(([value, name]) => h("option", { value }, name)));
    const spelled = server ? [] : tokens.items.map((codes) => codes.map((code) => tokens.vocabulary[code]).join(" ").toLowerCase());
    let ranked = null;
    let sought = 0;

    function search(from = 0) {
      const number = ++sought;
      if (!server) return list(from, here(from));
      const wanted = { search: query.value, by: order.value, offset: from, limit: MOST_ROWS };
      if (multi) wanted.label = model.classes[state.column];
      server.search(wanted).then((found) => number === sought && list(from, found), server.failed);
    }

    /* What is found on this page, in the form that the server has. */
    function here(from) {
      const c = byClass(state.column);
      const key = `${order.value} ${c}`;
      if (!ranked || ranked.key !== key) {
        const value = tokens.items.map((_, token) => Tokens.values(model, token).refined[c]);
        const centre = tokens.value === "log_odds" ? 0 : tokens.prior[tokens.table_classes === 2 ? 1 : c];
        const by = { telling: (t) => Math.abs(value[t] - centre) * Math.sqrt(tokens.counts[t]), count: (t) => tokens.counts[t], high: (t) => value[t], low: (t) => -value[t] }[order.value];
        const keys = value.map((_, token) => by(token));
        ranked = { key, value, tokens: keys.map((_, token) => token).sort((a, b) => keys[b] - keys[a]) };
      }
      const words = query.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
      const hits = ranked.tokens.filter((token) => words.every((word) => spelled[token].includes(word)));
      return { n: hits.length, tokens: hits.slice(from, from + MOST_ROWS).map((token) => (
        { token: Tokens.spell(model, token), count: tokens.counts[token], mean: counted(token, c), value: ranked.value[token] })) };
    }

    function list(from, found) {
      const until = from + found.tokens.length;
      const turn = (name, to, possible) => h("button", { type: "button", disabled: !possible, onclick: () => search(to) }, name);
      replace(results,
        h("p", { class: "note", role: "status" }, `${found.n.toLocaleString("en")} tokens${multi ? `, for ${cut(model.classes[state.column], 40)}` : ""}`,
          found.n > MOST_ROWS && `; ${(from + 1).toLocaleString("en")} to ${until.toLocaleString("en")} are shown`),
        h("div", { class: "scroll" }, h("table", null,
          h("thead", null, h("tr", null, h("th", { scope: "col" }, "token"), ["seen", many ? "share" : "mean label", tokens.value === "log_odds" ? "log-odds" : "estimate"].map((name) => h("th", { scope: "col", class: "number" }, name)))),
          h("tbody", null, found.tokens.map((row) => h("tr", null,
            h("td", null, h("button", { type: "button", class: "plain", title: "Add to the example", onclick: () => addToken(row.token) }, chipsOf(row.token))),
            h("td", { class: "number" }, show(row.count)),
            h("td", { class: "number" }, stated(row.mean)),
            h("td", { class: "number" }, show.signed(row.value))))))),
        found.n > MOST_ROWS && h("div", { class: "toolbar" }, turn("Previous", Math.max(from - MOST_ROWS, 0), from > 0), turn("Next", until, until < found.n)));
    }

    function addToken(items) {
      change([...state.example.items, ...(tokens.own ? [items.join(Tokens.BETWEEN)] : items)]);
      if (text) area.value = state.example.items.join(" ");
    }

    const left = tokens.n_tokens - tokens.items.length;
    const partly = left > 0 && !server && h("p", { class: "warning" }, `This page holds ${tokens.items.length.toLocaleString("en")} of the model's ${tokens.n_tokens.toLocaleString("en")} tokens, the most frequent and the most telling, and all of the examples above. ` +
      "Of what you type yourself, rarer tokens are missing here, so that the model's own prediction can differ.");
    const sections = [
      Sections.section("try", "Try it", text ? "Type a text: the runs of words that the model knows are its tokens." : "Put items together: the combinations that the model knows are its tokens.",
        h("div", { class: "toolbar" }, model.examples.length > 0 && [h("label", { for: "example" }, "Start from"), picker],
          h("button", { type: "button", onclick: () => { load(-1); (text ? area : input).focus(); } }, "Empty")),
        partly,
        h("div", { class: "split" }, h("div", null,
          h("div", { class: "editor" }, h("label", { for: "items", class: "what" }, text ? "Text" : "Items"), text ? area : [chips, input, hints]),
          found), h("aside", { "aria-label": "Prediction" }, Sections.status, panel))),
      Sections.section("tokens", "What the table knows", `${tokens.n_tokens.toLocaleString("en")} tokens, counted in ${tokens.n_examples.toLocaleString("en")} examples.`,
        h("div", { class: "toolbar" }, h("label", { for: "search" }, "Search"), query, h("label", { for: "order" }, "by"), order), results),
      Sections.section("features", "What it reads in each token",
        "What is known of a token is first read through curves from 0 to 1, then mixed into its score. Behind each curve: how often its values occur. The point is the token marked above.", cards),
    ];
    load(model.examples.length ? 0 : -1);
    search();
    return sections;
  }

  return { build };
})();
