"""Models to compare set functions with: averages, Deep Sets, networks on categories, support distributions."""

from clearset.baselines._averaged import (
    AveragedDNNClassifier,
    AveragedDNNRegressor,
    AveragedLinearClassifier,
    AveragedLinearRegressor,
)
from clearset.baselines._deep_sets import DeepSetsClassifier, DeepSetsRegressor
from clearset.baselines._multi_hot import MultiHotDNNClassifier, MultiHotDNNRegressor, MultiHotEncoder
from clearset.baselines._support import SupportDistributionClassifier, SupportDistributionRegressor

__all__ = [
    "AveragedDNNClassifier",
    "AveragedDNNRegressor",
    "AveragedLinearClassifier",
    "AveragedLinearRegressor",
    "DeepSetsClassifier",
    "DeepSetsRegressor",
    "MultiHotDNNClassifier",
    "MultiHotDNNRegressor",
    "MultiHotEncoder",
    "SupportDistributionClassifier",
    "SupportDistributionRegressor",
]
