"""Sets of strings by which categories they hold: as a sparse matrix, and as the input of a network."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from torch import nn

from clearset.baselines._baseline import Float64, PredictsClasses, PredictsNumbers
from clearset.baselines._categories import Categories
from clearset.baselines._network_estimator import DType, NetworkEstimator
from clearset.baselines._network_inputs import RaggedInput
from clearset.baselines._networks import MultiHot
from clearset.estimators import OneOf, Rule, Whole, check_parameters, inherited_docs
from clearset.sets import count_examples, count_threads, take_examples


class _ReadsStrings(BaseEstimator):  # type: ignore[misc]
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


class MultiHotEncoder(TransformerMixin, _ReadsStrings):  # type: ignore[misc]
    """Turn sets of strings, or texts, into a sparse matrix of 0 and 1: which categories each of them holds.

    With it, any estimator of scikit-learn that takes sparse matrices can be fitted on the sets that
    `SemanticClassifier` takes. Categories that `fit` has not seen are ignored.

    Parameters
    ----------
    tokens : tokenizer or "auto", default="auto"
        What the categories are, such as `NGrams`. ``"auto"`` is the items of lists and the words of texts.
    min_count : int, default=1
        The smallest number of examples of `fit` that hold a category.

    Attributes
    ----------
    categories_ : Categories
        The categories, in the order of the columns.

    Examples
    --------
    >>> from clearset.baselines import MultiHotEncoder
    >>> encoder = MultiHotEncoder().fit([["salt", "lime"], ["salt", "feta"]])
    >>> encoder.get_feature_names_out().tolist()
    ['feta', 'lime', 'salt']
    >>> encoder.transform([["salt", "lime", "tofu"], []]).toarray()
    array([[0., 1., 1.],
           [0., 0., 0.]])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"min_count": Whole(1)}

    categories_: Categories

    def __init__(self, tokens: Any = "auto", *, min_count: int = 1) -> None:
        self.tokens = tokens
        self.min_count = min_count

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Collect the categories.

        Parameters
        ----------
        X
            Examples: a column of lists of strings, of texts or of categories, two columns for `Cross` and `Difference`,
            or plain Python lists of these.
        y
            Ignored.

        Returns
        -------
        self
            The fitted encoder.
        """
        check_parameters(self.get_params(deep=False), self._rules)
        count_examples(X)
        self.categories_ = Categories.fit(X, self.tokens, self.min_count)
        return self

    def transform(self, X: Any) -> csr_matrix:
        """Return which categories each example holds.

        Parameters
        ----------
        X
            Examples, as for `fit`.

        Returns
        -------
        csr_matrix of shape (n, categories)
            1 where an example holds a category, else 0.
        """
        check_is_fitted(self)
        n = count_examples(X)
        places, offsets = self.categories_.find(X)
        return csr_matrix((np.ones(len(places)), places, offsets), shape=(n, len(self.categories_)))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:  # noqa: ARG002
        """Return the names of the categories, in the order of the columns.

        Parameters
        ----------
        input_features
            Ignored.

        Returns
        -------
        ndarray of str
            The names.
        """
        check_is_fitted(self)
        return self.categories_.names


@dataclass(eq=False, repr=False)
class _MultiHotDNN(_ReadsStrings, NetworkEstimator):
    """A network on an embedding of categories.

    Parameters
    ----------
    tokens : tokenizer or "auto"
        What the categories are, such as `NGrams`. ``"auto"`` is the items of lists and the words of texts.
    width : int
        The number of units of each hidden layer.
    embedding : int
        The dimension of the embedding.
    combiner : {"sum", "mean"}
        How the embeddings of an example's categories are combined. Their sum tells how many categories there are.
    hidden_layers : int
        The number of hidden layers, with ReLU.
    min_count : int
        The smallest number of training examples that hold a category.

    Attributes
    ----------
    categories_ : Categories
        The categories; each has a row of ``network_.embedding``.
    """

    _rules = NetworkEstimator._rules | {
        "width": Whole(1),
        "embedding": Whole(1),
        "combiner": OneOf(("sum", "mean")),
        "hidden_layers": Whole(1),
        "min_count": Whole(1),
    }

    tokens: Any = "auto"
    width: int = 64
    _: KW_ONLY
    embedding: int = 32
    combiner: str = "sum"
    hidden_layers: int = 2
    min_count: int = 1
    epochs: int = 50
    patience: int = 10

    def _read(self, X: Any, *, reset: bool) -> Any:  # noqa: ARG002
        count_examples(X)
        return X

    def _learn_encoding(self, read: Any, weights: Float64) -> int:
        some = read if weights.all() else take_examples(read, np.flatnonzero(weights))
        threads = count_threads(self.n_jobs)
        self.categories_ = Categories.fit(some, self.tokens, self.min_count, threads)
        if not len(self.categories_):
            raise ValueError(
                f"No category is held by min_count={self.min_count} or more examples, so that there is nothing to "
                "learn from. Lower min_count, or look at X."
            )
        places, _ = self.categories_.find(some, threads)
        return len(places) * self.embedding

    def _encoded(self, read: Any, dtype: DType) -> RaggedInput:  # noqa: ARG002
        return RaggedInput(*self.categories_.find(read, count_threads(self.n_jobs)))

    def _network(self, generator: torch.Generator) -> nn.Module:
        return MultiHot(
            len(self.categories_),
            self.embedding,
            self.combiner,
            self.width,
            self.hidden_layers,
            self._link.n_outputs,
            generator,
        )


@inherited_docs
class MultiHotDNNRegressor(PredictsNumbers, _MultiHotDNN):
    """Predict a number from sets of strings, or texts, by a network on an embedding of their categories.

    An example is the sum (or mean) of the embeddings of its categories. Categories that `fit` has not seen are ignored,
    and an example without any is a vector of zeros. X is what `SemanticRegressor` takes.

    Examples
    --------
    >>> from clearset.baselines import MultiHotDNNRegressor
    >>> wines = [["oak", "ripe"], ["thin"], ["ripe"], ["thin", "oak"]] * 10
    >>> model = MultiHotDNNRegressor(random_state=0).fit(wines, [92.5, 83.0, 91.0, 86.0] * 10)
    >>> prediction = model.predict([["ripe"], ["thin", "unheard of"]])
    >>> bool(prediction[0] > prediction[1])
    True
    """


@inherited_docs
class MultiHotDNNClassifier(PredictsClasses, _MultiHotDNN):
    """Predict a class of sets of strings, or texts, by a network on an embedding of their categories.

    Examples
    --------
    >>> from clearset.baselines import MultiHotDNNClassifier
    >>> recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
    >>> model = MultiHotDNNClassifier(random_state=0).fit(recipes, ["thai", "greek", "thai", "greek"] * 10)
    >>> model.predict([["lime"], ["feta", "salt"]]).tolist()
    ['thai', 'greek']
    """
