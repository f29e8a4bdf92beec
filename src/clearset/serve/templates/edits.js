/* A panel to try edits on the served model: the server makes them on a copy, and says what they change. */

import { count, h, label, named, replace, show, table } from "../../display/templates/elements.js";
import * as Sections from "../../display/templates/sections.js";

const KINDS = {
  cap: "cap a feature",
  flatten: "flatten a feature",
  forbid: "forbid a feature",
  drop_token: "drop a token",
  pin_token: "pin a token",
};
const ofToken = (kind) => kind.endsWith("_token");
const items = (text) =>
  text
    .split(";")
    .map((item) => item.trim())
    .filter(Boolean);
const said = (value) => (typeof value === "number" ? show(value) : label(String(value), 40));

/* The inputs of an edit; `read()` gives it as the server takes it. */
function form(model, classes) {
  const number = (id) => h("input", { id, type: "number", step: "any" });
  const [low, high, value] = ["edit-low", "edit-high", "edit-value"].map(number);
  const token = h("input", { id: "edit-token", type: "text", placeholder: "salt; lime" });
  const options = (names) =>
    names.map((name, place) => h("option", { value: place }, named(String(name), 60)));
  const feature = h("select", { id: "edit-feature" }, options(model.features.map(({ name }) => name)));
  const share = h("select", { id: "edit-class" }, classes && options(classes));
  const kinds = Object.entries(KINDS).filter(([name]) => model.semantic || !ofToken(name));
  const kind = h(
    "select",
    { id: "edit-kind", "aria-label": "kind of edit", onchange: () => shown() },
    kinds.map(([name, words]) => h("option", { value: name }, words)),
  );
  const field = (input, text) => h("label", { for: input.id }, `${text} `, input);
  const fields = {
    feature: field(feature, "called"),
    token: field(token, "items, with ; between them"),
    low: field(low, "from"),
    high: field(high, "to"),
    value: field(value, classes ? "share" : "mean label"),
    share: field(share, "of"),
  };
  function shown() {
    const pinned = kind.value === "pin_token";
    const ranged = kind.value === "cap" || kind.value === "flatten";
    const visible = {
      feature: !ofToken(kind.value),
      token: ofToken(kind.value),
      low: ranged,
      high: ranged,
      value: pinned,
      share: pinned && classes !== null,
    };
    for (const [name, element] of Object.entries(fields)) element.hidden = !visible[name];
  }
  const given = (input) => (input.value === "" ? null : Number(input.value));
  function read() {
    const edit = { kind: kind.value };
    if (ofToken(edit.kind)) edit.token = items(token.value);
    else edit.feature = model.features[Number(feature.value)].name;
    if (edit.kind === "pin_token") {
      edit.value = given(value);
      if (classes) edit.label = classes[Number(share.value)];
    } else if (!fields.low.hidden) Object.assign(edit, { low: given(low), high: given(high) });
    return edit;
  }
  shown();
  return { read, inputs: [kind, ...Object.values(fields)] };
}

function changes({ comparison, checks, holds }, open) {
  const verified = checks
    ? `${count(checks, "check")} of the certificate ${holds ? "hold" : "do not hold"}.`
    : "";
  if (!comparison) return h("p", { class: "note" }, verified);
  const { n, n_changed: changed, metric, scores, examples } = comparison;
  const row = (one) => [
    h("button", { type: "button", class: "plain", onclick: () => open(one.row) }, label(one.name, 60)),
    said(one.before),
    said(one.after),
  ];
  return [
    h(
      "p",
      { class: "note" },
      `${changed.toLocaleString("en")} of ${count(n, "prediction")} change. ${verified}`,
    ),
    scores && h("p", { class: "note" }, `${metric}: ${show(scores[0])} before, ${show(scores[1])} after`),
    examples.length > 0 && table([["example"], ["before"], ["after"]], examples.map(row)),
  ];
}

/* `ask(path, body)` asks the server, `failed(error)` shows what it refused, `open(row)` shows an example. */
export function panel(model, { ask, failed, open }) {
  const made = [];
  const results = h("div", { role: "status" });
  const { read, inputs } = form(model, model.editing.classes);
  const attempt = async (edits, save = false) => {
    try {
      const answer = await ask("/api/edit", { edits, save });
      made.splice(0, made.length, ...edits);
      draw(answer, save);
    } catch (error) {
      failed(error);
    }
  };
  const button = (name, onclick) => h("button", { type: "button", onclick }, name);
  function draw(answer, saved) {
    const old = answer.edits.length - made.length;
    replace(
      results,
      h(
        "ol",
        null,
        answer.edits.slice(old).map((words) => h("li", null, label(words, 300))),
      ),
      made.length > 0 && changes(answer, open),
      made.length > 0 &&
        h(
          "div",
          { class: "toolbar" },
          button("Undo", () => attempt(made.slice(0, -1))),
          model.editing.saves && button("Save", () => attempt([...made], true)),
          saved && "Saved.",
        ),
    );
  }
  return Sections.section(
    "editing",
    "Try edits",
    "The server makes them on a copy of the model and verifies it; this page, and the model served, stay as they are.",
    h(
      "div",
      { class: "toolbar" },
      inputs,
      button("Try", () => attempt([...made, read()])),
    ),
    results,
  );
}
