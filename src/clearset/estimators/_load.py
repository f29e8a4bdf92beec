"""From a file to an estimator."""

from os import PathLike
from typing import Any

from clearset.artifact import ArtifactError, read_artifact
from clearset.estimators._classifier import SetClassifier
from clearset.estimators._persistence import KIND, restore_estimator
from clearset.estimators._regressor import SetRegressor


def load(path: str | PathLike[str]) -> Any:
    """Read a model that `save` wrote; no code from the file is run.

    Parameters
    ----------
    path
        The artifact.

    Returns
    -------
    SetRegressor or SetClassifier
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
    if artifact.kind != KIND:
        raise ArtifactError(
            f"{path} holds a {artifact.kind!r}, which this version of clearset does not know. Upgrade clearset."
        )
    return restore_estimator(artifact, {"SetClassifier": SetClassifier, "SetRegressor": SetRegressor}, path)
