"""Labels and weights of examples that come in batches."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clearset.sets import Labels, join_classes, read_labels, read_weights
from clearset.tokens._codes import BoolArray, Float64, Int32
from clearset.tokens._counting import full_classes, prior_contributions, prior_from_sums
from clearset.tokens._exact_sums import ExactSums, Extent, sums_by_channel
from clearset.tokens._mining import contributions_of
from clearset.tokens._scratch import ScratchArray

_ROWS_AT_ONCE = 1 << 20
