"""Model cards: what a model was fitted on, what it promises, how good it is, and what nobody has shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from clearset.sets import PLACES, Fingerprint, number

if TYPE_CHECKING:
    from clearset.functions import Promise
    from clearset.models._model import Model
    from clearset.models._origin import Origin

Rows = tuple[tuple[str, str], ...]
_UNKNOWN = "not known: the file does not tell it"


@dataclass(frozen=True, repr=False)
class ModelCard:
    """What is to be known of a model before it is used; it holds no values of the data.

    Parameters
    ----------
    title : str
        The estimator that fitted it.
    sections : dict of str to rows
        A name and a text in each row, by heading.

    Examples
    --------
    >>> import clearset as cs
    >>> card = cs.SetRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0]).card()
    >>> print(card.to_markdown().splitlines()[0])
    # Model card: SetRegressor
    >>> dict(card.sections["Data"])["sets"]
    '3'
    """

    title: str
    sections: dict[str, Rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the card as JSON values."""
        described = asdict(self)
        return {**described, "sections": {name: [list(row) for row in rows] for name, rows in self.sections.items()}}

    def to_markdown(self) -> str:
        """Return the card as Markdown."""
        lines = [f"# Model card: {self.title}"]
        for heading, rows in self.sections.items():
            lines += ["", f"## {heading}", "", "| | |", "| --- | --- |"]
            lines += [f"| {_cell(name)} | {_cell(text)} |" for name, text in rows]
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        parts = [f"<h3>Model card: {escape(self.title)}</h3>"]
        for heading, rows in self.sections.items():
            told = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
            parts.append(f"<h4>{escape(heading)}</h4><table>{told}</table>")
        return "".join(parts)


def card_of_parts(whole: ModelCard, parts: Mapping[str, Model]) -> ModelCard:
    """Return the card of a model that is made of others.

    Parameters
    ----------
    whole : ModelCard
        What is to be known of the whole.
    parts : mapping of str to Model
        The others by name.

    Returns
    -------
    ModelCard
        The card of the whole, and then those of its parts.
    """
    cards = {name: card_of(part) for name, part in parts.items()}
    sections = {f"{name}: {told}": rows for name, card in cards.items() for told, rows in card.sections.items()}
    return ModelCard(whole.title, {**whole.sections, **sections})


def card_of_origin(title: str, origin: Origin, limits: Rows) -> ModelCard:
    """Return the card of a model of which only its origin is told.

    Parameters
    ----------
    title : str
        What it is called.
    origin : Origin
        Where it is from.
    limits : tuple of pairs of str
        What is not told.

    Returns
    -------
    ModelCard
        The card.
    """
    data = _data(origin.data, "the data that it was fitted on")
    notes = (("notes by its author", origin.notes or "none"),)
    return ModelCard(title, {"Model": notes, "Data": data, "Versions": _versions(origin), "Limits": limits})


def card_of(model: Model, measured: Mapping[str, Any] | None = None) -> ModelCard:
    """Return the card of a model.

    Parameters
    ----------
    model : Model
        The model.
    measured : mapping, optional
        How good it is on labelled sets, as `quality` says it.

    Returns
    -------
    ModelCard
        The card.
    """
    origin, link = model.origin, model.link
    predicts = "a number" if link.classes is None else f"{len(link.classes)} classes"
    sections = {
        "Model": (
            ("estimator", model.estimator),
            ("predicts", predicts),
            ("loss", link.loss),
            ("width", str(model.function.width)),
            ("notes by its author", origin.notes or "none"),
        ),
        "Data": _data(origin.data, "the data that it was fitted on"),
        **({"Data of the token table": _data(origin.table_data, "")} if origin.table_data else {}),
        "Features": tuple((feature.name, _declared(feature)) for feature in model.binning.features),
        "Constraints": _constraints(model),
        "Metrics": (*_training(model), *_measured(measured)),
        "Edits by hand": _edits(model),
        "Versions": _versions(origin),
        "Limits": _limits(model),
    }
    return ModelCard(model.estimator, sections)


