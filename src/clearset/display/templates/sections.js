/* The sections that all models have: importance, promises, quality, training. */

import * as Charts from "./charts.js";
import { count, h, label, named, show, table } from "./elements.js";
import * as Features from "./features.js";

export const section = (id, heading, lead, ...content) =>
  h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, heading),
    lead && h("p", { class: "lead" }, lead),
    ...content,
  );

const figure = (heading, chart, note) =>
  h("figure", { class: "card" }, h("figcaption", null, heading), chart, h("p", { class: "note" }, note));

/* A number with its name over it, and what it is to be compared with under it. */
export const tile = (name, value, note) =>
  h(
    "div",
    { class: "tile" },
    h("span", { class: "what" }, name),
    h("span", { class: "figure" }, value),
    note && h("span", { class: "note" }, note),
  );

/* Bars of contributions, the largest first; to the left of the middle where some lower the prediction. */
export function contributions(heading, rows) {
  const most = Charts.largest(rows.map(({ contribution }) => contribution));
  const lowers = rows.some(({ contribution }) => contribution < 0);
  const shown = show.column(
    rows.map(({ contribution }) => contribution),
    { digits: 3, signed: lowers },
  );
  const row = ({ name, contribution }, i) =>
    h(
      "div",
      { class: "category weighed" },
      name,
      lowers ? Charts.scores([contribution], most) : Charts.bar(most > 0 ? contribution / most : 0),
      h("span", { class: "number", "data-value": contribution }, shown[i]),
    );
  return h("figure", { class: "card" }, h("figcaption", null, heading), rows.map(row));
}

/* What matters overall, where the document tells; `chip` makes an element of a token's items, and of the column
   that it is from, where there are several. */
export function importance(model, chip) {
  const found = model.importance;
  if (!found) return null;
  const titles = new Map(model.features.map((feature) => [feature.name, Features.title(model, feature)]));
  const features = found.features.map(({ name, contribution }) => ({
    name: label(titles.get(name) || name, 60),
    contribution,
  }));
  const tokens = (found.tokens || []).map(({ token, column, contribution, sets }) => ({
    name: h("span", null, chip(token, column), h("span", { class: "was" }, ` in ${count(sets, "set")}`)),
    contribution,
  }));
  const unit = found.unit === "prediction" ? "the unit of the labels" : found.unit;
  return section(
    "importance",
    "What matters overall",
    `How much features and tokens add to or take from predictions on average, over ${count(found.n_sets, "set")}, ` +
      `in ${unit}.`,
    h(
      "div",
      { class: "cards wide" },
      features.length > 0 && contributions("Features", features),
      tokens.length > 0 && contributions("Tokens", tokens),
    ),
  );
}

/* Several checks speak of one promise: in the parameters, by probing, for one class or another. */
function promised(certificate) {
  const groups = new Map();
  for (const check of certificate) {
    const key = `${check.constraint}\u0000${check.scope}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(check);
  }
  return [...groups.values()].map((checks) => ({
    constraint: Features.plainly(checks[0].constraint),
    scope: checks[0].scope,
    holds: checks.every((check) => check.holds),
    largest: (kind) => {
      const found = checks.filter((check) => check.evidence.startsWith(kind));
      if (!found.length) return "–";
      const violations = found.map((check) => check.violation);
      return violations.includes(null) ? "not a number" : show(Math.max(...violations), 2);
    },
  }));
}

export function promises(model) {
  const found = promised(model.certificate);
  const stated = (lead, ...content) => section("promises", "What is promised", lead, ...content);
  if (!found.length) return stated("Nothing was declared of the features, so the model promises nothing.");
  const failed = found.filter((one) => !one.holds).length;
  const all = found.length === 1 ? "The one promise holds" : `All ${found.length} promises hold`;
  const verdict = failed
    ? `${failed} of ${count(found.length, "promise")} ${failed === 1 ? "FAILS" : "FAIL"}`
    : all;
  const columns = [
    ["result"],
    ["promise"],
    ["of the"],
    ["violated in parameters", "number"],
    ["violated in trials", "number"],
  ];
  const rows = found.map((one) => [
    h("span", { class: one.holds ? "yes" : "no" }, one.holds ? "✓ holds" : "✗ fails"),
    label(one.constraint),
    one.scope,
    one.largest("parameters"),
    one.largest("probing"),
  ]);
  return stated(
    `${verdict}. Each is checked in the model's parameters, which settles it for every set there can be, ` +
      "and once more by trying out sets. The numbers say by how much it is violated at most.",
    table(columns, rows),
  );
}

export function quality(model) {
  const found = model.quality;
  if (!found) return null;
  const tiles = found.metrics.map(({ name, value, constant }) =>
    tile(name, show(value, 3), constant !== null && `a constant guess: ${show(constant, 3)}`),
  );
  const charts = [];
  if (found.points.length) {
    charts.push(
      figure(
        "Predictions against labels",
        Charts.scatter({ points: found.points, title: "predictions against labels", yTitle: "predicted" }),
        "label across, prediction up; on the line both are equal",
      ),
    );
  }
  if (found.reliability.length) {
    const most = Math.max(...found.reliability.map((bin) => bin[2]));
    const two = model.classes.length === 2;
    const share = two ? `share of “${named(model.classes[1], 30)}”` : "share of right answers";
    charts.push(
      figure(
        "Can its probabilities be trusted?",
        Charts.scatter({
          points: found.reliability,
          range: [0, 1],
          title: "shares observed against probabilities said",
          yTitle: "observed",
          sizes: found.reliability.map((bin) => 2.5 + 6 * Math.sqrt(bin[2] / most)),
        }),
        `probability said across, ${share} up; on the line both are equal; larger points are more sets`,
      ),
    );
  }
  const lead =
    `On ${count(found.n, "set")} with known labels. On sets that the model learned from, figures are better than ` +
    "on new ones: only sets that it has not seen tell how good it is.";
  return section(
    "quality",
    "How good it is",
    lead,
    h("div", { class: "beside" }, charts, h("div", { class: "tiles" }, tiles)),
  );
}

export function training(model) {
  const lines = ["loss", "validation_loss"].map((name) =>
    model.history
      .filter((epoch) => typeof epoch[name] === "number")
      .map((epoch) => [epoch.epoch, epoch[name]]),
  );
  const shown = lines.filter((line) => line.length > 1);
  const epochs = shown.flat().map((point) => point[0]);
  const x = [Math.min(...epochs), Math.max(...epochs)];
  const kinds = shown.length > 1 ? "solid: training; dashed: validation" : "training";
  const best = `the best epoch was ${model.best_epoch} of ${model.history.length}`;
  const parameters = Object.entries(model.parameters).map(([name, value]) => [
    h("dt", null, name),
    h("dd", null, h("bdi", null, value)),
  ]);
  return section(
    "training",
    "How it was made",
    null,
    shown.length > 0 &&
      h(
        "div",
        { class: "cards" },
        figure(
          "Loss by epoch",
          Charts.curves({ lines: shown, x, title: "loss by epoch", whole: true }),
          `${kinds} · ${best}`,
        ),
      ),
    h("details", null, h("summary", null, "All parameters"), h("dl", { class: "parameters" }, parameters)),
  );
}

/* Beside the examples to start from, how many there are, where not all are listed. */
export function chosen({ examples, n_sets: all }) {
  if (!all || examples.length >= all) return null;
  const listed = examples.length.toLocaleString("en");
  return h("span", { class: "what" }, `${listed} of ${count(all, "example")}, chosen at random`);
}
