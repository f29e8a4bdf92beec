/* A box to type into, suggestions under it: arrows move, Enter or a click takes one, Escape closes. */

import { h, label, replace } from "./elements.js";

export function combobox({ id, placeholder, suggest, enter, erase }) {
  const MOST = 100;
  let options = [];
  let active = -1;
  let asked = 0;
  const list = h("ul", { id: `${id}-list`, role: "listbox", "aria-label": "Suggestions", hidden: true });
  const input = h("input", {
    id,
    type: "text",
    placeholder,
    role: "combobox",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-autocomplete": "list",
    "aria-controls": list.id,
    "aria-expanded": "false",
    oninput: ask,
    onblur: close,
    onkeydown: press,
  });

  function draw() {
    const open = options.length > 0;
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    if (active >= 0) input.setAttribute("aria-activedescendant", `${id}-${active}`);
    else input.removeAttribute("aria-activedescendant");
    replace(
      list,
      options.map((option, i) =>
        h(
          "li",
          {
            id: `${id}-${i}`,
            role: "option",
            "aria-selected": String(i === active),
            onclick: () => take(option),
          },
          label(option.shown, 80),
        ),
      ),
    );
    if (active >= 0) list.children[active].scrollIntoView({ block: "nearest" });
  }

  function close() {
    asked++;
    options = [];
    active = -1;
    draw();
  }

  /* Suggestions come at once or later; those for what is no longer typed are dropped. */
  function ask() {
    const number = ++asked;
    const typed = input.value;
    if (!typed.trim()) return close();
    Promise.resolve(suggest(typed)).then((found) => {
      if (number !== asked) return;
      options = found.slice(0, MOST);
      active = -1;
      draw();
    });
  }

  function take(option) {
    const typed = input.value;
    input.value = "";
    close();
    enter(typed, option);
  }

  function press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length) {
      active =
        active < 0 && step < 0 ? options.length - 1 : (active + step + options.length) % options.length;
      draw();
    } else if (event.key === "Escape" && options.length) close();
    else if (event.key === "Enter") input.value.trim() && take(options[active]);
    else {
      if (event.key === "Backspace" && !input.value) erase();
      return;
    }
    event.preventDefault();
  }

  /* A press on the list would take the focus, and with it the list, away before the click. */
  list.addEventListener("mousedown", (event) => event.preventDefault());
  return {
    element: h("div", { class: "combobox" }, input, list),
    input,
    submit: () => input.value.trim() && take(),
  };
}
