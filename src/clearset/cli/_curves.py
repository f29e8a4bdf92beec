"""Curves as one line of text."""

from typing import Any

import numpy as np
import numpy.typing as npt

_BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: npt.NDArray[np.float64], low: float, high: float) -> str:
    """Return one bar for each value, from the lowest bar at `low` to the full bar at `high`.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.cli._curves import sparkline
    >>> sparkline(np.array([0.0, 0.5, 1.0]), 0, 1)
    '▁▅█'
    """
    share = (values - low) / (high - low) if high > low else np.zeros(len(values))
    bars = np.clip(np.floor(share * len(_BARS)), 0, len(_BARS) - 1).astype(int)
    return "".join(_BARS[bar] for bar in bars)


def calibrator_line(
    keypoints: npt.NDArray[np.float64], values: npt.NDArray[np.float64], length: int = 20
) -> str:
    """Return the curve of a numeric calibrator over its range, with the ends of the range beside it.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.cli._curves import calibrator_line
    >>> calibrator_line(np.array([1.0, 3.0, 5.0]), np.array([0.0, 0.0, 1.0]), 5)
    '1 ▁▁▁▅█ 5'
    """
    places = np.linspace(keypoints[0], keypoints[-1], length)
    return f"{keypoints[0]:g} {sparkline(np.interp(places, keypoints, values), 0, 1)} {keypoints[-1]:g}"


def keypoint_list(keypoints: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> str:
    """Return keypoints and values as ``1→0.00  5→1.00``.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.cli._curves import keypoint_list
    >>> keypoint_list(np.array([1.0, 5.0]), np.array([0.0, 1.0]))
    '1→0.00  5→1.00'
    """
    pairs: list[tuple[Any, Any]] = list(zip(keypoints, values, strict=True))
    return "  ".join(f"{keypoint:.4g}→{value:.2f}" for keypoint, value in pairs)
