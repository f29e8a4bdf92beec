"""Models to compare set functions with: averages, Deep Sets, networks on categories, support distributions."""

from clearset.baselines._averaged import (
    AveragedDNNClassifier,
    AveragedDNNRegressor,
    AveragedLinearClassifier,
    AveragedLinearRegressor,
)
from clearset.baselines._deep_sets import DeepSetsClassifier, DeepSetsRegressor
from clearset.baselines._encoding import Encoding
from clearset.baselines._multi_hot import MultiHotDNNClassifier, MultiHotDNNRegressor, MultiHotEncoder
from clearset.baselines._support_distributions import SupportDistributionClassifier, SupportDistributionRegressor

__all__ = [
    "AveragedDNNClassifier",
    "AveragedDNNRegressor",
    "AveragedLinearClassifier",
    "AveragedLinearRegressor",
    "DeepSetsClassifier",
    "DeepSetsRegressor",
    "Encoding",
    "MultiHotDNNClassifier",
    "MultiHotDNNRegressor",
    "MultiHotEncoder",
    "SupportDistributionClassifier",
    "SupportDistributionRegressor",
]
