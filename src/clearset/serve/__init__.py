"""The explorer: a model's page and its JSON interface, by HTTP. It needs neither torch nor scikit-learn."""

from clearset.serve._optional_packages import check_installed

check_installed("starlette")

from clearset.serve._access_control import LOOPBACK, Access  # noqa: E402
from clearset.serve._app import create_app  # noqa: E402
from clearset.serve._comparison import check_alike  # noqa: E402
from clearset.serve._limits import Limits  # noqa: E402
from clearset.serve._request_log import log_to_stderr  # noqa: E402
from clearset.serve._run import is_loopback, listening, run  # noqa: E402
from clearset.serve._service import Service  # noqa: E402
from clearset.serve._workers import usual_number  # noqa: E402

__all__ = [
    "LOOPBACK",
    "Access",
    "Limits",
    "Service",
    "check_alike",
    "create_app",
    "is_loopback",
    "listening",
    "log_to_stderr",
    "run",
    "usual_number",
]
