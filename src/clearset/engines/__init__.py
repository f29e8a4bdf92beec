"""Who computes: engines apply set functions to sets and train them, all by one contract."""

from clearset.engines._engine import Engine, available_engines, engine, engine_on
from clearset.engines._joint_problem import Estimate, JointPart, JointProblem
from clearset.engines._problem import (
    CROSSED_BLOCK_TOKENS,
    MOST_LANES,
    Lanes,
    Problem,
    Refinement,
    ResumableTrainer,
    Schedule,
    Share,
    Trainer,
    TrainingSets,
)
from clearset.engines._processes import OneProcess, Processes, processes, several_processes, started_by_torchrun
from clearset.engines._state import State

__all__ = [
    "CROSSED_BLOCK_TOKENS",
    "MOST_LANES",
    "Engine",
    "Estimate",
    "JointPart",
    "JointProblem",
    "Lanes",
    "OneProcess",
    "Problem",
    "Processes",
    "Refinement",
    "ResumableTrainer",
    "Schedule",
    "Share",
    "State",
    "Trainer",
    "TrainingSets",
    "available_engines",
    "engine",
    "engine_on",
    "processes",
    "several_processes",
    "started_by_torchrun",
]
