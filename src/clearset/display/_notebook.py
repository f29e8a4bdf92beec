"""What notebooks show of models, certificates, token tables, churn and searches: small tables in HTML."""

import html
from typing import Any

from clearset.display._html_fragments import (
    block_html,
    details_html,
    facts_html,
    more_html,
    name_html,
    sparkline_svg,
    table_html,
)
from clearset.display._protocols import ShownCertificate, ShownCurve, ShownJointModel, ShownModel, ShownTokenTable
from clearset.display._short_text import counted, said, shortened, shown
from clearset.sets import Feature

_MOST_FEATURES, _MOST_CHECKS, _MOST_TOKENS, _MOST_TRIALS, _MOST_CHANGES = 30, 50, 10, 10, 10


def model_html(model: ShownModel, parameters: str) -> str:
    """Return a fitted model as HTML: its features with their curves, its certificate, and its parameters.

    Parameters
    ----------
    model : fitted model
        The model.
    parameters : str
        The parameters, as text.

    Returns
    -------
    str
        A block of HTML.
    """
    return _shown_model(model.estimator, _features(model), model.certificate, parameters)


def joint_model_html(model: ShownJointModel, parameters: str) -> str:
    """Return a fitted joint model as HTML: its engines, and the follow-on model.

    Parameters
    ----------
    model : FittedJointModel
        The model.
    parameters : str
        The parameters, as text.

    Returns
    -------
    str
        A block of HTML.
    """
    return _shown_model("JointModel", _parts(model), model.verify(), parameters)


def _shown_model(name: str, body: str, certificate: ShownCertificate, parameters: str) -> str:
    checks = details_html("Certificate", _checks(certificate))
    given = details_html("Parameters", f"<pre>{html.escape(shortened(parameters, 2000))}</pre>")
    return block_html([f"<h4>{name}</h4>", body, checks, given])


def certificate_html(certificate: ShownCertificate) -> str:
    """Return a certificate as HTML.

    Parameters
    ----------
    certificate : Certificate
        The certificate.

    Returns
    -------
    str
        A block of HTML.
    """
    return block_html([_checks(certificate)])


def token_table_html(table: ShownTokenTable) -> str:
    """Return the most frequent tokens of a token table as HTML.

    Parameters
    ----------
    table : TokenTable
        The token table.

    Returns
    -------
    str
        A block of HTML.
    """
    rows = table.top(_MOST_TOKENS, "count").to_pylist()
    names = ["size", "count", "mean", "low", "high"]
    if table.means.ndim == 2 and table.classes is not None:
        names = ["size", "count", "share", "most often"]
        for row in rows:
            place = max(range(len(row["mean"])), key=row["mean"].__getitem__)
            row |= {"share": row["mean"][place], "most often": str(table.classes[place])}
    between = " " if table.tokenizer.in_order else " + "
    cells = [
        [
            between.join(name_html(item) for item in row["token"]),
            *(name_html(row[name]) if isinstance(row[name], str) else said(row[name]) for name in names),
        ]
        for row in rows
    ]
    right = {place for place, name in enumerate(names, 1) if name != "most often"}
    lines = [f"<p>{html.escape(repr(table))}</p>", table_html(["token", *names], cells, right)]
    return block_html([*lines, more_html(len(table) - len(rows), "tokens, less frequent")])


def churn_html(churn: Any) -> str:
    """Return the differences between two models as HTML.

    Parameters
    ----------
    churn : Churn
        The differences.

    Returns
    -------
    str
        A block of HTML.
    """
    lines = [f"<h4>Churn: {churn.changed:.2%} of predictions changed</h4>"]
    facts = [f"{len(churn.rows):,} of {churn.n:,} examples"]
    if churn.tolerance is not None:
        facts.append(f"by more than {said(churn.tolerance)}")
    if churn.wins is not None and churn.losses is not None:
        facts.append(f"{churn.wins:.2%} for the better, {churn.losses:.2%} for the worse")
    lines.append(facts_html(facts))
    measured = {"accuracy": churn.accuracies, "mean absolute error": churn.errors}
    rows = [[name, said(pair[0]), said(pair[1])] for name, pair in measured.items() if pair is not None]
    if rows:
        lines.append(table_html(["", "a", "b"], rows, right={1, 2}))
    named = {
        "changes that bought nothing": churn.unnecessary,
        "difference of probabilities": churn.probability_difference,
        "mean absolute difference": churn.mean_difference,
        "root mean square difference": churn.rms_difference,
        "the same over the spread of a": churn.relative_difference,
    }
    rows = [[name, said(value)] for name, value in named.items() if value is not None]
    return block_html([*lines, table_html(["of a and b", ""], rows, right={1}) if rows else ""])


def edit_comparison_html(comparison: Any) -> str:
    """Return a model before and after edits as HTML.

    Parameters
    ----------
    comparison : EditComparison
        The comparison.

    Returns
    -------
    str
        A block of HTML.
    """
    lines = [f"<h4>{counted(len(comparison.edits), 'edit')}: {comparison.changed:.2%} of predictions changed</h4>"]
    lines.append(f"<ol>{''.join(f'<li>{name_html(words, 200)}</li>' for words in comparison.edits)}</ol>")
    predictions = comparison.before, comparison.after
    is_number = comparison.churn.mean_difference is not None
    rows = [] if comparison.scores is None else [[html.escape(comparison.metric), *map(said, comparison.scores)]]
    if comparison.churn.errors is not None:
        rows.append(["mean absolute error", *map(said, comparison.churn.errors)])
    if rows:
        lines.append(table_html(["", "before", "after"], rows, right={1, 2}))
    cells = [
        [f"{row:,}", *(name_html(said(each[row]) if is_number else each[row]) for each in predictions)]
        for row in comparison.rows[:_MOST_CHANGES]
    ]
    if cells:
        lines.append(table_html(["row", "before", "after"], cells, right={0}))
    return block_html([*lines, more_html(len(comparison.rows) - len(cells), "prediction changed")])


