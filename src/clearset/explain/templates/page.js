"use strict";
/* The page, from the document that stands in it. */
(() => {
  const model = JSON.parse(document.getElementById("document").textContent);
  const { classes, semantic, tokens } = model;
  const { width } = model.function;

  function lead() {
    const which = classes && classes.length === 2 ? "two" : classes && classes.length;
    const what = classes
      ? `tells which of ${which} classes a set belongs to`
      : "predicts a number from a set";
    const parts = semantic
      ? "items, and the combinations of items that its table knows, are its tokens"
      : null;
    const whole = !semantic || tokens.items.length === tokens.n_tokens;
    const scored =
      width > 1 ? `${width} scores; their averages become` : "a score; the average of the scores becomes";
    return [
      `This model ${what}${parts ? `: its ${parts}` : " of tokens"}. Every token gets ${scored} the prediction. `,
      `Nothing else happens${whole ? ", and all of it is on this page" : ""}.`,
    ].join("");
  }

  const holds = model.certificate.every((check) => check.holds);
  const facts = [
    count(model.features.length, "feature"),
    width > 1 && `${width} scores per token`,
    semantic && count(tokens.n_tokens, "token"),
    `trained for ${model.loss.replaceAll("_", " ")}`,
    model.certificate.length > 0 && (holds ? "✓ all promises hold" : "✗ a promise fails"),
  ];
  const sections = [
    ...(semantic ? Items : Sets).build(model),
    ...(model.served ? Explorer.sections(model) : []),
    Sections.promises(model),
    Sections.quality(model),
    Sections.training(model),
  ].filter(Boolean);
  const links = sections.map((part) => h("a", { href: `#${part.id}` }, part.querySelector("h2").textContent));
  replace(
    document.getElementById("head"),
    h("h1", null, model.estimator),
    h("p", { class: "lead" }, lead()),
    h(
      "ul",
      { class: "facts" },
      facts.filter(Boolean).map((fact) => h("li", null, fact)),
    ),
    h("nav", { "aria-label": "Sections" }, links),
  );
  replace(document.getElementById("main"), sections);
  const origin = model.served
    ? "The server knows the whole model; its JSON interface is described in /openapi.json."
    : "The page is complete: it needs no network, and sends nothing anywhere.";
  replace(document.getElementById("foot"), h("p", null, "Made by clearset. ", origin));
})();
