"""Set functions on NVIDIA GPUs, by kernels in CUDA C++ that are compiled when they are first needed."""

from clearset.engines.cuda._engine import CudaEngine, is_available

__all__ = ["CudaEngine", "is_available"]
