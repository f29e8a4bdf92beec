"use strict";
/* Tokens as rows of a table: what each is made of, what was counted of it, what the model makes of it. */
const Found = (() => {
  const byClass = (model, c) => (Tokens.columns(model) > 1 ? c : 0);
  const valueName = ({ tokens }) => (tokens.value === "log_odds" ? "log-odds" : "estimate");

  /* What the column of shares or mean labels is called. */
  function countedName({ tokens, classes }, column) {
    if (!tokens.table_classes) return "mean label";
    return classes ? `share of “${named(classes[classes.length > 2 ? column : 1], 14)}”` : "share";
  }

  /* The share or the mean label that was counted for a token, before anything is learned. */
  const counted = (model, token, c) => Tokens.means(model, token, 0).means[byClass(model, c)];

  function stated({ tokens }, value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    return tokens.table_classes ? show.share(value) : show(value);
  }

  const chips = (items) =>
    h(
      "span",
      { class: "items" },
      items.map((item) => h("span", { class: "item" }, label(item, 40))),
    );

  function estimate(value, c) {
    if (!value.corrected) return show.signed(value.refined[c]);
    const before = h(
      "span",
      { class: "was", title: "before the learned correction" },
      show.signed(value.estimate[c]),
    );
    return [before, " ", show.signed(value.refined[c])];
  }

  /* The tokens of an example; `state` says which class and which token is looked at, `choose` hears of another. */
  function list(model, rows, { column, token: current }, choose) {
    const width = model.function.width;
    const c = byClass(model, column);
    const extra = model.features
      .slice(1)
      .map((feature, d) => [feature, d])
      .filter(([feature]) => feature.name !== "count" && feature.scope === "token");
    const columns = [
      ["token"],
      ["seen", "number"],
      [countedName(model, column), "number"],
      [valueName(model), "number"],
      ...extra.map(([feature]) => [feature.name, "number"]),
      [width === 1 ? "score" : "scores", "scored"],
      ...(width === 1 ? [["adds", "number"]] : []),
    ];
    const body = rows.map(({ token, value, others, scores }) => {
      const pressed = String(token === current);
      const own = scores[column];
      return {
        class: token === current ? "current" : null,
        cells: [
          h(
            "button",
            { type: "button", class: "plain", "aria-pressed": pressed, onclick: () => choose(token) },
            chips(Tokens.spell(model, token)),
          ),
          show(model.tokens.counts[token]),
          stated(model, counted(model, token, column)),
          estimate(value, c),
          ...extra.map(([, d]) => show(others[d], 3)),
          h(
            "span",
            { class: "score" },
            Charts.scores(own),
            width === 1 && h("span", { class: "number" }, show.signed(own[0])),
          ),
          ...(width === 1 ? [show.signed(own[0] / rows.length, 2)] : []),
        ],
      };
    });
    return table(columns, body, "found");
  }

  function unknown(items, served) {
    if (!items.size) return null;
    const shown = [...items].slice(0, 20);
    return h(
      "p",
      { class: "note" },
      served ? "In no token of the table: " : "Not among the tokens of this page: ",
      shown.map((item) => h("span", { class: "item unknown" }, label(Typing.spoken(item), 40))),
      items.size > shown.length && ` and ${(items.size - shown.length).toLocaleString("en")} more`,
    );
  }

  return { byClass, valueName, countedName, counted, stated, chips, list, unknown };
})();
