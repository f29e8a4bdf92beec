"""What a fit over strings and texts is to do: features, trusts and tables of tokens, checked before any work."""

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from clearset.estimators._class_weight import weigh_same_classes
from clearset.estimators._input import read_trusts
from clearset.estimators._parameter_rules import is_auto
from clearset.functions import Link, Loss
from clearset.sets import Feature, Stream, as_stream, check_trusts, count_examples, count_threads, read_labels
from clearset.tokens import (
    KIND,
    NAMES,
    VALUES,
    MinCount,
    TokenTable,
    Words,
    as_tokenizer,
    check_details,
    check_filters,
    check_kinds,
    columns_read,
)
from clearset.training import Plan, filters_of, tokens_of

MAX_FOLDS = 31
MAX_FEATURES = 12  # of a full lattice: its vertices double with each


def make_plan(
    parameters: Mapping[str, Any], link: Link, table: TokenTable | None, max_memory: float = float("inf")
) -> Plan:
    """Return what all settings that a fit may try share; a table is given if it is not made of the fit's examples."""
    details, trusts = check_details(parameters["details"]), read_trusts(parameters["trusts"])
    classes = (link if table is None else table).classes is not None
    kinds = _check_kinds(parameters, details, table)
    return Plan(
        classes=link.classes,
        table=table,
        features=_check_features(parameters["features"], details, trusts, kinds, classes=classes),
        trusts=trusts,
        details=details,
        loss=Loss(link.loss),
        parameters=_with_none_for_auto(parameters),
        shrinkage=nan if is_auto(parameters["shrinkage"]) else float(parameters["shrinkage"]),
        threads=count_threads(parameters["n_jobs"]),
        max_memory=max_memory,
    )


def build_other_table(
    parameters: Mapping[str, Any], token_X: Any, token_y: Any, link: Link, column: str | Sequence[str] | None = None
) -> TokenTable | None:
    """Make the token table of other examples than those of the fit; None where there are no others."""
    if token_X is None and token_y is None:
        return None
    if token_X is None or token_y is None:
        raise ValueError("token_X and token_y belong together; one of them is None.")
    parameters = _with_none_for_auto(parameters)
    stream = as_stream(token_X) if isinstance(token_y, str) else None
    first = token_X if stream is None else _first_examples(stream, parameters["tokens"], token_y, column)
    tokens, filters = tokens_of(parameters, first), filters_of(parameters, (MinCount(2),))
    weights = None
    if (class_weight := parameters.get("class_weight")) is not None:
        if stream is not None:
            raise ValueError("class_weight weighs labels in memory; with token_X in files, give weights in a column.")
        labels = read_labels(token_y, count_examples(token_X))
        ones = np.ones(len(labels.values))
        weights = weigh_same_classes(class_weight, labels.classes, link.classes, labels.values, ones)
    threads = count_threads(parameters["n_jobs"])
    limits = {} if stream is None else {"max_memory": parameters["max_memory"], "column": column}
    table = TokenTable.build(token_X, token_y, tokens, filters, sample_weight=weights, threads=threads, **limits)
    several = np.empty(0) if table.classes is None or len(table.classes) < 3 else table.classes
    wanted = np.empty(0) if link.classes is None or link.n_outputs == 1 else link.classes
    if not np.array_equal(several, wanted):
        raise ValueError(
            "Where y or token_y has more than two classes, both must have the same ones: a class is estimated by "
            "what the tokens say of it."
        )
    return table


def _check_kinds(parameters: Mapping[str, Any], details: Sequence[str], table: TokenTable | None) -> tuple[str, ...]:
    """Return the kinds of tokens that are asked for; raise an error where filters or details do not fit them."""
    named = None if is_auto(parameters["tokens"]) or parameters["tokens"] is None else parameters["tokens"]
    tokenizer = table.tokenizer if table is not None else None if named is None else as_tokenizer(named)
    kinds = () if tokenizer is None else tokenizer.kinds
    if not is_auto(parameters["filters"]):
        check_kinds(check_filters(parameters["filters"]), kinds)
    if details and (kinds or isinstance(tokenizer, Words)):
        raise ValueError(
            f"details names {list(details)}, numbers for each item of an example, but {tokenizer!r} makes other tokens "
            "of the items. Leave details out, or take Items() or Subsets()."
        )
    return kinds


