"""What the estimators over sets of strings and texts have in common."""

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clearset.estimators._base import TokenScores
from clearset.estimators._curves import CalibratorCurve, calibrator_curves
from clearset.estimators._input import check_weights
from clearset.estimators._parameters import count_threads, make_rng
from clearset.estimators._progress import progress_bar
from clearset.estimators.semantic._choose import choose, smallest_tokens
from clearset.estimators.semantic._crossing import Crossing
from clearset.estimators.semantic._details import read_details
from clearset.estimators.semantic._explain import SemanticExplanation, explain, phi
from clearset.estimators.semantic._fit import outputs_of
from clearset.estimators.semantic._frozen import freeze
from clearset.estimators.semantic._parameters import (
    check_details,
    check_features,
    check_parameters,
    check_trust_list,
)
from clearset.estimators.semantic._rows import TokenRows
from clearset.estimators.semantic._setting import Setting
from clearset.estimators.semantic._sources import (
    Rows,
    Sources,
    column_names,
    count_examples,
    deal,
    hold_out,
    read_groups,
)
from clearset.estimators.semantic._storage import save_semantic
from clearset.estimators.semantic._trial import Plan, Trial, build_table, occurrences, try_setting
from clearset.frozen import FrozenModel
from clearset.setfunction import (
    CROSSED_LOSSES,
    REGRESSION_LOSSES,
    Certificate,
    Loss,
    RefinedSetFunction,
    SetFunction,
    ShapeConstraints,
    certify,
)
from clearset.sets import Binning, Feature, Trust
from clearset.tokens import MinCount, TokenTable, as_tokeniser, read_labels
from clearset.tokens._filters import Filter, check_filters

# The largest tokens that are tried where none are named.
LARGEST_TRIED = 3
# Training examples by which settings are chosen, at most; the one chosen is then trained on all.
MOST_TO_CHOOSE_BY = 12_000


