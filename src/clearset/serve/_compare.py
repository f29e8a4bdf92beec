"""What changed between two models: churn, and the examples and tokens that it comes from."""

from typing import Any

import numpy as np

from clearset.estimators import churn
from clearset.estimators.semantic._sources import take_examples
from clearset.explain._examples import Examples
from clearset.explain._item_examples import ItemExamples
from clearset.explain._plain import number
from clearset.explain._spelling import token_texts

MOST_EXAMPLES = 40
_MOST_TOKENS = 12
_MOST_ITEMS = 20
_LONGEST = 80


def check_alike(before: Any, after: Any, name: str, served: str = "this model") -> None:
    """Refuse models that cannot be compared, before the work; names are for the message."""
    for model, called in ((after, served), (before, name)):
        if not hasattr(model, "predict"):
            raise ValueError(
                f"{called}, a {type(model).__name__}, does not predict, so it cannot be compared. Give one that does."
            )
    if any(
        hasattr(before, attribute) != hasattr(after, attribute) for attribute in ("token_table_", "classes_")
    ):
        raise ValueError(
            f"{name}, a {type(before).__name__}, cannot be compared with {served}, a {type(after).__name__}. Both must "
            "read the same sets and predict the same labels."
        )
    if hasattr(after, "classes_"):
        known = [set(model.classes_.tolist()) for model in (before, after)]
        for called, more in ((name, known[0] - known[1]), (served, known[1] - known[0])):
            if more:
                raise ValueError(
                    f"{name} and {served} know different classes: only {called} knows {sorted(map(str, more))[:10]}. "
                    "Fit both on data with the same classes."
                )


def comparison(before: Any, after: Any, examples: Examples, name: str = "the other model") -> dict[str, Any]:
    """Compare two models on the same examples, as plain data.

    Parameters
    ----------
    before, after
        Fitted models of the same kind.
    examples
        Examples that both can read, with their labels if known.
    name
        What to call the first.

    Returns
    -------
    dict
        The share ``changed``, ``measures``, each a ``value``, a ``share`` or a pair ``before`` and ``after``, and
        ``examples``, the largest change first: both predictions, and the tokens that now add something else to the
        prediction, those of the largest change first.
    """
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


def _measures(found: Any) -> list[dict[str, Any]]:
    """Give what differs: pairs, shares of the examples, and a number."""
    pairs = {"accuracy": found.accuracies, "mean error": found.errors}
    shares = {"changed for the better": found.wins, "changed for the worse": found.losses}
    measures: list[dict[str, Any]] = [
        {"name": name, "before": number(pair[0]), "after": number(pair[1])}
        for name, pair in pairs.items()
        if pair
    ]
    measures += [
        {"name": name, "share": number(share)} for name, share in shares.items() if share is not None
    ]
    if found.mean_difference is not None:
        measures.append({"name": "mean difference", "value": number(found.mean_difference)})
    return measures


def _examples(before: Any, after: Any, examples: Examples, rows: Any) -> list[dict[str, Any]]:
    X, y = take_examples(examples.X, rows), examples.y
    said = [np.asarray(model.predict(X)).tolist() for model in (before, after)]
    labels = [None] * len(rows) if y is None else np.asarray(y)[rows].tolist()
    items = _items(examples, rows)
    found: list[dict[str, Any]] = [{}] * len(rows)
    # Both models are asked about the class that is predicted now, for only then are they comparable; of two
    # classes explanations always speak for the second.
    several = len(getattr(after, "classes_", ())) > 2
    classes = sorted(set(said[1]), key=str) if several else [None]
    for label in classes:
        places = [place for place, one in enumerate(said[1]) if label is None or one == label]
        taken = take_examples(X, np.array(places))
        explained = [model.explain(taken, label) for model in (before, after)]
        for order, place in enumerate(places):
            ones = [explanation[order] for explanation in explained]
            about = ones[1].label
            found[place] = {
                "row": int(rows[place]),
                "name": examples.name(int(rows[place])),
                "items": items[place],
                "before": _said(said[0][place]),
                "after": _said(said[1][place]),
                "label": None if labels[place] is None else _said(labels[place]),
                "explained": None if about is None else str(about[0]),
                "estimates": [number(one.prediction[0]) for one in ones],
                "tokens": _tokens(*ones),
            }
    return found


def _items(examples: Examples, rows: Any) -> list[list[str] | None]:
    """Give the first items of examples; of models of sets, which have none, null."""
    if not isinstance(examples, ItemExamples):
        return [None] * len(rows)
    return [[item[:_LONGEST] for item in one["items"][:_MOST_ITEMS]] for one in examples.at(rows)]


def _tokens(before: Any, after: Any) -> list[dict[str, Any]]:
    """Give the tokens of a set in either model, and what they add to its prediction; null for the only one."""
    texts: dict[Any, str] = {}
    added: list[dict[Any, float | None]] = []
    for explanation in (before, after):
        keys = [_key(token) for token in explanation.tokens["token"].to_pylist()]
        texts |= dict(zip(keys, token_texts(explanation, _LONGEST), strict=True))
        prediction = float(explanation.prediction[0])
        without = explanation.tokens["without"].to_pylist()
        added.append(
            {key: None if w is None else prediction - w for key, w in zip(keys, without, strict=True)}
        )
    whole = [float(explanation.prediction[0]) for explanation in (before, after)]

    def change(key: Any) -> float:
        first, second = (
            whole[k] if key in added[k] and added[k][key] is None else added[k].get(key) or 0.0
            for k in (0, 1)
        )
        return -abs(second - first)

    return [
        {
            "token": texts[key],
            **{
                when: None if added[k][key] is None else number(added[k][key])
                for k, when in enumerate(("before", "after"))
                if key in added[k]
            },
        }
        for key in sorted(texts, key=change)[:_MOST_TOKENS]
    ]


def _key(token: Any) -> Any:
    return tuple(token) if isinstance(token, list) else token


def _said(value: Any) -> Any:
    return number(value, 6) if isinstance(value, float | np.floating) else str(value)