def _first_examples(stream: Stream, tokens: Any, label: str, column: str | Sequence[str] | None) -> Any:
    """Return the first examples of a stream, which tell what their smallest tokens are."""
    columns = columns_read(stream, column, tokens, [label])
    return next(stream.tables(columns, 1 << 20), stream.schema.empty_table().select(list(columns)))


def _with_none_for_auto(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters, None for those that are left to be chosen."""
    chosen = ("tokens", "filters", "width", "cover", "refine", "validation_fraction")
    return {**parameters, **{name: None for name in chosen if is_auto(parameters[name])}}


def _check_features(
    features: Any, details: Sequence[str], trusts: Any, kinds: tuple[str, ...], *, classes: bool
) -> tuple[Feature, ...] | None:
    """Read the features that the set function is to see, the value first; None for the usual ones."""
    if isinstance(features, str | Feature) or not isinstance(features, Iterable | None):
        raise TypeError(f"features must be a list of names or Features; received {features!r}. Write it in brackets.")
    if features is None:
        if trusts:
            raise ValueError("trusts speak of features, so name these too, such as features=['mean_label', 'count'].")
        return None
    declared = [feature if isinstance(feature, Feature) else Feature(feature) for feature in features]
    names = [feature.name for feature in declared]
    known = (*NAMES, *details)
    for feature in declared:
        if feature.name not in known:
            raise ValueError(f"Feature {feature.name!r} is not known of tokens; choose among {', '.join(known)}.")
        if feature.name == "kind":
            _check_kind(feature, kinds)
        elif feature.kind == "categorical" or feature.lattice_size not in (None, 2):
            raise ValueError(f"Feature {feature.name!r} must be numeric, with a lattice of size 2.")
    if len(set(names)) < len(names):
        raise ValueError(f"features names something twice: {names}.")
    values = [name for name in names if name in VALUES]
    if len(values) != 1:
        raise ValueError(
            f"features must hold one of {' and '.join(VALUES)}, which the estimate rises with; received {names}."
        )
    if len(names) > MAX_FEATURES:
        raise ValueError(f"features names {len(names)}; at most {MAX_FEATURES} are allowed.")
    value = declared[names.index(values[0])]
    if value.monotonic not in (None, "increasing"):
        raise ValueError(f"Feature {value.name!r} is always increasing; received monotonic={value.monotonic!r}.")
    rising = Feature(
        value.name, monotonic="increasing", keypoints=value.keypoints, bounds=value.bounds, shape=value.shape
    )
    if kinds and "whole" in names:
        raise ValueError(
            f"features names 'whole', but a token of one kind ({', '.join(kinds)}) is never all of an example. Leave "
            "it out."
        )
    others = (feature for feature in declared if feature.name != value.name)
    chosen = (rising, *(KIND if feature.name == KIND.name else feature for feature in others))
    check_trusts(tuple(trusts), chosen)
    shares = [feature.name for feature in chosen if feature.name in ("log_odds", "entropy")]
    if shares and not classes:
        raise ValueError(
            f"features names {shares}, which are made of shares of classes, but labels are numbers. Use mean_label "
            "without entropy."
        )
    return chosen


def _check_kind(feature: Feature, kinds: tuple[str, ...]) -> None:
    if not kinds:
        raise ValueError("Feature 'kind' tells kinds of tokens apart, and there is one. Give tokens=Union(...).")
    if feature not in (Feature("kind"), KIND):
        raise ValueError(f"{feature!r} takes no options; its categories are the kinds {', '.join(kinds)}.")
