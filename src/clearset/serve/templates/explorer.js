"use strict";
/* What a page can do that comes from a server: ask it for tokens, and show what changed between two models. */
const Explorer = (() => {
  const warning = h("p", { class: "warning", role: "alert", id: "trouble" });

  function failed(error) {
    warning.textContent = `The server did not answer: ${cut(error.message, 300)}`;
    if (!warning.isConnected) document.getElementById("main").prepend(warning);
  }

  async function ask(path, options) {
    const response = await fetch(path, options);
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    warning.remove();
    return answer;
  }

  const search = (wanted) => ask(`/api/tokens?${new URLSearchParams(wanted)}`);
  const known = (items) => ask("/api/known", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ items }) });

  const said = (value) => (typeof value === "number" ? show(value) : label(String(value), 40));
  const adds = (value) => (value === undefined ? "not a token" : value === null ? "all of it" : show.signed(value));

  function example(model, one) {
    const columns = ["token", "added before", "adds now"];
    return h("details", { class: "changed" },
      h("summary", null, label(one.name, 60), ": ", said(one.before), " → ", h("strong", null, said(one.after)),
        one.label !== null && [" · label ", said(one.label)]),
      h("p", { class: "note" }, one.explained === null ? "Of the prediction" : ["Of the probability of ", label(one.explained, 40)],
        `: ${show(one.estimates[0])} before, ${show(one.estimates[1])} now`),
      h("div", { class: "scroll" }, h("table", null,
        h("thead", null, h("tr", null, columns.map((name, i) => h("th", { scope: "col", class: i ? "number" : null }, name)))),
        h("tbody", null, one.tokens.map((token) => h("tr", null, h("td", null, label(token.token, 80)),
          h("td", { class: "number" }, adds(token.before)), h("td", { class: "number" }, adds(token.after))))))));
  }

  function sections(model) {
    const found = model.comparison;
    if (!found) return [];
    const lead = `Between ${cut(found.name, 60)} and this model, ${show.share(found.changed)} of the predictions changed: ${found.n_changed.toLocaleString("en")} of ${found.n.toLocaleString("en")}.`;
    const tiles = found.measures.map(({ name, value }) => h("div", { class: "tile" }, h("span", { class: "what" }, name), h("span", { class: "figure" }, value)));
    const rest = found.n_changed - found.examples.length;
    return [Sections.section("changes", "What changed", lead, h("div", { class: "tiles" }, tiles),
      found.examples.map((one) => example(model, one)),
      rest > 0 && h("p", { class: "note" }, `and ${rest.toLocaleString("en")} more, which changed less`))];
  }

  return { ask, failed, search, known, sections };
})();
