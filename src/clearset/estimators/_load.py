"""From a file to an estimator."""

from os import PathLike
from typing import Any

from clearset.artifact import ArtifactError, read_artifact
from clearset.estimators._classifier import SetClassifier
from clearset.estimators._persistence import KIND, restore_estimator
from clearset.estimators._regressor import SetRegressor
from clearset.estimators.semantic import SemanticClassifier, SemanticFeatureEngine, SemanticRegressor
from clearset.estimators.semantic._storage import KIND as SEMANTIC_KIND
from clearset.estimators.semantic._storage import restore_semantic

_SETS: dict[str, type] = {"SetClassifier": SetClassifier, "SetRegressor": SetRegressor}
_SEMANTIC: dict[str, type] = {
    "SemanticClassifier": SemanticClassifier,
    "SemanticFeatureEngine": SemanticFeatureEngine,
    "SemanticRegressor": SemanticRegressor,
}


def load(path: str | PathLike[str], tokens: Any = None, filters: Any = None) -> Any:
    """Read a model that `save` wrote; no code from the file is run.

    Parameters
    ----------
    path
        The artifact.
    tokens
        One's own tokeniser, or `NGrams` with one's own function, if the model was fitted with one: files hold no code.
    filters
        The filters, if own functions were among them and the token table is to be made anew.

    Returns
    -------
    SetRegressor, SetClassifier, SemanticFeatureEngine, SemanticClassifier or SemanticRegressor
        As it was fitted: same parameters, same predictions.

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
        return restore_semantic(artifact, _SEMANTIC, path, tokens, filters)
    if artifact.kind != KIND:
        raise ArtifactError(
            f"{path} holds a {artifact.kind!r}, which this version of clearset does not know. Upgrade clearset."
        )
    if tokens is not None or filters is not None:
        raise ValueError(f"{path} holds a model without a token table. Leave tokens and filters out.")
    return restore_estimator(artifact, _SETS, path)
