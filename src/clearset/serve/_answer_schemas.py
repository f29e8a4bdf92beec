"""The JSON schemas of answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from clearset.sets import BUILT_IN

Schema = Mapping[str, Any]


def array(items: Schema | None = None, description: str | None = None) -> dict[str, Any]:
    """Return the schema of a list."""
    schema: dict[str, Any] = {"type": "array"} if items is None else {"type": "array", "items": items}
    return schema if description is None else schema | {"description": description}


def members(properties: Schema, *optional: str, more: bool = False) -> dict[str, Any]:
    """Return the schema of an object: its members, which of them may be absent, and whether others are allowed."""
    required = [name for name in properties if name not in optional]
    schema = {"type": "object", "properties": dict(properties), "required": required}
    return schema if more else schema | {"additionalProperties": False}


TEXT, BOOLEAN, WHOLE = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
NUMBER, MAYBE = {"type": "number"}, {"type": ["number", "null"]}
CLASS = {
    "type": ["string", "number", "boolean"],
    "description": "A class: a text, a number or a truth value, the same in all answers.",
}
_TEXTS, _NUMBERS = array(TEXT), array(NUMBER)
_SCORE = {
    "type": ["number", "array"],
    "items": NUMBER,
    "description": "The distance of its score from that of the base rate; a list if the width is above 1.",
}
_CONTRIBUTION = NUMBER | {
    "description": "What it adds to the prediction, in its unit. With the base rate, all of a set add up to it."
}

PREDICTION = members(
    {
        "predictions": array(CLASS, "For each set its class, or a number."),
        "classes": array(CLASS, "Only of classifiers: the classes of the columns of probabilities."),
        "probabilities": array(_NUMBERS, "Only of classifiers with probabilities: one row for each set."),
        "estimates": array(_NUMBERS, "Only of a SemanticFeatureEngine, which has no predictions."),
    },
    "predictions", "classes", "probabilities", "estimates",
)  # fmt: skip

_TOKEN = members(
    {
        "token": {
            "type": ["integer", "array", "null"],
            "items": TEXT,
            "description": "Its place in the set, or its items; null if the set has no token.",
        },
        "estimate": MAYBE,
        "refined": MAYBE,
        "statistics": {"type": ["object", "null"]},
        "covers": {"type": ["array", "null"], "items": WHOLE},
        "column": {"type": ["string", "null"], "description": "Only of joint models: the column that it is from."},
        "score": _SCORE | {"type": ["number", "array", "null"]},
        "contribution": _CONTRIBUTION,
        "share": NUMBER,
        "without": MAYBE,
    },
    "estimate", "refined", "statistics", "covers", "column",
    more=True,
) | {"description": "Also every feature by its name, and once more with ' (calibrated)'."}  # fmt: skip

_OF_SET = members(
    {
        "feature": TEXT,
        "value": {"type": ["string", "null"]},
        "score": _SCORE | {"type": ["number", "array", "null"]},
        "contribution": _CONTRIBUTION,
    }
)

_EFFECT = members(
    {
        "token": {"type": ["integer", "null"], "description": "Its place; null for a feature of the set."},
        "feature": TEXT,
        "worst": {},
        "best": {},
        "prediction_worst": MAYBE,
        "prediction_best": MAYBE,
    }
)

_PART = {"type": "object", "description": "Only of joint models: an explanation of one of the two steps."}
EXPLANATION = members(
    {
        "follow_on": _PART,
        "engines": {"type": "object", "additionalProperties": _PART},
        "features": _TEXTS,
        "rho": array(
            members({"label": {"anyOf": [CLASS, {"type": "null"}]}, "points": array(_NUMBERS)}),
            "The curve from the mean score, as distance from that of the base rate, to the output, if the width is 1.",
        ),
        "sets": array(
            members(
                {
                    "label": {"anyOf": [CLASS, {"type": "null"}]},
                    "prediction": MAYBE,
                    "base": MAYBE | {"description": "The base rate: the average prediction for the training sets."},
                    "output": MAYBE,
                    "aggregate": array(NUMBER, "The mean score, as distance from that of the base rate."),
                    "tokens": array(_TOKEN),
                    "of_set": array(_OF_SET, "The features of the whole set."),
                    "effects": array(_EFFECT, "Only if they were requested."),
                },
                "effects",
            )
        ),
    },
    "follow_on", "engines",
)  # fmt: skip

_FEATURE = members(
    {
        "name": TEXT,
        "keypoints": {"type": ["array", "null"], "items": NUMBER},
        "categories": {"type": ["array", "null"], "items": TEXT},
        "monotonic": {"description": "A direction, pairs of categories, or null."},
        "shape": {"type": ["string", "null"]},
        "scope": {"enum": ["token", "set", *BUILT_IN.values()]},
    }
)
_TABLE = members(
    {
        "tokeniser": {"type": "object"},
        "setting": TEXT,
        "cover": BOOLEAN,
        "value": TEXT,
        "n_tokens": WHOLE,
        "n_examples": WHOLE,
    }
)
MODEL = members(
    {
        "estimator": TEXT,
        "semantic": BOOLEAN,
        "loss": TEXT,
        "width": WHOLE,
        "set": {"type": "object", "description": "The JSON schema of one set that this model reads."},
        "classes": {"type": ["array", "null"], "items": CLASS},
        "features": array(_FEATURE),
        "trusts": array(members({"feature": TEXT, "by": TEXT, "shape": TEXT})),
        "certificate": array({"type": "object"}, "The constraints that the model guarantees, and whether they hold."),
        "edits": array(TEXT, "What was changed by hand after training, in words."),
        "parameters": {"type": "object", "additionalProperties": TEXT},
        "tokens": _TABLE | {"description": "The token table of a semantic model."},
    },
    "tokens",
)

TOKENS = members(
    {
        "n": WHOLE | {"description": "The number of tokens found."},
        "tokens": array(
            members(
                {
                    "token": _TEXTS,
                    "size": WHOLE,
                    "count": WHOLE,
                    "mean": MAYBE,
                    "low": MAYBE,
                    "high": MAYBE,
                    "value": MAYBE,
                }
            ),
            "One page of them.",
        ),
    }
)

ITEMS = members(
    {
        "n": WHOLE | {"description": "The number of items found."},
        "items": array(TEXT, "Some of them: first those that differ in case only, then the most frequent."),
    }
)

_VALUES = array(
    MAYBE,
    "The value of each feature; of categories their places, -1 for one that the model does not know; null if missing.",
)
EXAMPLE = members(
    {
        "row": WHOLE,
        "name": TEXT,
        "label": {"type": ["number", "string", "null"]},
        "tokens": array(_VALUES, "Only of models of sets: the features of each token."),
        "set": _VALUES | {"description": "Only of models of sets: the features of the whole set."},
        "items": array(TEXT, "Only of semantic models."),
        "details": {
            "type": "object",
            "additionalProperties": array(MAYBE),
            "description": "Only of semantic models: the details of each item.",
        },
    },
    "tokens", "set", "items", "details",
)  # fmt: skip

KNOWN = members(
    {
        "vocabulary": _TEXTS,
        "items": array(array(WHOLE), "For each token its items, by their places in the vocabulary."),
        "sizes": array(WHOLE),
        "counts": _NUMBERS,
        "labels": array(_NUMBERS, "The weight and mean of the labels; for classes, each class and its weight."),
        "corrections": members({"places": array(WHOLE), "amounts": array()}),
        "own_features": {"type": "object", "additionalProperties": array(MAYBE)},
    }
)

_ITEMS_OF_TOKEN = {"anyOf": [TEXT, array(TEXT)], "description": "An item, or the items of the token."}
_ENDS: dict[str, Any] = {"low": MAYBE, "high": MAYBE}


def edit_schema(features: Sequence[str]) -> dict[str, Any]:
    """Return the schema of an edit of a model with certain features."""
    feature = {"feature": {"enum": list(features)}}
    categories = {"categories": {"type": ["array", "null"]}}
    pin = {"token": _ITEMS_OF_TOKEN, "value": NUMBER, "label": {}}
    kinds = [
        members({"kind": {"const": "cap"}, **feature, **_ENDS}, "low", "high"),
        members({"kind": {"const": "flatten"}, **feature, **_ENDS, **categories}, "low", "high", "categories"),
        members({"kind": {"const": "forbid"}, **feature}),
        members({"kind": {"const": "drop_token"}, "token": _ITEMS_OF_TOKEN}),
        members({"kind": {"const": "pin_token"}, **pin}, "label"),
    ]
    return {
        "anyOf": kinds,
        "examples": [{"kind": "forbid", "feature": features[0]}, {"kind": "drop_token", "token": ["salt"]}],
    }


_CHANGE = members({"row": WHOLE, "name": TEXT, "before": CLASS, "after": CLASS})
EDITED = members(
    {
        "edits": array(TEXT, "All edits of the model, in words; the first are those that it is served with."),
        "checks": WHOLE | {"description": "The number of checks of its certificate."},
        "holds": BOOLEAN | {"description": "Whether all of them hold."},
        "comparison": members(
            {
                "n": WHOLE | {"description": "The number of examples that the models were compared on."},
                "n_changed": WHOLE,
                "metric": TEXT,
                "scores": {"type": ["array", "null"], "items": NUMBER, "description": "Before and after."},
                "examples": array(_CHANGE, "Those that changed most."),
            }
        ),
        "before": PREDICTION,
        "after": PREDICTION,
        "saved": BOOLEAN,
    },
    "comparison", "before", "after",
)  # fmt: skip

HEALTH = members({"status": {"const": "ok"}})
