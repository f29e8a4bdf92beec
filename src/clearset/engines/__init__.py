"""Who computes: engines apply set functions to sets and train them, all by one contract."""

from clearset.engines._engine import Engine, available_engines, engine
from clearset.engines._joint_problem import Estimate, JointPart, JointProblem
from clearset.engines._problem import Problem, Refinement, Schedule, Trainer, TrainingSets

__all__ = [
    "Engine",
    "Estimate",
    "JointPart",
    "JointProblem",
    "Problem",
    "Refinement",
    "Schedule",
    "Trainer",
    "TrainingSets",
    "available_engines",
    "engine",
]
