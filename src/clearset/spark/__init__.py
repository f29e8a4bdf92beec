"""Models on Spark: predictions, estimates and explanations of a DataFrame's rows, and fits on them.

An extra, ``pip install 'clearset[spark]'``, which needs Java 17; clearset has to be installed where the executors run.
Token tables are counted on Spark by `TokenTable.build`.
"""

from clearset.spark._apply import explain, predict, predict_proba, transform
from clearset.spark._fit import fit

__all__ = ["explain", "fit", "predict", "predict_proba", "transform"]
