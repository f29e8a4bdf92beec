"""Models for other places than Python: files that score the same."""

from clearset.export._onnx_values import ValueModel, write_value_onnx
from clearset.export._runtime_files import write_item_runtime, write_value_runtime

__all__ = ["ValueModel", "write_item_runtime", "write_value_onnx", "write_value_runtime"]
