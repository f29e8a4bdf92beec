"""ONNX graphs, written as formulas."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import onnx

Operand: TypeAlias = "Value | float | int | npt.NDArray[Any]"

OPSET, ML_OPSET, IR_VERSION = 17, 2, 8
"""The oldest that have all operators used; ONNX Runtime reads them since 1.12."""

# Protocol buffers cannot be larger.
_LARGEST = 2**31 - 1


def check_installed() -> None:
    """Raise an ImportError that says how to install onnx where it is missing."""
    if find_spec("onnx") is None:
        raise ImportError("Writing ONNX needs onnx, which is not installed. Run: pip install 'clearset[onnx]'")


class Graph:
    """A graph that grows node by node; see `Value`."""

    def __init__(self) -> None:
        check_installed()
        import onnx

        self._onnx = onnx
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[Any, str] = {}
        self._initializers: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, dtype: npt.DTypeLike, shape: Sequence[int | str], doc: str) -> Value:
        """Declare an input; strings in its shape name sizes that are not known yet."""
        self._inputs.append(self._declared(name, dtype, shape, doc))
        return Value(self, name)

    def output(self, name: str, value: Value, dtype: npt.DTypeLike, shape: Sequence[int | str], doc: str) -> None:
        """Declare a value as an output."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [value.name], [name]))
        self._outputs.append(self._declared(name, dtype, shape, doc))

    def constant(self, array: npt.ArrayLike) -> Value:
        """Return a constant; equal small ones are kept once."""
        array = np.asarray(array)
        key = (
            (array.dtype.str, array.shape, array.tobytes()) if 0 < array.size < 100 and array.dtype != object else None
        )
        if key in self._constants:
            return Value(self, self._constants[key])
        name = f"_c{len(self._initializers)}"
        self._initializers.append(self._tensor(array, name))
        if key is not None:
            self._constants[key] = name
        return Value(self, name)

    def add(self, operator: str, *inputs: Operand, domain: str = "", **attributes: Any) -> Value:
        """Apply an operator."""
        return self.add_several(operator, 1, *inputs, domain=domain, **attributes)[0]

    def add_several(
        self, operator: str, n: int, *inputs: Operand, domain: str = "", **attributes: Any
    ) -> tuple[Value, ...]:
        """Apply an operator that has n outputs."""
        given = [self.value(each).name for each in inputs]
        names = [f"_v{len(self._nodes)}_{place}" for place in range(n)]
        self._nodes.append(self._onnx.helper.make_node(operator, given, names, domain=domain, **attributes))
        return tuple(Value(self, name) for name in names)

    def value(self, operand: Operand) -> Value:
        """Return an operand as a value of this graph."""
        return operand if isinstance(operand, Value) else self.constant(operand)

    def model(self, name: str, doc: str, version: str, metadata: dict[str, str]) -> onnx.ModelProto:
        """Return the model, checked."""
        helper, nodes, used = self._onnx.helper, [], {output.name for output in self._outputs}
        # Formulas may have parts that nobody asked for.
        for node in reversed(self._nodes):
            if not used.isdisjoint(node.output):
                nodes.append(node)
                used.update(node.input)
        constants = [each for each in self._initializers if each.name in used]
        graph = helper.make_graph(nodes[::-1], name, self._inputs, self._outputs, initializer=constants, doc_string=doc)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
            ir_version=IR_VERSION,
            producer_name="clearset",
            producer_version=version,
            doc_string=doc,
        )
        helper.set_model_props(model, metadata)
        if model.ByteSize() > _LARGEST:
            raise ValueError(
                f"The model takes {model.ByteSize() / 1e9:.1f} GB as ONNX, which allows 2. Fit with a higher MinCount, "
                "so that there are fewer tokens, or keep the model as save() writes it."
            )
        self._onnx.checker.check_model(model, full_check=True)
        return model

    def _declared(self, name: str, dtype: npt.DTypeLike, shape: Sequence[int | str], doc: str) -> onnx.ValueInfoProto:
        return self._onnx.helper.make_tensor_value_info(name, self._type_of(np.dtype(dtype)), list(shape), doc)

    def _type_of(self, dtype: np.dtype[Any]) -> int:
        if dtype.kind in "OU":
            return int(self._onnx.TensorProto.STRING)
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(dtype))

    def _tensor(self, array: npt.NDArray[Any], name: str) -> onnx.TensorProto:
        if array.dtype.kind in "OU":
            texts = [str(text).encode() for text in array.ravel().tolist()]
            return self._onnx.helper.make_tensor(name, self._onnx.TensorProto.STRING, array.shape, texts)
        return self._onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)


