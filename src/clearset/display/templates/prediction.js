/* What the model says of a set, and where the average of the scores stands. */

import * as Charts from "./charts.js";
import { h, label, named, replace, show } from "./elements.js";
import * as Evaluate from "./evaluate.js";

/* The prediction: a number, or a bar for each class; `choose` makes the bars buttons. */
function figure(model, { estimates, chosen }, explained, choose) {
  const heading = h("h3", null, "Prediction");
  if (!model.classes) {
    const value = { class: "figure", id: "prediction", "data-value": estimates[0] };
    return [heading, h("output", value, show(estimates[0]))];
  }
  const shares = model.link !== "margin";
  const order = estimates.map((_, c) => c);
  if (estimates.length > 2) order.sort((a, b) => estimates[b] - estimates[a]);
  const rest = order.slice(8);
  const row = (c) =>
    h(
      choose ? "button" : "div",
      {
        type: choose && "button",
        class: c === explained ? "class current" : "class",
        "aria-pressed": choose ? String(c === explained) : null,
        onclick: choose && (() => choose(c)),
      },
      label(model.classes[c], 40),
      shares && Charts.bar(estimates[c]),
      h("span", { class: "number" }, shares ? show.share(estimates[c]) : show(estimates[c], 3)),
    );
  return [
    heading,
    h(
      "output",
      { class: "figure", id: "prediction", "data-value": estimates[chosen], "data-class": chosen },
      label(model.classes[chosen], 60),
    ),
    h(
      "div",
      { class: "classes" },
      order.slice(0, 8).map(row),
      rest.length > 0 &&
        h(
          "details",
          { open: rest.includes(explained) },
          h("summary", null, `${rest.length} more`),
          rest.map(row),
        ),
    ),
  ];
}

/* What is known of an example, beside what is predicted. */
const known = (said) =>
  said !== null &&
  h(
    "p",
    { class: "note" },
    "label of this example: ",
    h("strong", null, typeof said === "number" ? show(said) : label(said, 40)),
  );

/* Of several classes one is looked at. */
const chosenClass = (what, name) =>
  h(
    "p",
    { class: "note" },
    `${what} are those of `,
    h("strong", null, label(name, 40)),
    "; choose another class above.",
  );

/* Where the average stands, as distance from the base rate: on rho's curve for width 1, else bars. */
function aggregate(model, means, output, c) {
  const far = means.map((mean, k) => mean - model.support.base[c][k]);
  return model.function.width > 1 ? bars(far) : onCurve(model, far[0], output, c);
}

function bars(means) {
  const shown = show.column(means, { digits: 3, signed: true });
  const row = (mean, k) =>
    h(
      "div",
      null,
      h("span", null, `score ${k + 1}`),
      Charts.scores([mean], Charts.largest(means)),
      h("span", { class: "number" }, shown[k]),
    );
  return [h("h3", null, "Average scores"), h("div", { class: "averages" }, means.map(row))];
}

/* Of two classes, all numbers speak for the second. */
const spoken = ({ classes }, c) => (classes && classes.length === 2 ? 1 : c);
const ofClass = (model, what, c) => `${what} of ${named(model.classes[spoken(model, c)], 24)}`;

/* What an output is. Of several classes it is no log-odds: only all together become probabilities. */
function outputUnit(model, c) {
  if (!model.classes) return model.link === "exp" ? "logarithm of the prediction" : "prediction";
  if (model.link === "margin") return ofClass(model, "margin", c);
  return model.classes.length === 2 ? ofClass(model, "log-odds", c) : "output";
}

/* What is predicted for the class looked at: its name, the number among the estimates, the number as text. */
export const followed = (model, c) =>
  model.classes ? ofClass(model, model.link === "margin" ? "margin" : "probability", c) : "prediction";
export const isShare = ({ classes, link }) => !!classes && link !== "margin";

/* Predictions of one column. */
export const written = (model, values) =>
  isShare(model) ? values.map((value) => show.share(value, 2)) : show.column(values, { digits: 5 });

function onCurve(model, far, output, c) {
  const unit = outputUnit(model, c);
  const column = model.function.outputs > 1 ? c : 0;
  const [base] = model.support.base[c];
  const at = Array.from({ length: 81 }, (_, i) => -1 + i / 40);
  const average = h("strong", { id: "average", "data-value": far }, show.signed(far));
  return [
    h("h3", null, "Average score ", average),
    Charts.curves({
      lines: [at.map((x) => [x - base, Evaluate.rho(model, [x], column)])],
      x: [-1 - base, 1 - base],
      zero: Evaluate.rho(model, [base], column),
      points: [[far, output]],
      title: `${unit} by average score`,
      yTitle: unit,
      height: 180,
    }),
    h(
      "p",
      { class: "note" },
      `The point is this set: its average score across (0 is the base rate), the ${unit} that follows from it up.`,
      unit === "output" && " The outputs of all classes together become their probabilities.",
    ),
  ];
}

/* The prediction once more, at the foot of small screens, where it stays in sight. */
const dock = (model, { estimates, chosen }) =>
  h(
    "div",
    { class: "dock", "aria-hidden": "true" },
    h("span", null, "Prediction"),
    h("strong", null, model.classes ? label(model.classes[chosen], 24) : show(estimates[0])),
    model.classes && model.link !== "margin" && h("span", { class: "number" }, show.share(estimates[chosen])),
  );

/* Where the way begins. */
const start = (model, { base }, c) =>
  h(
    "p",
    { class: "note" },
    "base rate",
    model.classes && [" of ", label(model.classes[spoken(model, c)], 40)],
    ": ",
    h("strong", { id: "base", "data-value": base }, written(model, [base])[0]),
  );

/* Where all of it stands. Shown is the class that is looked at, `column`, as it is `explained`; `choose` hears of
   another, and `what` is shown of it elsewhere; `label` is what is known of the example, and `cautions` say where the
   model goes beyond what it has learned from. */
export function panel(model) {
  const body = h("div", { class: "panel" });
  /* What screen readers hear when the prediction changes; the element stays, its text changes. */
  const status = h("p", { class: "hidden", role: "status" });

  function update(result, explained, { column: c, label: said, what, choose, cautions }) {
    const { estimates, chosen, outputs, means } = result;
    const { width } = model.function;
    status.textContent = `Prediction ${model.classes ? named(model.classes[chosen], 60) : show(estimates[0])}`;
    replace(
      body,
      dock(model, result),
      h(
        "div",
        null,
        figure(model, result, choose ? c : chosen, choose),
        cautions.length > 0 &&
          h(
            "ul",
            { class: "cautions" },
            cautions.map((text) => h("li", null, text)),
          ),
        start(model, explained, c),
        known(said),
        choose && chosenClass(what, model.classes[c]),
      ),
      h(
        "div",
        { class: "averaged" },
        aggregate(model, means.slice(c * width, (c + 1) * width), outputs[c], c),
      ),
    );
  }

  /* Nothing, and why. */
  function blank(why) {
    status.textContent = why;
    replace(body, h("p", { class: "note" }, why));
  }

  return { element: h("aside", { "aria-label": "Prediction" }, status, body), update, blank };
}