def tuning_html(tuning: Any) -> str:
    """Return the best trials of a search as HTML.

    Parameters
    ----------
    tuning : Tuning
        What the search has found.

    Returns
    -------
    str
        A block of HTML.
    """
    ranked, names = tuning.ranked(), list(tuning.best_params_)
    failed = len(tuning.trials) - len(ranked)
    facts = [f"best {name_html(tuning.metric)} {said(tuning.best_score_)} in trial {tuning.best_trial_}"]
    facts.append(counted(len(tuning.trials), "trial") + (f", {failed:,} failed" if failed else ""))
    if tuning.interrupted_:
        facts.append('<span class="bad">interrupted</span>')
    rows = []
    for trial in ranked[:_MOST_TRIALS]:
        values = [trial["params"][name] for name in names]
        cells = [name_html(said(value) if isinstance(value, float) else value) for value in values]
        rows.append([str(trial["number"]), said(trial["score"]), *cells, f"{trial['seconds']:.1f}"])
    head = ["trial", name_html(tuning.metric), *map(name_html, names), "seconds"]
    table = table_html(head, rows, right={0, 1, len(names) + 2})
    lines = [f"<h4>Tuning of {type(tuning.best_estimator_).__name__}</h4>", facts_html(facts), table]
    return block_html([*lines, more_html(len(ranked) - len(rows), "trial")])


def _features(model: ShownModel) -> str:
    """Return the features of a set function with their curves."""
    function, curves = model.function, model.calibrators()
    # Effects of all features are on the same scale, so that they can be compared.
    largest = max(
        (float(abs(curve.effects[: function.width]).max(initial=0.0)) for curve in curves.values()), default=0
    )
    rows = [
        [
            name_html(feature.name),
            html.escape(_declared(feature)),
            html.escape(_range(curves[feature.name])),
            sparkline_svg(curves[feature.name], function.width, largest),
        ]
        for feature in model.binning.features[:_MOST_FEATURES]
    ]
    table = table_html(["feature", "declared", "values", "effect on the score"], rows)
    return facts_html(_facts(model)) + table + more_html(len(model.binning.features) - len(rows), "feature")


def _parts(model: ShownJointModel) -> str:
    """Return the engines of a joint model, and the follow-on model."""
    gain = model.gain
    trained = f"joint training lowered the loss by {said(gain)}" if gain else "joint training changed nothing"
    rows = [
        [name_html(column if isinstance(column, str) else ", ".join(column)), " · ".join(_facts(engine))]
        for column, engine in model.engines.items()
    ]
    engines = table_html(["column", "its engine"], rows)
    follow_on = f"<h4>{model.follow_on.estimator} of the estimates</h4>{_features(model.follow_on)}"
    return facts_html([counted(len(rows), "engine"), trained]) + engines + follow_on


def _checks(certificate: ShownCertificate) -> str:
    """Return the checks as a table, with one row for each of them."""
    checks, total = certificate.checks, len(certificate.checks)
    if not checks:
        return "<p>No constraints are declared.</p>"
    failed = sum(not check.holds for check in checks)
    head = "The one check holds." if total == 1 else f"All {total:,} checks hold."
    if failed:
        head = f'<span class="bad">{failed:,} of {total:,} checks fail.</span>'
    rows = [
        [
            "yes" if check.holds else '<span class="bad">no</span>',
            name_html(check.constraint, 60),
            html.escape(check.scope),
            html.escape(shown(check.evidence, 60)),
            f"{check.violation:.3g}",
        ]
        for check in checks[:_MOST_CHECKS]
    ]
    table = table_html(["holds", "constraint", "of", "seen in", "largest violation"], rows, right={4})
    return f"<p>{head}</p>{table}{more_html(total - len(rows), 'check')}"


def _facts(model: ShownModel) -> list[str]:
    """Return the main facts about a model, in words."""
    facts = [] if model.n_known_tokens is None else [counted(model.n_known_tokens, "token")]
    facts.append(f"{counted(len(model.binning.features), 'feature')}, width {model.function.width}")
    if model.link.classes is not None:
        classes = model.link.classes.tolist()
        names = ", ".join(name_html(label, 20) for label in classes[:5])
        facts.append(f"{len(classes):,} classes: {names}" + (", …" if len(classes) > 5 else ""))
    if model.edits:
        facts.append(counted(len(model.edits), "edit"))
    if model.history_:
        last = model.history_[-1]
        key = "validation_loss" if "validation_loss" in last else "loss"
        best = min(row[key] for row in model.history_ if key in row)
        facts.append(f"{counted(len(model.history_), 'epoch')}, best {key.replace('_', ' ')} {best:.4g}")
    return facts


def _declared(feature: Feature) -> str:
    parts: list[str] = [feature.shape] if feature.shape else []
    if isinstance(feature.monotonic, str):
        parts.insert(0, feature.monotonic)
    elif feature.monotonic is not None:
        parts.insert(0, counted(len(feature.monotonic), "ordered pair"))
    return ", ".join(parts) or "-"


def _range(curve: ShownCurve) -> str:
    if curve.keypoints is not None:
        return f"{said(curve.keypoints[0])} to {said(curve.keypoints[-1])}"
    categories = curve.categories or ()
    names = ", ".join(shown(category, 14) for category in categories[:4])
    return names + (f", … ({len(categories):,})" if len(categories) > 4 else "")