class Value:
    """A value of a graph; formulas of values add the nodes that calculate them.

    Constants must have the data type of what they are calculated with: floats beside doubles, ints beside integers.
    """

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    def _with(self, operator: str, *others: Operand, **attributes: Any) -> Value:
        return self.graph.add(operator, self, *others, **attributes)

    def _after(self, operator: str, other: Operand) -> Value:
        return self.graph.add(operator, other, self)

    def __add__(self, other: Operand) -> Value:
        return self._with("Add", other)

    def __radd__(self, other: Operand) -> Value:
        return self._after("Add", other)

    def __sub__(self, other: Operand) -> Value:
        return self._with("Sub", other)

    def __rsub__(self, other: Operand) -> Value:
        return self._after("Sub", other)

    def __mul__(self, other: Operand) -> Value:
        return self._with("Mul", other)

    def __rmul__(self, other: Operand) -> Value:
        return self._after("Mul", other)

    def __truediv__(self, other: Operand) -> Value:
        return self._with("Div", other)

    def __rtruediv__(self, other: Operand) -> Value:
        return self._after("Div", other)

    def __floordiv__(self, other: Operand) -> Value:
        """Divide integers that are not negative."""
        return self._with("Div", other)

    def __mod__(self, other: Operand) -> Value:
        return self._with("Mod", other)

    def __matmul__(self, other: Operand) -> Value:
        return self._with("MatMul", other)

    def __rmatmul__(self, other: Operand) -> Value:
        return self._after("MatMul", other)

    # Numpy would take constants on the left apart, element by element.
    __array_ufunc__ = None

    def __neg__(self) -> Value:
        return self._with("Neg")

    def __gt__(self, other: Any) -> Value:
        return self._with("Greater", other)

    def __lt__(self, other: Any) -> Value:
        return self._with("Less", other)

    def __ge__(self, other: Any) -> Value:
        return self._with("GreaterOrEqual", other)

    def __le__(self, other: Any) -> Value:
        return self._with("LessOrEqual", other)

    def __and__(self, other: Operand) -> Value:
        return self._with("And", other)

    def __invert__(self) -> Value:
        return self._with("Not")

    def equals(self, other: Operand) -> Value:
        """Compare."""
        return self._with("Equal", other)

    def apply(self, operator: str, *others: Operand, **attributes: Any) -> Value:
        """Apply an operator with one output by its name."""
        return self._with(operator, *others, **attributes)

    def where(self, then: Operand, otherwise: Operand) -> Value:
        """Choose where the value, a condition, is true, and elsewhere."""
        return self._with("Where", then, otherwise)

    def clip(self, low: Operand, high: Operand) -> Value:
        """Bring into a range."""
        return self._with("Clip", low, high)

    def gather(self, places: Operand, axis: int = 0) -> Value:
        """Take entries of an axis; many places may be given, whose shape takes that of the axis."""
        return self._with("Gather", places, axis=axis)

    def kept(self, condition: Value, axis: int = 0) -> Value:
        """Keep entries of an axis."""
        return self._with("Compress", condition, axis=axis)

    def total(self, *axes: int, keep: bool = False) -> Value:
        """Add axes up."""
        return self._with("ReduceSum", np.array(axes, np.int64), keepdims=int(keep))

    def largest(self, axis: int, *, keep: bool = False) -> Value:
        """Return the largest along an axis."""
        return self._with("ReduceMax", axes=[axis], keepdims=int(keep))

    def axes_added(self, *axes: int) -> Value:
        """Add axes of one entry."""
        return self._with("Unsqueeze", np.array(axes, np.int64))

    def axes_dropped(self, *axes: int) -> Value:
        """Drop axes of one entry."""
        return self._with("Squeeze", np.array(axes, np.int64))

    def reshaped(self, *shape: Value | int) -> Value:
        """Change the shape; sizes are ints, or arrays of one entry."""
        return self._with("Reshape", self._joined_sizes(shape), allowzero=1)

    def expanded(self, *shape: Value | int) -> Value:
        """Repeat to a shape; sizes are ints, or arrays of one entry or several."""
        return self._with("Expand", self._joined_sizes(shape))

    def _joined_sizes(self, shape: Sequence[Value | int]) -> Value:
        sizes = [np.array([each], np.int64) if isinstance(each, int) else each for each in shape]
        return self.graph.add("Concat", *sizes, axis=0)

    def slice(self, start: int, stop: int, axis: int = 0) -> Value:
        """Take a range of an axis."""
        given = (np.array([number], np.int64) for number in (start, stop, axis))
        return self._with("Slice", *given)

    def joined(self, *others: Operand, axis: int = 0) -> Value:
        """Put values one after the other."""
        return self._with("Concat", *others, axis=axis)

    def cast(self, dtype: npt.DTypeLike) -> Value:
        """Change the data type."""
        return self._with("Cast", to=self.graph._type_of(np.dtype(dtype)))

    def running_total(self) -> Value:
        """Add up from the first on."""
        return self._with("CumSum", np.array(0, np.int64))

    def shape(self, start: int = 0, end: int | None = None) -> Value:
        """Return the sizes of a range of axes."""
        return self._with("Shape", start=start, end=end)

    def numbers(self) -> Value:
        """Count from 0 up to below this value, an array of one entry."""
        zero, one = np.array(0, np.int64), np.array(1, np.int64)
        return self.graph.add("Range", zero, self.axes_dropped(0), one)

    def looked_up(self, keys: Sequence[Any], values: Sequence[int]) -> Value:
        """Return an integer for each known key, strings or integers, and -1 for others."""
        if not len(keys):
            return self.graph.constant(-1).expanded(self.shape())
        kind = "strings" if isinstance(keys[0], str) else "int64s"
        given: dict[str, Any] = {f"keys_{kind}": list(keys), "values_int64s": list(values), "default_int64": -1}
        return self.graph.add("LabelEncoder", self, domain="ai.onnx.ml", **given)
