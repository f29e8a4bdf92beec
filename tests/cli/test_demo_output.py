import numpy as np

from clearset.cli._demo_output import sparkline


def test_bars_follow_the_values() -> None:
    values = np.linspace(0, 1, 50)
    bars = sparkline(values, 0, 1)
    assert len(bars) == 50
    assert list(bars) == sorted(bars)
    assert set(bars) == set("▁▂▃▄▅▆▇█")


def test_flat_and_outside() -> None:
    assert sparkline(np.array([2.0, 2.0]), 2, 2) == "▁▁"
    assert sparkline(np.array([-9.0, 9.0]), 0, 1) == "▁█"
