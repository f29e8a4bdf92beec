/* Sets of strings and texts: put items together, see which tokens the table knows, and what these say. */

import * as Cautions from "./cautions.js";
import * as Contributions from "./contributions.js";
import * as Editor from "./editor.js";
import * as Effects from "./effects.js";
import { count, cut, h, named, replace } from "./elements.js";
import * as Evaluate from "./evaluate.js";
import * as Found from "./found.js";
import * as Prediction from "./prediction.js";
import * as Search from "./search.js";
import * as Sections from "./sections.js";
import * as Tokens from "./tokens.js";
import * as Typing from "./typing.js";
import * as Way from "./way.js";

const PATIENCE = 200; /* milliseconds; most answers come sooner, and nothing flickers */
const LEADS = {
  text: "Type a text: the model scores the words, and runs of words, that it knows.",
  items: "Put items together: the model scores the items, and combinations of items, that it knows.",
  own:
    "Put tokens together: the model scores those that it knows. What makes tokens of an example is code of its " +
    "own, which this page does not have: type each token as that code makes it.",
};

/* `server` knows all tokens, where a page holds some. */
export function build(model, server) {
  const { tokens } = model;
  const text = Typing.isText(model);
  const multi = Tokens.columns(model) > 1;
  const state = {
    example: { items: [], details: {} },
    label: null,
    explained: null, // the class that people chose to look at
    column: 0, // the class that is looked at
    token: null, // the one whose values the curves show
    all: false, // whether all tokens are shown
  };
  const found = h("div");
  const panel = Prediction.panel(model);
  const effects = Effects.build(model, "What each feature of a token does");
  const editor = Editor.build(model, server, change);
  const search = Search.build(model, server, () => state.column, addToken);

  const spelled = (items) => items.map((item) => named(Typing.spoken(item), 60)).join(text ? " " : " · ");
  function option({ name, items }, i) {
    return h("option", { value: i }, cut(`${named(name, 40)}: ${spelled(items)}`, 60));
  }
  const picker = h(
    "select",
    { id: "example", onchange: () => load(Number(picker.value)) },
    model.examples.map(option),
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

  const respell = (item, meant) =>
    change(state.example.items.map((other) => (other === item ? meant : other)));

  function addToken(items) {
    change([...state.example.items, ...(tokens.own ? [items.join(Tokens.BETWEEN)] : items)]);
    editor.write(state.example.items);
  }

  let asked = 0;
  function renew() {
    const number = ++asked;
    if (!server) return update();
    const current = (act) => (value) => number === asked && act(value);
    editor.mark(state.example.items, new Set());
    const late = setTimeout(current(blank), PATIENCE, "The server is asked …");
    server
      .known(state.example.items)
      .then((more) => Tokens.learn(model, more))
      .finally(() => clearTimeout(late))
      .then(
        current(update),
        current((error) => blank(server.failed(error))),
      );
  }

  /* What is shown would be of another example: it gives way to why there is nothing. */
  function blank(why) {
    replace(found, h("p", { class: "note" }, why));
    panel.blank(why);
  }

  function explain(column) {
    state.explained = column;
    update();
    search.renew();
  }

  function choose(wanted) {
    Object.assign(state, wanted);
    update();
  }

  function update() {
    const result = Tokens.evaluate(model, state.example);
    const unknown = new Set(result.found.unknown);
    const c = !multi ? 0 : state.explained === null ? result.chosen : state.explained;
    state.column = c;
    const explained = Contributions.explain(model, result, c, Tokens.asUsual(model, result));
    const rows = result.n ? Found.ranked(result.rows, explained) : [];
    if (!rows.some((row) => row.token === state.token)) state.token = rows.length ? rows[0].token : null;
    editor.mark(state.example.items, unknown);
    const left = Tokens.without(model, state.example, result);
    const without = left && result.rows.map(({ at }) => Evaluate.followed(model, left(at), c));
    const valued = result.rows.map((row) => [own(row), ...row.others]);
    replace(
      found,
      Found.unknown(unknown, !!server || tokens.items.length >= tokens.n_tokens),
      server && !text && unknown.size > 0 && server.meant(unknown, respell),
      Found.list(model, rows, explained, state, { choose, without, values: valued[0] }),
      Way.columnsNote(
        model,
        explained,
        c,
        without,
        Found.listed(rows, state).map(({ at }) => at),
      ),
    );
    panel.update(result, explained, {
      column: c,
      label: state.label,
      what: "What was counted, scores, and what is added",
      choose: multi && explain,
      cautions: Cautions.cautions(model, valued, result.n),
    });
    const at = Math.max(
      result.rows.findIndex((row) => row.token === state.token),
      0,
    );
    effects.draw({
      c,
      base: explained.base,
      current: (d) => (result.n || model.features[d].scope === "set" ? valued[at][d] : undefined),
      marks: (d) => (d === 0 && result.n ? valued.map(([value]) => value) : []),
      moved: (d, value) => Tokens.moved(model, result, at, c, d, value),
    });
  }

  const own = ({ value }) => (value ? value.refined[state.column] : null);

  const others = server?.rows(model, picker, option, load, () => asked);
  const start = (others || model.examples.length > 0) && [
    h("label", { for: "example" }, "Start from"),
    picker,
    others || Sections.chosen(model),
  ];
  const clear = () => {
    load(-1);
    editor.focus();
  };
  const empty = h("button", { type: "button", onclick: clear }, "Empty");
  const sections = [
    Sections.section(
      "try",
      "Try it",
      LEADS[tokens.own ? "own" : text ? "text" : "items"],
      h("div", { class: "toolbar" }, start, empty),
      server ? null : partly(tokens),
      h("div", { class: "split" }, h("div", null, editor.element, found), panel.element),
    ),
    search.section,
    effects.section,
  ];
  load(model.examples.length ? 0 : -1);
  search.renew();
  return sections;
}

function partly({ n_tokens: all, items }) {
  if (all <= items.length) return null;
  return h(
    "p",
    { class: "warning" },
    `This page holds ${items.length.toLocaleString("en")} of the model's ${count(all, "token")}: the most `,
    "frequent, the most telling, and all of the examples here. Of what you type yourself, rarer tokens ",
    "are missing, so that the model's own prediction can differ.",
  );
}
