"use strict";
/* What a page can do that comes from a server: ask it for tokens, show what changed between two models. */
const Explorer = (() => {
  const MOST_SEARCHED = 200;
  const WORDS = new Map([[undefined, "not a token"], [null, "all of it"]]); // prettier-ignore
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
  const known = (items) =>
    ask("/api/known", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ items }),
    });

  /* Items of the whole table: those of the most frequent tokens that hold a text. Of one's own tokeniser a
     token is one item. */
  async function suggest(text, own) {
    const { tokens } = await search({ search: text, by: "count", limit: MOST_SEARCHED });
    const items = tokens.flatMap(({ token }) => (own ? token.join(Tokens.BETWEEN) : token));
    return [...new Set(items)];
  }

  const said = (value) => (typeof value === "number" ? show(value) : label(String(value), 40));

  function example(one) {
    const what =
      one.explained === null ? "Of the prediction" : ["Of the probability of ", label(one.explained, 40)];
    const added = one.tokens.flatMap(({ before, after }) => [before, after]);
    const numbers = show.column(added, { digits: 3, signed: true });
    const adds = (i) => WORDS.get(added[i]) || numbers[i];
    const rows = one.tokens.map(({ token }, i) => [label(token, 80), adds(2 * i), adds(2 * i + 1)]);
    return h(
      "details",
      { class: "changed" },
      h(
        "summary",
        null,
        label(one.name, 60),
        ": ",
        said(one.before),
        " → ",
        h("strong", null, said(one.after)),
        one.label !== null && [" · label ", said(one.label)],
      ),
      h("p", { class: "note" }, what, `: ${show(one.estimates[0])} before, ${show(one.estimates[1])} now`),
      table([["token"], ["added before", "number"], ["adds now", "number"]], rows),
    );
  }

  /* "before → now", or one number; the old one steps back. */
  function measure({ name, value }) {
    const [before, now] = value.split(" → ");
    const pair = [h("span", { class: "was" }, `${before} →`), " ", h("span", null, now)];
    return Sections.tile(name, now === undefined ? value : h("span", { class: "pair" }, pair));
  }

  function sections({ comparison }) {
    if (!comparison) return [];
    const { name, changed, n_changed: nChanged, n, measures, examples } = comparison;
    const lead =
      `Between ${named(name, 60)} and this model, ${show.share(changed)} of the predictions changed: ` +
      `${nChanged.toLocaleString("en")} of ${n.toLocaleString("en")}.`;
    const rest = nChanged - examples.length;
    return [
      Sections.section(
        "changes",
        "What changed",
        lead,
        h("div", { class: "tiles" }, measures.map(measure)),
        examples.map(example),
        rest > 0 && h("p", { class: "note" }, `and ${rest.toLocaleString("en")} more, which changed less`),
      ),
    ];
  }

  return { ask, failed, search, known, suggest, sections };
})();
