/* What is to be known of the model before it is used, as Python has put it together. */

import { h, label } from "./elements.js";
import { section } from "./sections.js";

export function card({ card: sections }) {
  if (!sections) return null;
  const tables = Object.entries(sections).map(([heading, rows]) =>
    h(
      "div",
      { class: "card" },
      h("h3", null, heading),
      h(
        "dl",
        null,
        rows.flatMap(([name, text]) => [h("dt", null, label(name, 300)), h("dd", null, label(text, 2000))]),
      ),
    ),
  );
  const lead =
    "The data that it was fitted on, by their hash, what it promises, how it was trained, and what nobody has shown. " +
    "It holds no values of the data.";
  return section("card", "Model card", lead, h("div", { class: "cards-of-model" }, tables));
}
