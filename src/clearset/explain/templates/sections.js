"use strict";
/* The sections that all models have: features, promises, quality, training. */
const Sections = (() => {
  const MOST_ROWS = 60;
  const title = (feature) => (feature.scope === "size" ? "number of tokens" : feature.name);

  const section = (id, heading, lead, ...content) =>
    h("section", { id, "aria-labelledby": `${id}-title` },
      h("h2", { id: `${id}-title` }, heading), lead && h("p", { class: "lead" }, lead), ...content);

  function declared(feature) {
    const said = [];
    if (typeof feature.monotonic === "string") said.push(feature.monotonic);
    else if (feature.monotonic) said.push("ordered");
    if (feature.shape) said.push(feature.shape);
    return said.map((word) => h("span", { class: "tag" }, word));
  }

  const isWhole = (feature) => {
    const { edges } = feature.histogram || {};
    return !!edges && edges.length > 1 && Math.abs(edges[1] - edges[0] - 1) < 1e-9 && edges[0] % 1 !== 0;
  };

  /* Places along a numeric feature at which its curve is drawn: the keypoints, and some between them. */
  function places({ keypoints }, between) {
    const found = new Set(keypoints);
    const [low, high] = [keypoints[0], keypoints[keypoints.length - 1]];
    for (let i = 1; i < between; i++) found.add(low + ((high - low) * i) / between);
    return [...found].sort((a, b) => a - b);
  }

  /* One feature as a card: `curve(value)` gives the heights of its lines at a value. */
  function card(feature, { curve, current, marks = [], range, unit, between = 0 }) {
    const said = (value) => curve(value).map((y) => show(Math.abs(y) < 5e-4 ? 0 : y, 3)).join(", ");
    const note = h("p", { class: "note" }, "missing: ", said(null));
    if (current !== undefined) {
      const text = current === null ? "missing" : feature.categories ? feature.categories[current] : show(current);
      note.prepend("here: ", h("strong", null, label(String(text), 30)), " gives ",
        h("strong", null, said(current)), " · ");
    }
    return h("figure", { class: "card feature" },
      h("figcaption", null, label(title(feature), 60), ...declared(feature)),
      feature.categories ? rows(feature, { curve, current, range }) : drawn(feature, { curve, current, marks, range, unit, between }),
      note);
  }

  function drawn(feature, { curve, current, marks, range, unit, between }) {
    const { keypoints, histogram } = feature;
    const at = places(feature, between);
    const heights = at.map(curve);
    return Charts.curves({
      lines: heights[0].map((_, k) => at.map((x, i) => [x, heights[i][k]])),
      bars: histogram && histogram.edges ? histogram : null,
      x: [keypoints[0], keypoints[keypoints.length - 1]],
      y: range,
      whole: isWhole(feature),
      points: current === null || current === undefined ? [] : curve(current).map((value) => [current, value]),
      marks: marks.filter((mark) => mark !== null),
      title: `${unit} by ${cut(title(feature), 60)}`,
      yTitle: unit,
    });
  }

  function rows(feature, { curve, current, range }) {
    const counts = feature.histogram ? feature.histogram.counts : null;
    const order = feature.categories.map((_, place) => place);
    if (counts && order.length > MOST_ROWS) order.sort((a, b) => counts[b] - counts[a]);
    const shown = order.slice(0, MOST_ROWS);
    const most = counts ? Math.max(...shown.map((place) => counts[place]), 1) : 1;
    const all = new Map(shown.map((place) => [place, curve(place)]));
    const [low, high] = range || Charts.padded([...all.values()].flat());
    const left = order.length - shown.length;
    return h("div", { class: "categories", tabindex: feature.categories.length > 7 ? 0 : null, role: "group",
      "aria-label": `categories of ${cut(feature.name, 60)}` },
      shown.map((place) =>
        h("div", { class: place === current ? "category current" : "category" },
          label(feature.categories[place], 40),
          h("span", { class: "lane", "aria-hidden": "true" },
            counts && h("span", { class: "seen", style: { width: `${(100 * counts[place]) / most}%` } }),
            all.get(place).map((value) => h("span", { class: "place", style: { left: `${(100 * (value - low)) / (high - low)}%` } }))),
          h("span", { class: "number" }, all.get(place).length > 1 ? "" : show(all.get(place)[0], 3)))),
      left > 0 && h("p", { class: "note" }, `and ${left.toLocaleString("en")} more`));
  }

  function promises(model) {
    const groups = new Map();
    for (const check of model.certificate) {
      const key = `${check.constraint}\u0000${check.scope}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(check);
    }
    const largest = (checks, kind) => {
      const found = checks.filter((check) => check.evidence.startsWith(kind)).map((check) => check.violation);
      return found.length ? (found.includes(null) ? "not a number" : show(Math.max(...found), 2)) : "–";
    };
    if (!groups.size) {
      return section("promises", "What is promised", "Nothing was declared of the features, so the model promises nothing.");
    }
    const failed = model.certificate.filter((check) => !check.holds).length;
    const n = model.certificate.length;
    const lead = failed ? `${failed} of ${n} checks FAIL.` : `All ${n} checks hold: violations looked up in the parameters, and searched for by trying out pairs of sets.`;
    return section("promises", "What is promised", lead,
      h("div", { class: "scroll" }, h("table", null,
        h("thead", null, h("tr", null, ["", "constraint", "holds for", "in the parameters", "by probing"].map((text, i) =>
          h("th", { scope: "col", class: i > 2 ? "number" : null }, text)))),
        h("tbody", null, [...groups.values()].map((checks) => h("tr", null,
          h("td", { class: checks.every((c) => c.holds) ? "yes" : "no" }, checks.every((c) => c.holds) ? "✓ holds" : "✗ fails"),
          h("td", null, label(checks[0].constraint.replaceAll("cs.SIZE", "number of tokens"))), h("td", null, checks[0].scope),
          h("td", { class: "number" }, largest(checks, "parameters")),
          h("td", { class: "number" }, largest(checks, "probing"))))))));
  }

  function quality(model) {
    const found = model.quality;
    if (!found) return null;
    const tiles = found.metrics.map(({ name, value, constant }) => h("div", { class: "tile" },
      h("span", { class: "what" }, name), h("span", { class: "figure" }, show(value, 3)),
      constant !== null && h("span", { class: "note" }, `always saying the same: ${show(constant, 3)}`)));
    const charts = [];
    if (found.points.length) {
      charts.push(h("figure", { class: "card" }, h("figcaption", null, "Predictions against labels"),
        Charts.scatter({ points: found.points, title: "predictions against labels", yTitle: "predicted" }),
        h("p", { class: "note" }, "label across, prediction up; on the line both are equal")));
    }
    if (found.reliability.length) {
      const most = Math.max(...found.reliability.map((bin) => bin[2]));
      charts.push(h("figure", { class: "card" }, h("figcaption", null, "Can its probabilities be trusted?"),
        Charts.scatter({ points: found.reliability, range: [0, 1], title: "shares observed against probabilities said",
          yTitle: "observed", sizes: found.reliability.map((bin) => 2.5 + 6 * Math.sqrt(bin[2] / most)) }),
        h("p", { class: "note" }, `probability said across, ${model.classes.length === 2 ? `share of “${cut(model.classes[1], 30)}”` : "share of right answers"} up; larger points are more sets`)));
    }
    return section("quality", "How good it is", `On ${found.n.toLocaleString("en")} sets with known labels.`,
      h("div", { class: "beside" }, charts, h("div", { class: "tiles" }, tiles)));
  }

  function training(model) {
    const lines = ["loss", "validation_loss"].map((name) =>
      model.history.filter((epoch) => typeof epoch[name] === "number").map((epoch) => [epoch.epoch, epoch[name]]));
    const shown = lines.filter((line) => line.length > 1);
    const epochs = shown.flat().map((point) => point[0]);
    return section("training", "How it was made", null,
      shown.length > 0 && h("div", { class: "cards" }, h("figure", { class: "card" },
        h("figcaption", null, "Loss by epoch"),
        Charts.curves({ lines: shown, x: [Math.min(...epochs), Math.max(...epochs)], title: "loss by epoch" }),
        h("p", { class: "note" }, shown.length > 1 ? "strong: training; dashed: validation" : "training",
          ` · the best epoch was ${model.best_epoch} of ${model.history.length}`))),
      h("details", null, h("summary", null, "All parameters"),
        h("dl", { class: "parameters" }, Object.entries(model.parameters).map(([name, value]) => [h("dt", null, name), h("dd", null, h("bdi", null, value))]))));
  }

  /* The prediction: a number, or a bar for each class; `choose` makes the bars buttons. */
  function prediction(model, { estimates, chosen }, explained, choose) {
    if (!model.classes) {
      return h("output", { class: "figure", id: "prediction", "data-value": estimates[0] }, show(estimates[0]));
    }
    const shares = model.link !== "margin";
    const order = estimates.map((_, c) => c);
    if (estimates.length > 2) order.sort((a, b) => estimates[b] - estimates[a]);
    const rest = order.slice(8);
    const row = (c) => h(choose ? "button" : "div", { type: choose && "button", class: c === explained ? "class current" : "class",
      "aria-pressed": choose ? String(c === explained) : null, onclick: choose && (() => choose(c)) },
      label(model.classes[c], 40), shares && Charts.bar(estimates[c]),
      h("span", { class: "number" }, shares ? show.share(estimates[c]) : show(estimates[c], 3)));
    return [
      h("output", { class: "figure", id: "prediction", "data-value": estimates[chosen], "data-class": chosen }, label(model.classes[chosen], 60)),
      h("div", { class: "classes" }, order.slice(0, 8).map(row),
        rest.length > 0 && h("details", null, h("summary", null, `${rest.length} more`), rest.map(row))),
    ];
  }

  /* Where the average stands: on rho's curve for width 1, else a bar for each average. */
  function aggregate(model, means, output, column) {
    const unit = model.classes ? (model.link === "margin" ? "margin" : "log-odds") : model.link === "exp" ? "logarithm of the prediction" : "prediction";
    if (model.function.width > 1) {
      return [h("h3", null, "Average scores"), h("div", { class: "averages" }, means.map((mean, k) =>
        h("div", null, h("span", null, `score ${k + 1}`), Charts.scores([mean]), h("span", { class: "number" }, show.signed(mean)))))];
    }
    const at = Array.from({ length: 81 }, (_, i) => -1 + i / 40);
    return [h("h3", null, "Average score ", h("strong", { id: "average", "data-value": means[0] }, show.signed(means[0]))),
      Charts.curves({ lines: [at.map((x) => [x, Evaluate.rho(model, [x], column)])], x: [-1, 1], points: [[means[0], output]],
        title: `${unit} by average score`, yTitle: unit, height: 180 }),
      h("p", { class: "note" }, `The average of the token scores stands at the point; its height is the ${unit}.`)];
  }

  /* The prediction once more, at the foot of small screens, where it stays in sight. */
  const dock = (model, { estimates, chosen }) => h("div", { class: "dock", "aria-hidden": "true" }, h("span", null, "Prediction"),
    h("strong", null, model.classes ? label(model.classes[chosen], 24) : show(estimates[0])),
    model.classes && model.link !== "margin" && h("span", { class: "number" }, show.share(estimates[chosen])));

  /* What screen readers hear when the prediction changes; the element stays, its text changes. */
  const status = h("p", { class: "hidden", role: "status" });
  const announce = (model, { estimates, chosen }) => {
    status.textContent = `Prediction ${model.classes ? cut(model.classes[chosen], 60) : show(estimates[0])}`;
  };

  return { status, announce, dock, title, section, card, promises, quality, training, prediction, aggregate, isWhole };
})();
