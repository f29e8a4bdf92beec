"""From a loaded model back to the estimator that fitted it."""

from collections.abc import Mapping
from typing import Any

from clearset.estimators._feature_engine import SemanticFeatureEngine
from clearset.estimators._joint_model import JointModel
from clearset.estimators._parameter_rules import check_parameters, is_auto
from clearset.estimators._semantic_predictors import SemanticClassifier, SemanticRegressor
from clearset.estimators._set_predictors import SetClassifier, SetRegressor
from clearset.models import FittedJointModel, SemanticModel, SetModel

_ESTIMATORS: dict[str, Any] = {
    cls.__name__: cls
    for cls in (SetClassifier, SetRegressor, SemanticClassifier, SemanticFeatureEngine, SemanticRegressor, JointModel)
}


def as_estimator(model: SetModel | SemanticModel | FittedJointModel) -> Any:
    """Return the scikit-learn estimator that a model was fitted by, fitted and with the same parameters.

    Parameters
    ----------
    model : SetModel, SemanticModel or FittedJointModel
        The model, such as `clearset.load` returns one.

    Returns
    -------
    SetRegressor, SetClassifier, SemanticFeatureEngine, SemanticClassifier, SemanticRegressor or JointModel
        The estimator: it can be cloned, fitted again, refreshed, or be part of a pipeline.

    Examples
    --------
    >>> import clearset as cs
    >>> fitted = cs.SetRegressor(epochs=20, random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> again = cs.as_estimator(fitted.as_model())
    >>> again.epochs, bool((again.predict([[0.5]]) == fitted.predict([[0.5]])).all())
    (20, True)
    """
    if isinstance(model, FittedJointModel):
        return _joint_model(model)
    estimator = _unfitted(model.estimator, model.parameters)
    estimator.model_ = model
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(estimator, name, getattr(model, name))
    return estimator


def _unfitted(name: str, parameters: Mapping[str, Any]) -> Any:
    """Return an estimator with parameters, which are checked."""
    kind = _ESTIMATORS[name]
    unknown = sorted(set(parameters) - set(kind._get_param_names()))
    if unknown:
        raise ValueError(
            f"{name} has no parameters {unknown}, with which the model was fitted. Upgrade clearset, or fit the model "
            "again."
        )
    estimator = kind(**parameters)
    check_parameters(estimator.get_params(deep=False), estimator._rules)
    return estimator


def _joint_model(model: FittedJointModel) -> JointModel:
    declared, follow_on = model.parameters, model.parameters["follow_on"]
    parts = dict(declared)
    if not is_auto(engines := declared["engines"]):
        parts["engines"] = {column: _unfitted("SemanticFeatureEngine", part) for column, part in engines.items()}
    if not is_auto(follow_on):
        parts["follow_on"] = _unfitted(follow_on["estimator"], follow_on["parameters"])
    estimator: JointModel = _unfitted("JointModel", parts)
    estimator.engines_ = {column: as_estimator(engine) for column, engine in model.engines.items()}
    estimator.follow_on_, estimator.model_ = as_estimator(model.follow_on), model
    return estimator
