"""From a loaded model back to the estimator that fitted it."""

from typing import Any

import numpy as np

from clearset.estimators._feature_engine import SemanticFeatureEngine
from clearset.estimators._parameter_rules import check_parameters
from clearset.estimators._semantic_predictors import SemanticClassifier, SemanticRegressor
from clearset.estimators._set_predictors import SetClassifier, SetRegressor
from clearset.models import SemanticModel, SetModel

_ESTIMATORS: dict[str, Any] = {
    cls.__name__: cls
    for cls in (SetClassifier, SetRegressor, SemanticClassifier, SemanticFeatureEngine, SemanticRegressor)
}


def as_estimator(model: SetModel | SemanticModel) -> Any:
    """Return the scikit-learn estimator that a model was fitted by, fitted and with the same parameters.

    Parameters
    ----------
    model : SetModel or SemanticModel
        The model, such as `clearset.load` returns one.

    Returns
    -------
    SetRegressor, SetClassifier, SemanticFeatureEngine, SemanticClassifier or SemanticRegressor
        The estimator: it can be cloned, fitted again, refreshed, or be part of a pipeline.

    Examples
    --------
    >>> import clearset as cs
    >>> fitted = cs.SetRegressor(epochs=20, random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> again = cs.as_estimator(fitted.as_model())
    >>> again.epochs, bool((again.predict([[0.5]]) == fitted.predict([[0.5]])).all())
    (20, True)
    """
    kind = _ESTIMATORS[model.estimator]
    unknown = sorted(set(model.parameters) - set(kind._get_param_names()))
    if unknown:
        raise ValueError(
            f"{model.estimator} has no parameters {unknown}, with which the model was fitted. Upgrade clearset, or fit "
            "the model again."
        )
    estimator = kind(**model.parameters)
    check_parameters(estimator.get_params(deep=False), estimator._rules)
    estimator.model_ = model
    if isinstance(model, SetModel):
        estimator.n_features_in_ = model.n_features_in
    if model.feature_names_in is not None:
        estimator.feature_names_in_ = np.array(model.feature_names_in, dtype=object)
    return estimator
