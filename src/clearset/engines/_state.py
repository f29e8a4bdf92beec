"""The state of a training as arrays by name: copied out, and put back."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

State = dict[str, npt.NDArray[Any]]
"""What steps have changed of a training: arrays by name, of types that an artifact holds."""


def copy_state(live: Mapping[str, npt.NDArray[Any]]) -> State:
    """Return copies of the arrays that a trainer works with.

    Parameters
    ----------
    live : mapping of str to ndarray
        The arrays, by name.

    Returns
    -------
    dict of str to ndarray
        Their copies.
    """
    return {name: np.array(array) for name, array in live.items()}


def put_back(live: Mapping[str, npt.NDArray[Any]], state: Mapping[str, npt.NDArray[Any]]) -> None:
    """Replace what the arrays hold that a trainer works with; raise a ValueError, and replace nothing, if one differs.

    Parameters
    ----------
    live : mapping of str to ndarray
        The arrays, by name.
    state : mapping of str to ndarray
        What they are to hold, by the same names.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.engines._state import copy_state, put_back
    >>> live = {"step": np.array([3])}
    >>> state = copy_state(live)
    >>> live["step"] += 1
    >>> put_back(live, state)
    >>> live
    {'step': array([3])}
    """
    if live.keys() != state.keys():
        odd = sorted(live.keys() ^ state.keys())
        raise ValueError(f"The state is one of another training: {odd} are in one of them only.")
    for name, array in live.items():
        if array.shape != state[name].shape or array.dtype != state[name].dtype:
            raise ValueError(
                f"The state is one of another training: {name!r} has the shape {state[name].shape} and type "
                f"{state[name].dtype}; this training has {array.shape} and {array.dtype}."
            )
    for name, array in live.items():
        array[...] = state[name]
