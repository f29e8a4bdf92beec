"""Methods of fitted models that draw."""

from collections.abc import Sequence
from typing import Any

from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clearset.estimators._display import display


class DrawnTraining(BaseEstimator):  # type: ignore[misc]
    """What can be drawn of every model."""

    def plot_history(self) -> Any:
        """Draw the losses of training and validation by epoch, as a matplotlib figure."""
        return display().plot_history(self)

    def plot_quality(self, X: Any, y: Any) -> Any:
        """Draw how good predictions are, as a matplotlib figure.

        Parameters
        ----------
        X
            Sets, as for `fit`; best are some that the model was not fitted on.
        y
            Their labels.

        Returns
        -------
        matplotlib.figure.Figure
            The reliability of probabilities, or predicted against observed numbers.
        """
        return display().plot_quality(self, X, y)

    # Before a fit there is nothing to show but parameters, which scikit-learn's diagram does.

    def _repr_html_inner(self) -> str:
        if not self.__sklearn_is_fitted__():
            return str(super()._repr_html_inner())
        return str(display().model_html(self))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle


class DrawnModel(DrawnTraining):
    """What can be drawn of a model with one set function."""

    def plot_calibrators(
        self, X: Any = None, features: Sequence[str] | str | None = None, *, label: Any = None
    ) -> Any:
        """Draw what phi makes of each feature, as a matplotlib figure.

        Parameters
        ----------
        X
            Sets, as for `fit`; the distribution of their tokens is drawn behind the curves.
        features
            Names of the features to draw, all by default.
        label
            Of several classes with curves of their own, the one to draw; by default all.
        """
        return display().plot_calibrators(self, X, features, label=label)

    def plot_rho(self, X: Any = None, *, label: Any = None) -> Any:
        """Draw what rho makes of a set's mean score, as a matplotlib figure.

        Parameters
        ----------
        X
            Sets, as for `fit`; the distribution of their mean scores is drawn behind the curve.
        label
            Of several classes the one to draw, the first by default.
        """
        return display().plot_rho(self, X, label=label)

    def plot_lattice(self, x: str, y: str, X: Any = None, *, label: Any = None) -> Any:
        """Draw the score of a token as a surface over two of its features, as a matplotlib figure.

        Parameters
        ----------
        x, y
            Names of the two features. The others stand at their medians over X, or at their middle keypoints.
        X
            Sets, as for `fit`; some of their tokens are drawn as points.
        label
            Of several classes the one whose score is drawn, the first by default.
        """
        return display().plot_lattice(self, x, y, X, label=label)

    def report(
        self,
        path: Any,
        X: Any = None,
        y: Any = None,
        *,
        names: Sequence[str | None] | None = None,
        title: str | None = None,
    ) -> None:
        """Write one HTML file that shows the model and evaluates it in the browser; it needs nothing else.

        Parameters
        ----------
        path
            Where to, such as ``report.html``; an existing file is replaced only once the new one is complete.
        X
            Sets, as for `fit`: the report shows how their values are distributed, and has some of them to begin with.
        y
            Their labels: the report says how good the model is on them. Best are sets that it was not fitted on.
        names
            What to call each of the sets, such as the products whose reviews they are; None: by their rows.
        title
            What stands above it, such as "Sales of puzzles"; None: the estimator's name.
        """
        check_is_fitted(self)
        display().write_report(self, path, X, y, names=names, title=title)
