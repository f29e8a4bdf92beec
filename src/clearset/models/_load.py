"""From a file to a model."""

from os import PathLike
from typing import Any

from clearset.artifact import ArtifactError, read_artifact
from clearset.models._semantic_model import SemanticModel
from clearset.models._semantic_storage import KIND as SEMANTIC_KIND
from clearset.models._semantic_storage import restore_semantic_model
from clearset.models._set_model import SetModel
from clearset.models._set_storage import KIND, restore_set_model


def load(path: str | PathLike[str], tokens: Any = None, filters: Any = None) -> SetModel | SemanticModel:
    """Read a model that `save` wrote; no code from the file is run, and neither torch nor scikit-learn is needed.

    Parameters
    ----------
    path : path-like
        The artifact.
    tokens : object, optional
        One's own tokenizer, or `NGrams` with one's own function, if the model was fitted with one: files hold no code.
    filters : object, optional
        The filters, if own functions were among them and the token table is to be made anew.

    Returns
    -------
    SetModel or SemanticModel
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
    """
    artifact = read_artifact(path)
    if artifact.kind == SEMANTIC_KIND:
        return restore_semantic_model(artifact, path, SemanticModel, tokens, filters)
    if artifact.kind != KIND:
        raise ArtifactError(
            f"{path} holds a {artifact.kind!r}, which this version of clearset does not know. Upgrade clearset."
        )
    if tokens is not None or filters is not None:
        raise ValueError(f"{path} holds a model without a token table. Leave tokens and filters out.")
    return restore_set_model(artifact, path, SetModel)
