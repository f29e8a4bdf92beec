"""How many examples each property is tried on."""

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, settings

WANTED = os.environ.get("CLEARSET_EXAMPLES")


def share(part: float) -> Callable[[Any], Any]:
    """Try a test on its part of all examples: 1,000, the same in every run, or as many random ones as are wanted."""
    return settings(
        max_examples=round(part * int(WANTED or 1000)),
        derandomize=WANTED is None,
        database=None if WANTED is None else settings.default.database,
        print_blob=True,
        phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
