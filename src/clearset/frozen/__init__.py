"""Frozen models: a score for every token, looked up and averaged, without torch."""

from clearset.frozen._estimates import estimates, say_prior
from clearset.frozen._model import FrozenModel
from clearset.frozen._rho import FrozenRho

__all__ = ["FrozenModel", "FrozenRho", "estimates", "say_prior"]
