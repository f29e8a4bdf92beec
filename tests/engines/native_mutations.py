"""What an argument of a good call may be replaced by: near to it, far from it, and nothing like it."""

import itertools

import numpy as np
import pyarrow as pa

from .native_arguments import Made, Prepared, given, misaligned

INTEGERS = (
    *(-(2**63) - 1, -(2**63), -(2**31) - 1, -(2**31), -2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 64),
    *(255, 256, 257, 1023, 2**16, 2**31 - 1, 2**31, 2**32, 2**44, 2**60, 2**62, 2**63 - 1, 2**63, 2**64, 10**40),
)
NUMBERS = (
    *(0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 1e-9, 1e9, 2.0**31, 2.0**53, 2.0**63, 1e30, 1e300, -1e300, 1.8e308, 5e-324),
    *(float("nan"), float("inf"), -float("inf")),
)
WORDS = (
    *("", "squared_error", "absolute_error", "quantile", "poisson", "log_loss", "hinge", "binary_log_loss", "LOG_LOSS"),
    *("a\0b", "ä" * 40, "\ud800"),
)
OTHERS = (None, True, 0, -1, 1.5, "1", b"1", (), [], {}, object(), len, np.float64(1), np.zeros(3), range(3), slice(1))
TYPES = (
    *("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c16", "?", "O", "U2", "V4"),
    *(">i4", ">i8", ">f8", "M8[s]"),
)


def pick(rng, options):
    return options[rng.integers(len(options))]


