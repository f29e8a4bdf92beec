"""Sets as data: declared features, readers of frames and arrays, labels, keypoints and positions."""

from ._arranged_sets import ArrangedSets
from ._arrow_columns import combined, decode, is_list, is_number, is_string, unnest
from ._binning import Binning, ValueColumn
from ._built_in import BUILT_IN, PLACE, PLACE_FROM_START, PLACES, SIZE
from ._categories import Category, places_of_codes, sorted_categories
from ._columns_as_arrow import holds_lists, is_frame, library_of, name_columns
from ._exact_words import exact_words
from ._examples import column_names, count_examples, take_examples
from ._features import Feature, feature_columns
from ._file_rows import FileRows
from ._fingerprint import DataColumn, Fingerprint, digest, fingerprint_of, in_one_form
from ._from_long import NotConstantError, from_long
from ._json_numbers import entries, number, numbers
from ._keypoints import choose_keypoints
from ._labels import (
    Labels,
    Task,
    check_numbers,
    check_size,
    check_weights,
    class_places,
    has_missing,
    join_classes,
    label_column,
    numbers_of_objects,
    one_column,
    read_labels,
    read_weights,
)
from ._memory import memory_limit
from ._named_labels import labels_of, named_labels
from ._observed import Observed
from ._offsets import IntArray, gather, offsets_from_sizes, runs, runs_of_sets
from ._packed import PackedSets, SetPacker
from ._positions import CrossedBlocks, CrossedPositions, Positions
from ._read_sets import read_more_sets, read_sets
from ._record_batches import decoded_bytes
from ._resolve_features import resolve_features
from ._scratch import ScratchArray
from ._set_data import SetData
from ._set_stream import SetSource, SetStream
from ._short_repr import short_repr
from ._spark_frames import is_spark_frame, lazy_frame_error
from ._stored_classes import read_classes
from ._stream import Stream, as_stream, refuse_files, tables_within
from ._threads import check_threads, count_threads
from ._trust import Trust, check_trusts
from ._unknown_names import unknown_name

__all__ = [
    "BUILT_IN",
    "PLACE",
    "PLACES",
    "PLACE_FROM_START",
    "SIZE",
    "ArrangedSets",
    "Binning",
    "Category",
    "CrossedBlocks",
    "CrossedPositions",
    "DataColumn",
    "Feature",
    "FileRows",
    "Fingerprint",
    "IntArray",
    "Labels",
    "NotConstantError",
    "Observed",
    "PackedSets",
    "Positions",
    "ScratchArray",
    "SetData",
    "SetPacker",
    "SetSource",
    "SetStream",
    "Stream",
    "Task",
    "Trust",
    "ValueColumn",
    "as_stream",
    "check_numbers",
    "check_size",
    "check_threads",
    "check_trusts",
    "check_weights",
    "choose_keypoints",
    "class_places",
    "column_names",
    "combined",
    "count_examples",
    "count_threads",
    "decode",
    "decoded_bytes",
    "digest",
    "entries",
    "exact_words",
    "feature_columns",
    "fingerprint_of",
    "from_long",
    "gather",
    "has_missing",
    "holds_lists",
    "in_one_form",
    "is_frame",
    "is_list",
    "is_number",
    "is_spark_frame",
    "is_string",
    "join_classes",
    "label_column",
    "labels_of",
    "lazy_frame_error",
    "library_of",
    "memory_limit",
    "name_columns",
    "named_labels",
    "number",
    "numbers",
    "numbers_of_objects",
    "offsets_from_sizes",
    "one_column",
    "places_of_codes",
    "read_classes",
    "read_labels",
    "read_more_sets",
    "read_sets",
    "read_weights",
    "refuse_files",
    "resolve_features",
    "runs",
    "runs_of_sets",
    "short_repr",
    "sorted_categories",
    "tables_within",
    "take_examples",
    "unknown_name",
    "unnest",
]
