/* Search of the token table: on the page, or by the server, which knows all of it. */

import { count, h, replace, show, table } from "./elements.js";
import * as Found from "./found.js";
import * as Sections from "./sections.js";
import * as Tokens from "./tokens.js";
import * as Typing from "./typing.js";

const MOST_ROWS = 20;
const ORDERS = { telling: "most telling", count: "most frequent", high: "highest", low: "lowest" };

/* `column()` says which class is looked at, `add(items)` hears of a token that is wanted. */
export function build(model, server, column, add) {
  const { tokens } = model;
  const multi = Tokens.columns(model) > 1;
  const results = h("div");
  const query = h("input", { id: "search", type: "search", autocomplete: "off", oninput: () => search() });
  const order = h(
    "select",
    { id: "order", onchange: () => search() },
    Object.entries(ORDERS).map(([value, name]) => h("option", { value }, name)),
  );
  const here = server ? null : inPage(model);
  let asked = 0;

  function search(from = 0) {
    const number = ++asked;
    const wanted = { search: query.value, by: order.value, offset: from, limit: MOST_ROWS };
    if (!server) return list(from, here(wanted, column()));
    if (multi) wanted.label = model.classes[column()];
    server.search(wanted).then(
      (found) => number === asked && list(from, found),
      (error) => {
        const why = server.failed(error);
        if (number === asked) replace(results, h("p", { class: "note" }, why));
      },
    );
  }

  function list(from, found) {
    const until = from + found.tokens.length;
    const many = found.n > MOST_ROWS;
    const turn = (name, to, possible) =>
      h("button", { type: "button", disabled: !possible, onclick: () => search(to) }, name);
    const columns = [
      ["token"],
      ["seen", "number"],
      [Found.countedName(model, column()), "number"],
      [Found.valueName(model), "number"],
    ];
    const shares = Found.stated(
      model,
      found.tokens.map(({ mean }) => mean),
    );
    const values = Found.values(
      model,
      found.tokens.map(({ value }) => value),
    );
    const rows = found.tokens.map((row, i) => [
      h(
        "button",
        { type: "button", class: "plain", title: "Add to the example", onclick: () => add(row.token) },
        Found.chip(model, row.token),
      ),
      show(row.count),
      shares[i],
      values[i],
    ]);
    replace(
      results,
      h(
        "p",
        { class: "note", role: "status" },
        count(found.n, "token"),
        many && `; ${(from + 1).toLocaleString("en")} to ${until.toLocaleString("en")} are shown`,
        rows.length > 0 && ". Choose one to add it to the example above.",
      ),
      rows.length > 0 && table(columns, rows),
      many &&
        h(
          "div",
          { class: "toolbar" },
          turn("Previous", Math.max(from - MOST_ROWS, 0), from > 0),
          turn("Next", until, until < found.n),
        ),
    );
  }

  const examples = count(tokens.n_examples, "example");
  const section = Sections.section(
    "tokens",
    "What the table knows",
    `${count(tokens.n_tokens, "token")}, counted in ${examples}. “Seen” is in how many of them.`,
    h(
      "div",
      { class: "toolbar" },
      h("label", { for: "search" }, "Search"),
      query,
      h("label", { for: "order" }, "by"),
      order,
    ),
    results,
  );
  return { section, renew: () => search() };
}

/* The search among the tokens of the page, asked and answered as the server is. */
function inPage(model) {
  const { tokens } = model;
  const spelled = tokens.items.map((codes) =>
    Typing.lower(codes.map((code) => tokens.vocabulary[code]).join(" ")),
  );
  let ranked = null;

  function rank(by, column) {
    const value = tokens.items.map((_, token) => Tokens.values(model, token).refined[column]);
    const centre = tokens.value === "log_odds" ? 0 : tokens.prior[tokens.table_classes === 2 ? 1 : column];
    const keys = value.map((own, token) => {
      if (by === "count") return tokens.counts[token];
      if (by === "telling") return Math.abs(own - centre) * Math.sqrt(tokens.counts[token]);
      return by === "high" ? own : -own;
    });
    const order = keys.map((_, token) => token).sort((a, b) => keys[b] - keys[a]);
    return { key: `${by} ${column}`, value, order };
  }

  return ({ search, by, offset, limit }, column) => {
    if (!ranked || ranked.key !== `${by} ${column}`) ranked = rank(by, column);
    const words = Typing.lower(search)
      .split(/[\s,]+/)
      .filter(Boolean);
    const hits = ranked.order.filter((token) => words.every((word) => spelled[token].includes(word)));
    const described = (token) => ({
      token: Tokens.spell(model, token),
      count: tokens.counts[token],
      mean: Found.counted(model, token, column),
      value: ranked.value[token],
    });
    return { n: hits.length, tokens: hits.slice(offset, offset + limit).map(described) };
  };
}
