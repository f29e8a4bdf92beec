"""What changed between two models: their churn, and the examples and tokens that changed most."""

from typing import Any

import numpy as np

from clearset.display import token_texts
from clearset.models import Churn, Explanation, FittedJointModel, FittedModel, JointExplanation, Model, churn
from clearset.models.documents import ShownExamples
from clearset.sets import SIZE, number, take_examples
from clearset.tokens import PER_SET

MOST_EXAMPLES = 40
_MOST_TOKENS = 12
_MOST_ITEMS = 20
_LONGEST = 80
_BASE = "base rate"


def check_alike(before: FittedModel, after: FittedModel, name: str, served: str = "this model") -> None:
    """Raise an error if two models cannot be compared.

    Parameters
    ----------
    before, after : Model, or fitted estimators
        The model that was in use before, and the one that is served.
    name : str
        What messages call the first.
    served : str, default="this model"
        What messages call the second.
    """
    old, new = before.as_model(), after.as_model()
    for model, called in ((new, served), (old, name)):
        if not model.predicts:
            raise ValueError(
                f"{called}, a {model.estimator}, does not predict, so it cannot be compared. Give one that does."
            )
    classes = [model.link.classes for model in (old, new)]
    kinds = [(model.semantic, isinstance(model, FittedJointModel)) for model in (old, new)]
    if kinds[0] != kinds[1] or (classes[0] is None) != (classes[1] is None):
        raise ValueError(
            f"{name}, a {old.estimator}, cannot be compared with {served}, a {new.estimator}. Both must "
            "read the same sets and predict the same labels."
        )
    if classes[0] is not None and classes[1] is not None:
        known = [set(each.tolist()) for each in (classes[0], classes[1])]
        for called, more in ((name, known[0] - known[1]), (served, known[1] - known[0])):
            if more:
                raise ValueError(
                    f"{name} and {served} know different classes: only {called} knows {sorted(map(str, more))[:10]}. "
                    "Fit both on data with the same classes."
                )


def comparison(before: Model, after: Model, examples: ShownExamples, name: str = "the other model") -> dict[str, Any]:
    """Compare two models of the same kind on the same examples, as plain data; `name` is what the first is called."""
    # There are the share ``changed``, ``measures``, each a ``value``, a ``share`` or a pair ``before`` and ``after``,
    # and ``examples``, the largest change first: both predictions, and the tokens whose addition to the prediction
    # changed, the largest change first.
    found = churn(before, after, examples.X, examples.y)
    rows = found.rows[:MOST_EXAMPLES]
    return {
        "name": name,
        "n": found.n,
        "n_changed": len(found.rows),
        "changed": number(found.changed),
        "tolerance": None if found.tolerance is None else number(found.tolerance),
        "measures": _measures(found),
        "examples": _examples(before, after, examples, rows) if len(rows) else [],
    }


def _measures(found: Churn) -> list[dict[str, Any]]:
    """Return what differs: pairs, shares of the examples, and a number."""
    pairs = {"accuracy": found.accuracies, "mean error": found.errors}
    shares = {"changed for the better": found.wins, "changed for the worse": found.losses}
    measures: list[dict[str, Any]] = [
        {"name": name, "before": number(pair[0]), "after": number(pair[1])} for name, pair in pairs.items() if pair
    ]
    measures += [{"name": name, "share": number(share)} for name, share in shares.items() if share is not None]
    if found.mean_difference is not None:
        measures.append({"name": "mean difference", "value": number(found.mean_difference)})
    return measures


def _examples(before: Model, after: Model, examples: ShownExamples, rows: Any) -> list[dict[str, Any]]:
    X, y = take_examples(examples.X, rows), examples.y
    predicted = [np.asarray(model.predict(X)).tolist() for model in (before, after)]
    labels = [None] * len(rows) if y is None else np.asarray(y)[rows].tolist()
    items = _items(examples, rows) if after.semantic else [None] * len(rows)
    found: list[dict[str, Any]] = [{}] * len(rows)
    # Both models explain the class that is predicted now, so that they are comparable; with two classes, explanations
    # are always of the second.
    several = after.link.n_outputs > 1
    classes = sorted(set(predicted[1]), key=str) if several else [None]
    for label in classes:
        places = [place for place, one in enumerate(predicted[1]) if label is None or one == label]
        taken = take_examples(X, np.array(places))
        explained = [model.explain(taken, label) for model in (before, after)]
        for order, place in enumerate(places):
            ones = [explanation[order] for explanation in explained]
            about = ones[1].label
            found[place] = {
                "row": int(rows[place]),
                "name": examples.name(int(rows[place])),
                "items": items[place],
                "before": _plain(predicted[0][place]),
                "after": _plain(predicted[1][place]),
                "label": None if labels[place] is None else _plain(labels[place]),
                "explained": None if about is None else str(about[0]),
                "estimates": [number(one.prediction[0]) for one in ones],
                "tokens": _tokens(*ones, semantic=after.semantic),
            }
    return found


def _items(examples: ShownExamples, rows: Any) -> list[Any]:
    """Return the first items of examples, long ones cut."""
    return [[item[:_LONGEST] for item in one["items"][:_MOST_ITEMS]] for one in examples.at(rows)]


def _tokens(before: Explanation, after: Explanation, *, semantic: bool) -> list[dict[str, Any]]:
    """Return the base rate, the tokens and the features of a set in either model, and what they add."""
    texts: dict[Any, str] = {}
    added: list[dict[Any, float]] = []
    for explanation in (before, after):
        of_set = explanation.of_sets["feature"].to_pylist()
        tokens = explanation.tokens["token"].to_pylist()
        columns_of = _columns_of(explanation, len(tokens))
        named = [(column, _key(token)) for column, token in zip(columns_of, tokens, strict=True)]
        keys = [_BASE, *named, *(("", n) for n in of_set)]
        names = [_count(name, semantic) for name in of_set]
        texts |= dict(zip(keys, [_BASE, *token_texts(explanation, _LONGEST), *names], strict=True))
        columns = [table["contribution"].to_pylist() for table in (explanation.tokens, explanation.of_sets)]
        added.append(dict(zip(keys, [float(explanation.base[0]), *columns[0], *columns[1]], strict=True)))

    def change(key: Any) -> float:
        return -abs(added[1].get(key, 0.0) - added[0].get(key, 0.0))

    return [
        {
            "token": texts[key],
            **{when: number(added[k][key]) for k, when in enumerate(("before", "after")) if key in added[k]},
        }
        for key in sorted(texts, key=change)[:_MOST_TOKENS]
    ]


def _count(name: str, semantic: bool) -> str:
    """Return what a feature of the whole set is called: what it counts, or its name."""
    counted = name if semantic and name in PER_SET else "tokens" if name == SIZE else None
    return name if counted is None else f"number of {counted}"


def _columns_of(explanation: Explanation, n: int) -> list[str | None]:
    """Return the column of each token; without several columns, none."""
    if isinstance(explanation, JointExplanation):
        columns: list[str | None] = explanation.tokens["column"].to_pylist()
        return columns
    return [None] * n


def _key(token: Any) -> Any:
    return tuple(token) if isinstance(token, list) else token


def _plain(value: Any) -> Any:
    return number(value, 6) if isinstance(value, float | np.floating) else str(value)
