/* What people have changed in the model after it was trained. */

import { count, h, label } from "./elements.js";
import { section } from "./sections.js";

export function edits({ edits: made, certificate }) {
  if (!made.length) return null;
  const promises = certificate.length
    ? " What is promised below is promised of the model with these edits."
    : "";
  const lead = `After training, people changed the model by ${count(made.length, "edit")}, in this order.${promises}`;
  const steps = made.map((words) => h("li", null, label(words, 300)));
  return section("edits", "What was edited", lead, h("ol", null, steps));
}