class SemanticEstimator(BaseEstimator):  # type: ignore[misc]
    """A token table, and a set function that aggregates what it knows of an example's tokens."""

    _task: ClassVar[Literal["auto", "classes", "number"]] = "auto"

    token_table_: TokenTable
    set_function_: SetFunction
    binning_: Binning
    features_: tuple[Feature, ...]
    trusts_: tuple[Trust, ...]
    setting_: Setting
    choices_: list[dict[str, Any]]
    certificate_: Certificate
    classes_: npt.NDArray[Any]
    feature_names_in_: npt.NDArray[Any]
    loss_: str
    history_: list[dict[str, float]]
    best_epoch_: int
    interrupted_: bool

    def __init__(
        self,
        tokens: Any = None,
        filters: Any = None,
        cross_fit: int | None = 5,
        width: int | None = None,
        *,
        cover: bool | None = None,
        refine: bool | int | None = None,
        features: Sequence[str | Feature] | None = None,
        details: Sequence[str] = (),
        trusts: Sequence[Trust] = (),
        shrinkage: float = 1.0,
        keypoints: int = 10,
        rho_keypoints: int = 20,
        loss: str | None = None,
        optimizer: str = "adam",
        constraints: str = "project",
        smoothness: float = 100.0,
        learning_rate: float = 0.02,
        epochs: int = 60,
        batch_size: int | Literal["auto"] = "auto",
        validation_fraction: float | None = None,
        early_stopping: bool = True,
        patience: int = 15,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.tokens = tokens
        self.filters = filters
        self.cross_fit = cross_fit
        self.width = width
        self.cover = cover
        self.refine = refine
        self.features = features
        self.details = details
        self.trusts = trusts
        self.shrinkage = shrinkage
        self.keypoints = keypoints
        self.rho_keypoints = rho_keypoints
        self.loss = loss
        self.optimizer = optimizer
        self.constraints = constraints
        self.smoothness = smoothness
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.early_stopping = early_stopping
        self.patience = patience
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # Fitting

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        token_X: Any = None,
        token_y: Any = None,
        validation_data: tuple[Any, Any] | None = None,
    ) -> Self:
        """Make the token table and train the set function.

        Parameters
        ----------
        X
            Examples: a column of lists of strings, of texts or of categories, two columns for `Cross` and `Difference`,
            or plain Python lists of these.
        y
            One label for each.
        sample_weight
            One weight for each.
        groups
            One group for each, such as a customer: examples of one group share a fold, and validation.
        token_X, token_y
            Other examples, with labels of their own, to make the token table of. There are no folds then.
        validation_data
            ``(X, y)`` to choose epoch and setting by, in place of a share of the examples.
        """
        self._fit(X, y, sample_weight, groups, token_X, token_y, validation_data)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        token_X: Any = None,
        token_y: Any = None,
        validation_data: Any = None,
    ) -> tuple[Trial, npt.NDArray[np.int64]]:
        """Fit, and give the trial that was kept and the order in which it holds the rows of X."""
        options = self.get_params(deep=False)
        check_parameters(options, (*CROSSED_LOSSES, *REGRESSION_LOSSES))
        rng = make_rng(self.random_state)
        rows = self._read(X, y, sample_weight, reset=True)
        table = self._table_of(token_X, token_y)
        plan = self._plan(table)
        kept = np.flatnonzero(rows.weights)
        rows, members = rows.take(kept), read_groups(groups, len(rows), kept)
        sources, order = self._sources(rows, members, plan, validation_data, rng)
        trial, losses = self._choose(plan, sources, rng)
        self._keep(trial, losses)
        self.__dict__.pop("feature_names_in_", None)
        if (names := column_names(X)) is not None:
            self.feature_names_in_ = names
        if len(order) > trial.n_training and not self.interrupted_:
            # What was held back, or left out while choosing, can now be learned from as well.
            if validation_data is None:
                sources, order = self._dealt(rows, members, plan, rng), np.arange(len(rows))
            with progress_bar({**options, "restarts": 1}) as on_epoch:
                last = try_setting(
                    trial.setting, plan, sources, rng, stops=trial.fitted.stops, on_epoch=on_epoch
                )
            if last.fitted.progress.interrupted:
                self._warn_of_interrupt()
                order = order[:0]
            else:
                trial = last
                self._keep_parts(trial)
        self.certificate_ = self.verify()
        if not self.certificate_:
            raise RuntimeError(
                f"The fitted model breaks a declared constraint, which is a bug.\n{self.certificate_}"
            )
        return trial, kept[order]

    def _read(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        """Check labels and weights; ``reset`` where they say which classes there are."""
        n = count_examples(X)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        task = self._task
        if task == "auto" and self.loss is not None:
            task = "number" if self.loss in REGRESSION_LOSSES else "classes"
        labels = read_labels(y, n, task if reset else ("classes" if self._has_classes() else "number"))
        weights = check_weights(sample_weight, n)
        if reset:
            self.__dict__.pop("classes_", None)
            if labels.classes is not None:
                if len(labels.classes) < 2:
                    raise ValueError(
                        f"{type(self).__name__} needs at least two classes; y holds one class only, "
                        f"{labels.classes.tolist()[0]!r}."
                    )
                if labels.classes.dtype.kind == "f" and (labels.classes % 1 != 0).any():
                    raise ValueError(
                        f"Unknown label type: continuous. {type(self).__name__} tells classes apart, but y holds "
                        f"numbers with fractions (such as {labels.classes[labels.classes % 1 != 0][0]:g}). Use "
                        "SemanticRegressor, or a loss for numbers."
                    )
                self.classes_ = labels.classes
            self._check_loss(labels.classes)
        if self.loss_ == "poisson":
            counted = labels.values[weights > 0]
            if (counted < 0).any() or (reset and not counted.any()):
                raise ValueError(
                    f"loss='poisson' needs labels of at least 0, not all of them 0; received {counted.min():g} to "
                    f"{counted.max():g}. Choose another loss."
                )
        return Rows.of(X, labels, weights, self.classes_ if self._has_classes() else None)

    def _check_loss(self, classes: npt.NDArray[Any] | None) -> None:
        allowed = REGRESSION_LOSSES if classes is None else CROSSED_LOSSES
        self.loss_ = self.loss or allowed[0]
        if self.loss_ not in allowed:
            what = "numbers" if classes is None else "classes"
            raise ValueError(
                f"loss={self.loss!r} does not fit labels that are {what}; choose among {allowed}."
            )

    def _has_classes(self) -> bool:
        return hasattr(self, "classes_")

    def _plan(self, table: TokenTable | None) -> Plan:
        options = self.get_params(deep=False)
        details, trusts = check_details(self.details), check_trust_list(self.trusts)
        return Plan(
            classes=self.classes_ if self._has_classes() else None,
            table=table,
            features=check_features(self.features, details, trusts),
            trusts=trusts,
            details=details,
            loss=Loss(self.loss_),
            options=options,
            shrinkage=float(self.shrinkage),
            threads=count_threads(self.n_jobs),
        )

    def _table_of(self, token_X: Any, token_y: Any) -> TokenTable | None:
        """Make the table of other examples, where there are some."""
        if token_X is None and token_y is None:
            return None
        if token_X is None or token_y is None:
            raise ValueError("token_X and token_y belong together; one of them is None.")
        tokens = smallest_tokens(token_X) if self.tokens is None else as_tokeniser(self.tokens)
        filters = self._filters((MinCount(2),))
        table = TokenTable.build(token_X, token_y, tokens, filters, threads=count_threads(self.n_jobs))
        several = table.classes is not None and len(table.classes) > 2
        wanted = self._has_classes() and len(self.classes_) > 2
        if (several or wanted) and not (
            several and wanted and table.classes is not None and np.array_equal(table.classes, self.classes_)
        ):
            raise ValueError(
                "Where y or token_y has more than two classes, both must have the same ones: a class is estimated by "
                "what the tokens say of it."
            )
        return table

    def _filters(self, default: tuple[Filter, ...]) -> tuple[Filter, ...]:
        return default if self.filters is None else check_filters(self.filters)

    def _sources(
        self,
        rows: Rows,
        groups: npt.NDArray[Any] | None,
        plan: Plan,
        validation_data: Any,
        rng: np.random.Generator,
    ) -> tuple[Sources, npt.NDArray[np.int64]]:
        """Split the examples; also give their order, training first."""
        training, validation = np.arange(len(rows)), np.arange(0)
        held: Rows | None = None
        n_folds = 0 if plan.table is not None else min(int(self.cross_fit or 0), len(rows))
        if groups is not None and len(np.unique(groups)) < n_folds:
            raise ValueError(
                f"groups has {len(np.unique(groups))} distinct values, but cross_fit={n_folds} needs so many."
            )
        if validation_data is not None:
            if not isinstance(validation_data, tuple | list) or len(validation_data) != 2:
                raise TypeError(
                    f"validation_data is a pair (X, y); received {type(validation_data).__name__}. Pass both."
                )
            held = self._read(validation_data[0], validation_data[1], None, reset=False)
        elif self.early_stopping:
            stratify = plan.classes is not None
            training, validation = hold_out(
                rows.labels, groups, self.validation_fraction, rng, stratify=stratify
            )
            held = rows.take(validation) if len(validation) else None
        order = np.concatenate([training, validation])
        if len(validation):
            rows, groups = rows.take(training), None if groups is None else groups[training]
        return replace(self._dealt(rows, groups, plan, rng), validation=held), order

    def _dealt(
        self, rows: Rows, groups: npt.NDArray[Any] | None, plan: Plan, rng: np.random.Generator
    ) -> Sources:
        """Deal the training examples to folds, where the table is made of them."""
        n_folds = min(int(self.cross_fit or 0), len(rows))
        if plan.table is not None or n_folds < 2:
            return Sources(rows, None, None, 0)
        if groups is not None:
            # Validation may have taken some. Examples of a single group that is left are dealt one by one.
            n_groups = len(np.unique(groups))
            n_folds, groups = (min(n_folds, n_groups), groups) if n_groups > 1 else (n_folds, None)
        return Sources(rows, None, deal(groups, len(rows), n_folds, rng), n_folds)

    def _choose(
        self, plan: Plan, sources: Sources, rng: np.random.Generator
    ) -> tuple[Trial, list[tuple[Setting, float]]]:
        """Try the settings that the parameters leave open."""
        given = self.tokens is not None or plan.table is not None
        if plan.table is not None:
            tokens, filters = plan.table.tokeniser, plan.table.filters
        else:
            tokens = (
                as_tokeniser(self.tokens)
                if given
                else smallest_tokens(read_details(sources.training.X, plan.details)[0])
            )
            filters = self._filters(() if given else (MinCount(2),))
        refine = 0 if self.refine is None else int(self.refine)
        cover = given if self.cover is None else bool(self.cover)
        first = Setting(tokens, filters, cover, self.width or 1, refine)
        free = {"refine"} if self.refine is None else set()
        if not given:
            free |= {"tokens"}
            free |= {name for name in ("filters", "cover", "width") if getattr(self, name) is None}
        if sources.validation is None:
            free = set()
        else:
            free.add("pull")
            sources = sources.sampled(MOST_TO_CHOOSE_BY, rng) if len(free) > 1 else sources
        seeds = rng.integers(2**31 - 1, size=2)

        def attempt(setting: Setting, start: Trial | None) -> Trial:
            # All settings start from the same seed, so that they differ by themselves and not by chance.
            generator = np.random.default_rng(seeds)
            with progress_bar({**self.get_params(deep=False), "restarts": 1}) as on_epoch:
                return try_setting(setting, plan, sources, generator, start=start, on_epoch=on_epoch)

        trial, losses = choose(first, free=frozenset(free), largest=LARGEST_TRIED, attempt=attempt)
        if self.verbose and len(losses) > 1:
            print(f"chose {trial.setting}", file=sys.stderr)
        return trial, losses

    def _keep(self, trial: Trial, losses: list[tuple[Setting, float]]) -> None:
        progress = trial.fitted.progress
        self._keep_parts(trial)
        self.setting_ = trial.setting
        self.choices_ = [{"setting": str(setting), "validation_loss": loss} for setting, loss in losses]
        self.features_, self.trusts_ = trial.features, tuple(self.trusts)
        self.history_, self.best_epoch_ = progress.history, progress.best_epoch
        self.interrupted_ = progress.interrupted
        if self.interrupted_:
            self._warn_of_interrupt()

    def _warn_of_interrupt(self) -> None:
        self.interrupted_ = True
        warnings.warn("Training was interrupted. The best model so far is kept.", stacklevel=4)

    def _keep_parts(self, trial: Trial) -> None:
        self.token_table_, self.binning_ = trial.table, trial.fitted.binning
        model = trial.fitted.model
        self.set_function_ = SetFunction(model.phi, model.rho)

    # Using

    def _outputs(self, X: Any) -> npt.NDArray[np.float64]:
        """Give the set function's ``(B, C)`` outputs."""
        check_is_fitted(self)
        threads = count_threads(self.n_jobs)
        found = occurrences(self.token_table_, (), self.setting_.cover, X, None, tuple(self.details), threads)
        crossing, model = self._reader()
        return outputs_of(model, crossing.cross(found), threads)

    def _reader(self) -> tuple[Crossing, SetFunction]:
        """Give the table as the set function reads it, laid out once for each pair of the two."""
        cached = self.__dict__.get("_cache")
        if cached is None or cached[0] is not self.token_table_ or cached[1] is not self.set_function_:
            table, model = self.token_table_, self.set_function_
            names = [feature.name for feature in self.features_]
            rows = TokenRows.of(table, (), names, float(self.shrinkage))
            corrections = table.corrections
            corrected = np.full(len(table), -1, np.int32)
            if corrections is not None:
                corrected = corrections.places(len(table))
                model = RefinedSetFunction(model.phi, model.rho, torch.from_numpy(corrections.amounts.copy()))
            cached = (table, self.set_function_, Crossing(self.binning_, rows, corrected, np.float64), model)
            self._cache = cached
        return cached[2], cached[3]

    def explain(self, X: Any, label: Any = None) -> SemanticExplanation:
        """Say what is known of each token of each set, and what it adds to the prediction.

        Parameters
        ----------
        X
            Examples, as for `fit`.
        label
            Of several classes the one to explain; None takes each example's predicted class. The scores of two
            classes always speak for the second.
        """
        return explain(self, X, label)

    def phi(self, X: Any) -> TokenScores:
        """Score every token; the mean over an example's tokens is what rho turns into the output.

        Parameters
        ----------
        X
            Examples, as for `fit`.
        """
        return phi(self, X)

    def freeze(self) -> FrozenModel:
        """Store phi of every token, so that sets can be scored by looking tokens up, without torch.

        Only where phi needs nothing but the token's own features: without ``whole``, ``items``, ``tokens`` and details.
        """
        return freeze(self)

    def calibrators(self) -> dict[str, CalibratorCurve]:
        """Give the curves of phi's calibrators, by feature."""
        check_is_fitted(self)
        return calibrator_curves(self.binning_, self.set_function_)

    def verify(self) -> Certificate:
        """Check every declared constraint, in the parameters and by probing."""
        check_is_fitted(self)
        model = self.set_function_
        shape = ShapeConstraints.of(model, self.binning_, self.trusts_)
        return certify(model, shape, self.binning_, self.trusts_)

    # Parts on their own

    def refresh_table(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Make the token table anew from other examples; the set function and learned corrections stay.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`; where the table was made of ``token_X`` and ``token_y``, as these.
        """
        check_is_fitted(self)
        table, n = self.token_table_, count_examples(X)
        labels = read_labels(y, n, table.task)
        rows = Rows.of(X, labels, check_weights(sample_weight, n), table.classes)
        rows = rows.take(np.flatnonzero(rows.weights))
        plan = replace(self._plan(None), classes=table.classes)
        self.token_table_ = build_table(self.setting_, rows, plan).carrying(table)
        return self

    def refit_set_function(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Train the set function anew, on examples that did not help to make the token table; the table stays.

        Parameters
        ----------
        X, y, sample_weight, groups
            As for `fit`. The table's means are taken as they are: examples that are in it would be told their own
            labels.
        """
        check_is_fitted(self)
        rng = make_rng(self.random_state)
        rows = self._read(X, y, sample_weight, reset=False)
        plan = self._plan(replace(self.token_table_, corrections=None))
        kept = np.flatnonzero(rows.weights)
        sources, _ = self._sources(rows.take(kept), read_groups(groups, len(rows), kept), plan, None, rng)
        trial = try_setting(self.setting_, plan, sources, np.random.default_rng(rng.integers(2**31)))
        self._keep(trial, [(trial.setting, trial.loss)])
        self.certificate_ = self.verify()
        return self

    def save(self, path: Any) -> None:
        """Write the model to one file that holds no code and no examples; `clearset.load` reads it.

        The token table goes in as Parquet: tokens, counts and mean labels, but not the rows it was made of. A loaded
        model estimates as before, and takes `refresh_table` and `refit_set_function`.

        Parameters
        ----------
        path
            Where to; an existing file is replaced only once the new one is complete.
        """
        check_is_fitted(self)
        save_semantic(self, path)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "set_function_")

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_cache"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags
