"use strict";
/* The page, from the document that stands in it. */
(() => {
  const model = JSON.parse(document.getElementById("document").textContent);
  const what = !model.classes ? "a number" : model.classes.length === 2 ? "which of two classes it is" : `which of ${model.classes.length} classes it is`;
  const parts = model.semantic ? "tokens, combinations of its items that a table knows" : "tokens";
  const whole = !model.semantic || model.tokens.items.length === model.tokens.n_tokens;
  const lead = `This model ${model.classes ? "tells" : "predicts"} ${what}, from a set of ${parts}. Every token gets ${model.function.width > 1 ? `${model.function.width} scores` : "a score"}; ` +
    `${model.function.width > 1 ? "their averages are" : "the average is"} turned into the prediction. Nothing else happens${whole ? ", and all of it is on this page" : ""}.`;
  const holds = model.certificate.every((check) => check.holds);
  const facts = [
    `${model.features.length} ${model.features.length === 1 ? "feature" : "features"}`,
    `width ${model.function.width}`,
    model.semantic && `${model.tokens.n_tokens.toLocaleString("en")} tokens`,
    model.loss.replaceAll("_", " "),
    model.certificate.length > 0 && (holds ? "✓ all promises hold" : "✗ a promise fails"),
  ];
  const sections = [...(model.semantic ? Items : Sets).build(model), ...(model.served ? Explorer.sections(model) : []), Sections.promises(model), Sections.quality(model), Sections.training(model)].filter(Boolean);
  const links = sections.map((part) => h("a", { href: `#${part.id}` }, part.querySelector("h2").textContent));
  replace(document.getElementById("head"),
    h("h1", null, model.estimator), h("p", { class: "lead" }, lead),
    h("ul", { class: "facts" }, facts.filter(Boolean).map((fact) => h("li", null, fact))),
    h("nav", { "aria-label": "Sections" }, links));
  replace(document.getElementById("main"), sections);
  replace(document.getElementById("foot"), h("p", null, "Made by clearset. ", model.served ? "The server knows the whole model; its JSON interface is described in /openapi.json." : "The page is complete: it needs no network, and sends nothing anywhere."));
})();
