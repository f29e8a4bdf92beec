/* What people have changed in the model after it was trained. */

import { count, h, label } from "./elements.js";
import { section } from "./sections.js";

export function edits({ edits: made, certificate }) {
  if (!made.length) return null;
  const verified = certificate.length ? " After each of them all promises were checked again." : "";
  const lead = `After training, the model was changed by hand, by ${count(made.length, "edit")}, in this order.${verified}`;
  const steps = made.map((words) => h("li", null, label(words, 300)));
  return section("edits", "What was edited", lead, h("ol", null, steps));
}