def _data(data: Fingerprint | None, which: str) -> Rows:
    if data is None:
        return ((which, _UNKNOWN),)
    columns = tuple((column.name or "(no name)", f"{column.kind}, one for each {column.of}") for column in data.columns)
    return (("sets", f"{data.n_sets:,}"), ("tokens", f"{data.n_tokens:,}"), ("SHA-256", data.sha256), *columns)


def _versions(origin: Origin) -> Rows:
    return tuple(origin.versions.items()) or (("versions", _UNKNOWN),)


def _declared(feature: Any) -> str:
    parts = [feature.kind]
    if isinstance(feature.monotonic, str):
        parts.append(feature.monotonic)
    elif feature.monotonic:
        parts.append("ordered categories")
    if feature.shape is not None:
        parts.append(feature.shape)
    return ", ".join(parts)


def _constraints(model: Model) -> Rows:
    promises = model.certificate.promises()
    if not promises:
        return (("declared", "none"),)
    rows = ((f"{each.constraint} (of the {each.scope})", _told(each)) for each in promises)
    return (("certificate", _held(bool(model.certificate))), *rows)


def _told(promise: Promise) -> str:
    found = {"in the parameters": promise.largest("parameters"), "by probing": promise.largest("probing")}
    largest = ", ".join(f"{violation} {where}" for where, violation in found.items() if violation != "-")
    return f"{_held(promise.holds)}, largest violation {largest}"


def _held(holds: bool) -> str:
    return "holds" if holds else "does not hold"


def _training(model: Model) -> Rows:
    record = model.record
    kept = next((epoch for epoch in record.history if epoch.get("epoch") == record.best_epoch), None)
    if kept is None:
        return (("training", _UNKNOWN),)
    epochs = f"{len(record.history)}, kept {record.best_epoch}"
    rows = [("epochs", epochs), ("loss on training data", f"{kept['loss']:.6g}")]
    if record.smoothness is not None:
        rows.append(("smoothness", f"{record.smoothness:.6g}"))
    if isinstance(held := kept.get("validation_loss"), float):
        rows.append(("loss on validation data", f"{held:.6g}"))
    return tuple(rows)


def _measured(measured: Mapping[str, Any] | None) -> Rows:
    if measured is None:
        return (("on other data", "not measured; card(X, y) measures it"),)
    rows = ((f"{metric['name']} on given data", f"{number(metric['value'], 6)}") for metric in measured["metrics"])
    return (("given sets", f"{measured['n']:,}"), *rows)


def _edits(model: Model) -> Rows:
    # Tokens are values of the data, and are not told.
    kinds = Counter(" of ".join([logged.edit.kind, *_feature_of(logged.edit)]) for logged in model.edits)
    return tuple((kind, str(times)) for kind, times in kinds.items()) or (("edits", "none"),)


def _feature_of(edit: Any) -> list[str]:
    feature = getattr(edit, "feature", None)
    return [] if feature is None else [str(feature)]


def _limits(model: Model) -> Rows:
    support = model.function.support
    rows = [
        ("constraints", "they hold for every set there can be; that predictions are right does not follow from them"),
        ("beyond the data", "values outside of the range of training count as its ends, unknown categories as missing"),
        ("metrics", "those on data that the model was fitted on or chosen by are better than on new data"),
    ]
    if support is None:
        rows.append(("evidence", "what training has shown of small sets is not known"))
    else:
        alone = f"; one token alone counts {support.alone:.3g}" if support.alone is not None else ""
        few = f"sets of fewer than {support.tokens:,} tokens are drawn to the base rate{alone}"
        rows.append(("evidence", few if support.tokens > 1 or alone else "small sets count in full"))
    if not {feature.name for feature in model.binning.features}.isdisjoint(PLACES):
        rows.append(("order", "the order of tokens matters: their places in the list are features"))
    if model.edits:
        rows.append(("edits", "metrics of training are of the model before its edits"))
    return tuple(rows)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")
