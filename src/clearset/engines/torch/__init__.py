"""Set functions in torch: as a module with gradients, and as the engine that trains them."""

from clearset.engines.torch._crossed import crossed_mean, crossed_scores
from clearset.engines.torch._dispatch import available_kernels
from clearset.engines.torch._engine import TorchEngine
from clearset.engines.torch._inputs import CrossedInputs, CrossedTokens, TokenPositions
from clearset.engines.torch._losses import loss_of
from clearset.engines.torch._module import SetFunctionModule
from clearset.engines.torch._phi import phi_mean, phi_scores
from clearset.engines.torch._rho import rho
from clearset.engines.torch._sets import token_positions
from clearset.engines.torch._threads import one_torch_thread, torch_threads

__all__ = [
    "CrossedInputs",
    "CrossedTokens",
    "SetFunctionModule",
    "TokenPositions",
    "TorchEngine",
    "available_kernels",
    "crossed_mean",
    "crossed_scores",
    "loss_of",
    "one_torch_thread",
    "phi_mean",
    "phi_scores",
    "rho",
    "token_positions",
    "torch_threads",
]
