"""What answers consist of, as JSON schemas."""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]


def array(items: Schema | None = None, description: str | None = None) -> dict[str, Any]:
    """Describe a list."""
    schema: dict[str, Any] = {"type": "array"} if items is None else {"type": "array", "items": items}
    return schema if description is None else schema | {"description": description}


def members(properties: Schema, *optional: str, more: bool = False) -> dict[str, Any]:
    """Describe an object: its members, which of them may be absent, and whether there may be more."""
    required = [name for name in properties if name not in optional]
    schema = {"type": "object", "properties": dict(properties), "required": required}
    return schema if more else schema | {"additionalProperties": False}


TEXT, BOOLEAN, WHOLE = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
NUMBER, MAYBE = {"type": "number"}, {"type": ["number", "null"]}
CLASS = {
    "type": ["string", "number", "boolean"],
    "description": "A class: a text, a number or a truth value, alike in all answers.",
}
_TEXTS, _NUMBERS, _NUMBER_OR_LIST = array(TEXT), array(NUMBER), {"type": ["number", "array"], "items": NUMBER}

PREDICTION = members(
    {
        "predictions": array(CLASS, "For each set its class, or a number."),
        "classes": array(CLASS, "Of classifiers: what the columns of the probabilities are."),
        "probabilities": array(_NUMBERS, "Of classifiers that know them: for each set a row."),
        "estimates": array(_NUMBERS, "In place of predictions, of a SemanticFeatureEngine."),
    },
    "predictions", "classes", "probabilities", "estimates",
)  # fmt: skip

_TOKEN = members(
    {
        "token": {
            "type": ["integer", "array", "null"],
            "items": TEXT,
            "description": "Its place in the set or its items; null where a set has no token.",
        },
        "estimate": MAYBE,
        "refined": MAYBE,
        "statistics": {"type": ["object", "null"]},
        "covers": {"type": ["array", "null"], "items": WHOLE},
        "score": _NUMBER_OR_LIST,
        "contribution": _NUMBER_OR_LIST,
        "share": NUMBER,
        "without": MAYBE,
    },
    "estimate", "refined", "statistics", "covers",
    more=True,
) | {"description": "Besides, every feature by its name, and once more with ' (calibrated)'."}  # fmt: skip

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

EXPLANATION = members(
    {
        "features": _TEXTS,
        "rho": array(
            members({"label": {"anyOf": [CLASS, {"type": "null"}]}, "points": array(_NUMBERS)}),
            "From the mean score to the output, where the width is 1.",
        ),
        "sets": array(
            members(
                {
                    "label": {"anyOf": [CLASS, {"type": "null"}]},
                    "prediction": MAYBE,
                    "output": MAYBE,
                    "aggregate": _NUMBERS,
                    "tokens": array(_TOKEN),
                    "effects": array(_EFFECT, "Where they were asked for."),
                },
                "effects",
            )
        ),
    }
)

_FEATURE = members(
    {
        "name": TEXT,
        "keypoints": {"type": ["array", "null"], "items": NUMBER},
        "categories": {"type": ["array", "null"], "items": TEXT},
        "monotonic": {"description": "A direction, pairs of categories, or null."},
        "shape": {"type": ["string", "null"]},
        "scope": {"enum": ["token", "set", "size"]},
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
        "set": {"type": "object", "description": "The JSON schema of one set, as this model reads it."},
        "classes": {"type": ["array", "null"], "items": CLASS},
        "features": array(_FEATURE),
        "trusts": array(members({"feature": TEXT, "by": TEXT, "shape": TEXT})),
        "certificate": array({"type": "object"}, "What is promised of the model, and whether it holds."),
        "parameters": {"type": "object", "additionalProperties": TEXT},
        "tokens": _TABLE | {"description": "The token table of a semantic model."},
    },
    "tokens",
)

TOKENS = members(
    {
        "n": WHOLE | {"description": "How many tokens were found."},
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
        "n": WHOLE | {"description": "How many items were found."},
        "items": array(TEXT, "Some of them: what is just so but for the case, then the most frequent."),
    }
)

_VALUES = array(
    {"type": ["number", "null"]}, "For each feature, categories by their places; null if missing."
)
EXAMPLE = members(
    {
        "row": WHOLE,
        "name": TEXT,
        "label": {"type": ["number", "string", "null"]},
        "tokens": array(_VALUES, "Of models of sets: what belongs to each token."),
        "set": _VALUES | {"description": "Of models of sets: what belongs to the whole set, for each feature."},
        "items": array(TEXT, "Of semantic models."),
        "details": {
            "type": "object",
            "additionalProperties": array(MAYBE),
            "description": "Of semantic models: what is told of each item.",
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
        "labels": array(_NUMBERS, "Weight and mean of the labels; of classes each class and its weight."),
        "corrections": members({"places": array(WHOLE), "amounts": array()}),
        "own_features": {"type": "object", "additionalProperties": array(MAYBE)},
    }
)

HEALTH = members({"status": {"const": "ok"}})
