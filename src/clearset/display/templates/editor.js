/* The items of an example, as people put them together: a text, or chips and a box to type more. */

import { combobox } from "./combobox.js";
import { cut, h, label, named, replace } from "./elements.js";
import * as Tokens from "./tokens.js";
import * as Typing from "./typing.js";

const KINDS = {
  text: { name: "Text" },
  words: { name: "Words", hint: "Type a word, then Enter" },
  items: { name: "Items", hint: "Type an item, then Enter; commas between several" },
  own: { name: "Tokens", hint: "Type a token as the tokenizer makes it" },
};

/* `changed(items)` hears of what people do; `server` knows items that the page lacks. Given are `write`
   for items that come from elsewhere, and `mark` for those that are in no token. */
export function build(model, server, changed) {
  const { own, in_order: inOrder } = model.tokens;
  const kind = own ? "own" : Typing.isText(model) ? "text" : inOrder ? "words" : "items";
  const body = kind === "text" ? ofText(model, changed) : ofItems(model, server, changed, hint(model, kind));
  const name = h("label", { for: "items", class: "what" }, KINDS[kind].name);
  return { ...body, element: h("div", { class: "editor" }, name, body.element) };
}

function hint({ tokens }, kind) {
  const { left, right } = tokens.tokeniser;
  if (tokens.tokeniser.kind !== "cross") return KINDS[kind].hint;
  const names = [typeof left === "string" ? left : "left", typeof right === "string" ? right : "right"];
  return names.map((name) => `${cut(name, 20)}=…`).join(", ");
}

function ofText(model, changed) {
  const area = h("textarea", {
    id: "items",
    rows: 4,
    oninput: () => changed(Typing.split(model, area.value)),
  });
  const write = (items) => (area.value = items.join(" "));
  return { element: area, focus: () => area.focus(), write, mark: () => {} };
}

function ofItems(model, server, changed, placeholder) {
  let items = [];
  let place = 0; /* another number for another example, which what was typed before is not meant for */
  const chips = h("div", { class: "chips" });
  const add = (more) => changed([...items, ...more]);
  const ordered = model.tokens.in_order;
  const box = combobox({ id: "items", placeholder, suggest, enter, erase });

  /* Of all that is typed, or else of what follows the last comma. */
  async function suggest(typed) {
    const start = Math.max(...[...(ordered ? " " : ",;")].map((mark) => typed.lastIndexOf(mark))) + 1;
    for (const from of start ? [0, start] : [0]) {
      const text = typed.slice(from).trim();
      const found = text ? await matches(text) : [];
      if (found.length) return found.map((item) => ({ item, from, shown: Typing.spoken(item) }));
    }
    return [];
  }

  const matches = (text) =>
    server
      ? server.suggest(Typing.unspoken(model, text)).catch(() => [])
      : Typing.matching(model.tokens.vocabulary, text);

  /* A suggestion is one item; so is what the table knows as one. Only the server knows the whole table. */
  function enter(typed, option) {
    const before = option ? typed.slice(0, option.from) : typed;
    const finish = () => add([...Typing.split(model, before), ...(option ? [option.item] : [])]);
    if (!server || ordered || !/[,;]/.test(before)) return finish();
    const meant = place;
    server.known(Typing.candidates(model, before)).then(
      (more) => {
        Tokens.learn(model, more);
        if (meant === place) finish();
      },
      (error) => {
        server.failed(error);
        if (!box.input.value) box.input.value = typed;
      },
    );
  }

  function erase() {
    if (items.length) changed(items.slice(0, -1));
  }

  /* A box of one line would drop the ends of lines, and glue items together. */
  box.input.addEventListener("paste", (event) => {
    const pasted = event.clipboardData.getData("text");
    if (!/\n/.test(pasted.trim())) return;
    event.preventDefault();
    enter(
      pasted
        .trim()
        .split(/\s*\n\s*/)
        .join(ordered ? " " : ", "),
    );
  });

  function chip(item, i, unknown) {
    const remove = () => {
      changed(items.filter((_, j) => j !== i));
      (chips.children[Math.min(i, chips.children.length - 1)] || box.input).focus();
    };
    const title = unknown ? "The table knows no token with it" : null;
    return h(
      "button",
      {
        type: "button",
        class: unknown ? "chip unknown" : "chip",
        title,
        "aria-label": `Remove ${named(Typing.spoken(item), 60)}`,
        onclick: remove,
      },
      label(Typing.spoken(item), 40),
      h("span", { "aria-hidden": "true" }, " ×"),
    );
  }

  function mark(now, unknown) {
    items = now;
    replace(
      chips,
      items.map((item, i) => chip(item, i, unknown.has(item))),
    );
  }

  const submit = () => {
    box.submit();
    box.input.focus();
  };
  const button = h("button", { type: "button", onclick: submit }, "Add");
  const element = [chips, h("div", { class: "typed" }, box.element, button)];
  return { element, focus: () => box.input.focus(), write: () => place++, mark };
}
