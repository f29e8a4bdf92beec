"""How set functions are trained: initial values, schedules, early stopping, refinement, and the choice of a setting."""

from clearset.training._asked_smoothness import asked_smoothness
from clearset.training._checkpoint import checkpointed, continued
from clearset.training._choose_setting import (
    are_phrases,
    are_phrases_in_files,
    choose,
    for_more_examples,
    larger_tokens,
    smallest_tokens,
)
from clearset.training._epochs import Progress, run_epochs
from clearset.training._examples import LabelledExamples, Sources, read_groups
from clearset.training._first_corrections import first_corrections
from clearset.training._first_look import FirstLook
from clearset.training._first_shapes import with_first_shapes
from clearset.training._fit_semantic import Learning, filters_of, tokens_of
from clearset.training._fit_sets import FittedSets, SetTask, fit_set_function
from clearset.training._fitting import Fitting, Unit, count_sets
from clearset.training._initial import initial_crossed_set_function, initial_set_function, leanings
from clearset.training._initial_tokens import beginnings
from clearset.training._joint import JointSets, Part, train_jointly
from clearset.training._lattice_sizes import asked_sizes, choose_sizes, free_features
from clearset.training._lattices import choose_layout
from clearset.training._looks import count_tokens
from clearset.training._missing import fill_missing, fill_missing_crossed
from clearset.training._nothing import expected_of_nothing
from clearset.training._one_thread import on_one_thread
from clearset.training._options import Options, choose_batch_size, choose_epochs
from clearset.training._pair_strengths import pair_strengths
from clearset.training._prepared import DOUBLE_PRECISION_VALUES, SET_BYTES, LabelledSets
from clearset.training._progress import progress_bar
from clearset.training._split import SMALLEST_VALIDATION, deal, hold_out
from clearset.training._support import base_means
from clearset.training._try_setting import PIECES, Plan, Trial, build_table

__all__ = [
    "DOUBLE_PRECISION_VALUES",
    "PIECES",
    "SET_BYTES",
    "SMALLEST_VALIDATION",
    "FirstLook",
    "FittedSets",
    "Fitting",
    "JointSets",
    "LabelledExamples",
    "LabelledSets",
    "Learning",
    "Options",
    "Part",
    "Plan",
    "Progress",
    "SetTask",
    "Sources",
    "Trial",
    "Unit",
    "are_phrases",
    "are_phrases_in_files",
    "asked_sizes",
    "asked_smoothness",
    "base_means",
    "beginnings",
    "build_table",
    "checkpointed",
    "choose",
    "choose_batch_size",
    "choose_epochs",
    "choose_layout",
    "choose_sizes",
    "continued",
    "count_sets",
    "count_tokens",
    "deal",
    "expected_of_nothing",
    "fill_missing",
    "fill_missing_crossed",
    "filters_of",
    "first_corrections",
    "fit_set_function",
    "for_more_examples",
    "free_features",
    "hold_out",
    "initial_crossed_set_function",
    "initial_set_function",
    "larger_tokens",
    "leanings",
    "on_one_thread",
    "pair_strengths",
    "progress_bar",
    "read_groups",
    "run_epochs",
    "smallest_tokens",
    "tokens_of",
    "train_jointly",
    "with_first_shapes",
]