def other_contents(array, rng):
    """Put numbers that may not belong there into some places."""
    flat = array.reshape(-1)
    if flat.size == 0:
        return array
    if rng.random() < 0.3:
        change = pick(rng, (np.sort, rng.permutation, np.flip, np.zeros_like, lambda numbers: numbers // 2))
        return change(flat).reshape(array.shape)
    places = rng.integers(flat.size, size=rng.integers(1, 4))
    if rng.random() < 0.2:
        places = slice(None)
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        near = (int(flat.max()) + 1, int(flat.min()) - 1, len(flat), len(flat) + 1, len(flat) - 1)
        number = int(pick(rng, (*INTEGERS, *near, *near)))
        flat[places] = min(max(number, limits.min), limits.max)
    else:
        with np.errstate(all="ignore"):
            flat[places] = pick(rng, NUMBERS)
    return array


def other_shape(array, rng):
    axis = rng.integers(max(array.ndim, 1))
    extent = array.shape[axis] if array.ndim else 0
    options = [
        lambda: array[None],
        lambda: array[..., None],
        lambda: array.reshape(-1),
        lambda: array.T.copy(),
        lambda: np.array(0, array.dtype),
        lambda: np.zeros(tuple(0 for _ in array.shape), array.dtype),
    ]
    if array.ndim:
        lengths = (0, 1, extent - 1, extent + 1, 2 * extent, extent // 2, 1000)
        keep = np.arange(max(pick(rng, lengths), 0))
        # Twice as likely as others: the right type, and another length.
        change = lambda: np.take(array, keep % max(extent, 1), axis) if extent else array  # noqa: E731
        options += [change] * 6
    return pick(rng, options)()


def other_memory(array, rng):
    """The same numbers, elsewhere or otherwise in memory."""
    if array.ndim == 0:
        return array
    frozen = array.copy()
    frozen.flags.writeable = False
    options = [
        lambda: np.asfortranarray(array),
        lambda: np.repeat(array, 2, axis=-1)[..., ::2],
        lambda: array[::-1],
        lambda: np.broadcast_to(array[:1], array.shape) if len(array) else array,
        lambda: frozen,
        lambda: misaligned(array),
        lambda: array.tolist(),
        lambda: np.ma.masked_array(array),
        lambda: memoryview(array),
        lambda: array.astype(array.dtype.newbyteorder()),
    ]
    return pick(rng, options)()


def other_array(array, rng):
    if rng.random() < 0.1:
        with np.errstate(all="ignore"):
            try:
                return array.astype(pick(rng, TYPES))
            except (TypeError, ValueError):
                return array
    change = pick(rng, (other_contents, other_contents, other_contents, other_shape, other_shape, other_memory))
    return change(array, rng)


def other_list(values, rng):
    at = rng.integers(len(values)) if values else 0
    options = [
        lambda: values[:at] + values[at + 1 :],
        lambda: values + values[at : at + 1],
        lambda: values * 20,
        *[lambda: [*values[:at], mutated(values[at], rng) if values else None, *values[at + 1 :]]] * 2,
        lambda: [*values[:at], pick(rng, OTHERS)],
        lambda: tuple(values),
        lambda: iter(values),
        lambda: [values],
    ]
    return pick(rng, options)()


def other_arguments(arguments, rng, least=1):
    """Change some of the arguments of a call, most often one."""
    names = [name for name in arguments if name != "self"]
    if not names:
        return dict(arguments)
    count = min(len(names), max(least, int(rng.geometric(0.6))))
    return {**arguments, **{name: mutated(arguments[name], rng) for name in rng.choice(names, count, replace=False)}}


def other_batch(rng):
    """Return the capsules of a record batch, as Arrow itself would hand it over, or with offsets that are wrong."""
    values = pa.array([1.0, 2.0, None][: rng.integers(4)], pick(rng, (pa.float64(), pa.float32(), pa.int64())))
    ends = np.sort(rng.integers(0, 4, 4)).astype(np.int32)
    if rng.random() < 0.5:
        ends = np.asarray(other_contents(ends, rng), np.int32)
    lists = pa.ListArray.from_buffers(pa.list_(values.type), 3, [None, pa.py_buffer(ends)], children=[values])
    columns = [
        lists,
        lists[rng.integers(3) :],
        pa.array([[1.0], None, []]),
        pa.array([[[1.0]], [], []]),
        pa.array([1.0, 2.0, 3.0]),
        pa.array([[1.0], [], [2.0]], pa.large_list(pa.float64())),
        pa.array(["a", "b", "a"]).dictionary_encode(),
    ]
    chosen = [pick(rng, columns) for _ in range(rng.integers(3))]
    rows = min((len(column) for column in chosen), default=0)
    batch = pa.RecordBatch.from_arrays([column[:rows] for column in chosen], [str(i) for i in range(len(chosen))])
    return batch.slice(rng.integers(3)).__arrow_c_array__()


def mutated(value, rng):
    """Return something else in the place of an argument."""
    if rng.random() < 0.06:
        return pick(rng, OTHERS)
    if isinstance(value, np.ndarray):
        return other_array(value.copy(), rng)
    if isinstance(value, Prepared):
        return prepared_otherwise(value, rng)
    if isinstance(value, Made) and value.name.endswith(".state"):
        return other_state(value, rng)
    if isinstance(value, Made):
        return value._replace(arguments=other_arguments(value.arguments, rng))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return int(pick(rng, (*INTEGERS, value + 1, value - 1, 2 * value)))
    if isinstance(value, float):
        return pick(rng, (*NUMBERS, -value, 2 * value))
    if isinstance(value, str):
        return pick(rng, WORDS)
    if isinstance(value, list):
        return other_list(value, rng)
    return pick(rng, OTHERS)


def other_method(one, rng):
    """Change the object of a method, now and then."""
    if rng.random() < 0.02:
        return pick(rng, OTHERS)
    return mutated(one, rng) if rng.random() < 0.3 else one


def other_state(made, rng):
    """Return the arrays of a training with one of them changed, left out or added."""
    state = given(made)
    name = pick(rng, list(state))
    state[name] = mutated(state[name], rng)
    if rng.random() < 0.2:
        state.pop(name)
    if rng.random() < 0.1:
        state[pick(rng, (1, "", "more", "step"))] = np.zeros(1)
    return state


def prepared_otherwise(one, rng):
    """Change how an object was made, or what was done with it before."""
    if not one.calls or rng.random() < 0.3:
        return one._replace(arguments=other_arguments(one.arguments, rng))
    at = rng.integers(len(one.calls))
    name, arguments = one.calls[at]
    changed = ((), ((name, other_arguments(arguments, rng)),), one.calls[at : at + 1] * 2)[rng.integers(3)]
    return one._replace(calls=tuple(itertools.chain(one.calls[:at], changed, one.calls[at + 1 :])))
