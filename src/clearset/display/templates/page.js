/* The page, from the document that stands in it. */

import { card } from "./card.js";
import { edits } from "./edits.js";
import { count, h, label, replace } from "./elements.js";
import * as Found from "./found.js";
import * as Items from "./items.js";
import * as Rows from "./rows.js";
import * as Sections from "./sections.js";
import * as Sets from "./sets.js";
import * as Typing from "./typing.js";

/* What the model reads, and what its tokens are. */
function read(model) {
  const { semantic, tokens } = model;
  if (!semantic) return ["a set", "the things in the set, each with its features"];
  if (Typing.isText(model)) return ["a text", "the words, and runs of words, that it has met before"];
  if (tokens.own)
    return ["an example", "what a tokenizer of its own makes of the example, as far as it has met it before"];
  const { kind, members } = tokens.tokeniser;
  if (kind === "union") {
    const kinds = members.map((member) => member.kind).join(", ");
    return ["a set of items", `of the kinds ${kinds}, as far as it has met them before`];
  }
  if (kind === "words") return ["a set of items", "the words of the items that it has met before"];
  const alone = kind === "items";
  return ["a set of items", `the items${alone ? "" : ", and combinations of items,"} that it has met before`];
}

function lead(model) {
  const { classes, semantic, tokens, parts: engines } = model;
  const { width } = model.function;
  const [what, its] = engines ? ["a row"] : read(model);
  const which = classes && (classes.length === 2 ? "two" : classes.length);
  const task = classes
    ? `tells which of ${which} classes ${what} belongs to`
    : `predicts a number from ${what}`;
  const scores = width > 1 ? `${width} scores` : "a score";
  if (engines)
    return (
      `This model ${task}. Of each column of items or texts, an engine estimates the label by the tokens that it ` +
      "finds there. What the engines estimate, and the plain columns, are the features of the row; their score " +
      "becomes the prediction. Each engine has a page of its own, which the buttons open."
    );
  const whole = !semantic || (!tokens.own && tokens.items.length === tokens.n_tokens);
  return (
    `This model ${task}. Its tokens are ${its}. Each token gets ${scores}, the scores are averaged, and ` +
    `the ${width > 1 ? "averages become" : "average becomes"} the prediction. ` +
    `Nothing else happens${whole ? ", and all of it is on this page" : ""}.`
  );
}

function facts({ title, estimator, features, function: { width }, semantic, tokens, loss, certificate }) {
  const holds = certificate.every((check) => check.holds);
  return [
    title !== estimator && estimator,
    count(features.length, "feature"),
    width > 1 && `${width} scores per token`,
    semantic && count(tokens.n_tokens, "token"),
    `trained for ${loss.replaceAll("_", " ")}`,
    certificate.length > 0 && (holds ? "✓ all promises hold" : "✗ a promise fails"),
  ].filter(Boolean);
}

/* A model of several columns has engines, whose pages this one opens in its place: one of them is shown at a time. */
function parts(whole, shown, open) {
  if (!whole.parts) return null;
  const pages = [["The whole", whole], ...Object.entries(whole.parts)];
  const button = ([name, part]) =>
    h(
      "button",
      { type: "button", "aria-pressed": String(part === shown), onclick: () => open(part) },
      part === whole ? name : ["Column ", label(name, 40)],
    );
  return h(
    "div",
    { class: "toolbar parts", role: "group", "aria-label": "Parts of the model" },
    pages.map(button),
  );
}

/* Build the page; `server` is what knows more than the document, where there is one. */
export function start(server = null) {
  const whole = JSON.parse(document.getElementById("document").textContent);
  show(whole, whole, server);
}

function show(whole, model, server) {
  const open = (part) => {
    show(whole, part, part === whole ? server : null);
    document.querySelector(".parts [aria-pressed=true]").focus();
  };
  const sections = [
    ...(model.semantic ? Items.build : Sets.build)(model, server),
    Rows.build(model),
    Sections.importance(model, (items, column) =>
      column === undefined ? Found.chip(model, items) : Rows.chip(column, items),
    ),
    ...(server ? server.sections(model) : []),
    edits(model),
    Sections.promises(model),
    Sections.quality(model),
    Sections.training(model),
    card(model),
  ].filter(Boolean);
  const links = sections.map((part) => h("a", { href: `#${part.id}` }, part.querySelector("h2").textContent));
  replace(
    document.getElementById("head"),
    h("h1", null, label(model.title, 200)),
    h("p", { class: "lead" }, lead(model)),
    h(
      "ul",
      { class: "facts" },
      facts(model).map((fact) => h("li", null, fact)),
    ),
    parts(whole, model, open),
    h("nav", { "aria-label": "Sections" }, links),
  );
  replace(document.getElementById("main"), sections);
  const origin = server
    ? "The server knows the whole model; its JSON interface is described in /openapi.json."
    : "The page is complete: it needs no network, and sends nothing anywhere.";
  replace(document.getElementById("foot"), h("p", null, "Made by clearset. ", origin));
}
