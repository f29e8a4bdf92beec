"""Runs an application until it is stopped."""

import errno
import ipaddress
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from clearset.serve._optional_packages import check_installed

_SECONDS_TO_END = 3


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine only.

    Parameters
    ----------
    host : str
        An address or a name.

    Returns
    -------
    bool
        Whether it is such an address; False for names other than ``"localhost"``.
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def run(app: Any, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve an application until Ctrl-C.

    Parameters
    ----------
    app : ASGI application
        From `create_app`.
    host : str
        The address to listen at.
    port : int
        The port to listen at; 0 for any free port.
    ready : callable
        Is called with the URL of the server once it accepts connections.
    """
    check_installed("uvicorn")
    import uvicorn

    with listening(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listener.getsockname()[1]}/")
        config = uvicorn.Config(
            app,
            log_level="critical",  # the application itself logs failures
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=_SECONDS_TO_END,
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def listening(host: str, port: int) -> socket.socket:
    """Open a socket; raise a ValueError with a sentence if that is not possible.

    Parameters
    ----------
    host, port : str and int
        The address and the port, as for `run`.

    Returns
    -------
    socket
        The socket, which accepts connections.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, OverflowError, UnicodeError) as error:
        raise ValueError(f"'{host}' port {port} is no address to listen at: {error}.") from error
    listener = socket.socket(family, kind)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise ValueError(
                f"Port {port} of {host} is in use by another program. Choose another with --port."
            ) from error
        raise ValueError(f"Cannot listen at {host}, port {port}: {error.strerror}.") from error
    return listener
