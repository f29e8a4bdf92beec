"""Settings of all property tests: no time limits, since machines are shared, and in CI the same examples every time."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "clearset", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("clearset")
