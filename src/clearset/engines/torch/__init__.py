"""Set functions in plain torch: a module with gradients on any device, and the engine that others are compared with."""

from clearset.engines.torch._engine import TorchEngine
from clearset.engines.torch._losses import loss_of
from clearset.engines.torch._module import SetFunctionModule
from clearset.engines.torch._processes import TorchProcesses
from clearset.engines.torch._threads import torch_threads
from clearset.engines.torch._tokens import CrossedTokens, TokenPositions, as_tensors

__all__ = [
    "CrossedTokens",
    "SetFunctionModule",
    "TokenPositions",
    "TorchEngine",
    "TorchProcesses",
    "as_tensors",
    "loss_of",
    "torch_threads",
]
