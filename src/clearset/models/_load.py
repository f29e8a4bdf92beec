"""From a file to a model."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import pyarrow as pa

from clearset.artifact import Artifact, ArtifactError, read_artifact
from clearset.files import Key, brief
from clearset.models._joint_model import FittedJointModel
from clearset.models._joint_storage import JOINT_KIND, by_column, check_joint_parts, joint_artifacts, joint_model_parts
from clearset.models._semantic_model import SemanticModel
from clearset.models._semantic_storage import SEMANTIC_KIND, OtherCodeError, check_table, semantic_model_parts
from clearset.models._set_model import SetModel
from clearset.models._set_storage import SET_KIND, set_model_parts
from clearset.models.edits._log import with_true_certificate

# What content of a wrong form leads to, when something is made of it.
_UNMAKEABLE = (
    LookupError, TypeError, ValueError, ArithmeticError, RuntimeError, AttributeError,
    OSError, MemoryError, pa.ArrowException,
)  # fmt: skip


def load(
    path: str | PathLike[str], tokens: Any = None, filters: Any = None, *, key: Key | None = None
) -> SetModel | SemanticModel | FittedJointModel:
    """Read a model that `save` wrote; no code from the file is run, and neither torch nor scikit-learn is needed.

    Parameters
    ----------
    path : path-like
        The artifact.
    tokens : object, optional
        One's own tokenizer, or `NGrams` with one's own function, if the model was fitted with one: files hold no code.
        For a joint model a dict, by the columns of its engines.
    filters : object, optional
        The filters, if own functions were among them and the token table is to be made anew. For a joint model a dict,
        by the columns of its engines.
    key : bytes, Ed25519PublicKey or Ed25519PrivateKey, optional
        The key that the file must be signed with, at least 32 bytes or a key of the package ``cryptography``: a file
        that is not signed with it, or was changed since, is refused before anything of it is read. Without a key a
        signature is not looked at; checksums find damage, but anybody can make them right.

    Returns
    -------
    SetModel, SemanticModel or FittedJointModel
        The model as it was fitted, with the same predictions. To fit it again, or to use it where scikit-learn wants an
        estimator, see `clearset.as_estimator`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import clearset as cs
    >>> model = cs.SetRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder) / "model.clearset")
    ...     again = cs.load(pathlib.Path(folder) / "model.clearset")
    >>> bool((again.predict([[0.5]]) == model.predict([[0.5]])).all())
    True

    A model that is signed, for whoever has the key:

    >>> import secrets
    >>> key = secrets.token_bytes(32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder) / "model.clearset", key=key)
    ...     again = cs.load(pathlib.Path(folder) / "model.clearset", key=key)
    """
    artifact = read_artifact(path, key)
    if artifact.kind not in (SET_KIND, SEMANTIC_KIND, JOINT_KIND):
        raise ArtifactError(
            f"{path} holds a {brief(repr(artifact.kind))}, which this version of clearset does not know. Upgrade "
            "clearset."
        )
    if artifact.kind == SET_KIND and not (tokens is None and filters is None):
        raise ValueError(f"{path} holds a model without a token table. Leave tokens and filters out.")
    if artifact.kind == JOINT_KIND and not all(each is None or isinstance(each, Mapping) for each in (tokens, filters)):
        raise ValueError(
            f"{path} holds a joint model. Give tokens and filters as dicts, by the columns of its engines."
        )
    try:
        if artifact.kind == SET_KIND:
            return _set_model(artifact)
        if artifact.kind == SEMANTIC_KIND:
            return _semantic_model(artifact, tokens, filters)
        return _joint_model(artifact, tokens, filters)
    except OtherCodeError as error:
        raise ArtifactError(f"Cannot load '{path}': {brief(error)}") from None
    except _UNMAKEABLE as error:
        raise ArtifactError(
            f"{path} is complete but does not describe a model this version of clearset can make ({brief(error)}). "
            "Load it with the version that wrote it, or fit the model again."
        ) from error


def _set_model(artifact: Artifact) -> SetModel:
    model = SetModel(**set_model_parts(artifact))
    return with_true_certificate(model, model.certificate)


def _semantic_model(artifact: Artifact, tokens: Any, filters: Any) -> SemanticModel:
    model = SemanticModel(**semantic_model_parts(artifact, tokens, filters))
    check_table(model)
    return with_true_certificate(model, model.certificate)


def _joint_model(artifact: Artifact, tokens: Any, filters: Any) -> FittedJointModel:
    parts, follow_on = joint_artifacts(artifact)
    tokens, filters = by_column(tokens, parts), by_column(filters, parts)
    engines = {column: _semantic_model(part, tokens.get(column), filters.get(column)) for column, part in parts.items()}
    further = joint_model_parts(artifact, tokens, filters)
    model = FittedJointModel(engines, _set_model(follow_on), **further)
    check_joint_parts(model)
    return model
