"""Runs an application until it is told to stop."""

import errno
import ipaddress
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from clearset.serve._extras import check_installed

_SECONDS_TO_END = 3


def is_loopback(host: str) -> bool:
    """Tell whether an address is of this machine only."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def run(app: Any, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve an application until Ctrl-C.

    Parameters
    ----------
    app
        From `create_app`.
    host, port
        Where to listen; port 0 is any that is free.
    ready
        Is told the address once connections are taken.
    """
    check_installed("uvicorn")
    import uvicorn

    with listening(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listener.getsockname()[1]}/")
        config = uvicorn.Config(
            app,
            log_level="critical",  # the application itself writes down what fails
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=_SECONDS_TO_END,
        )
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def listening(host: str, port: int) -> socket.socket:
    """Open a socket, or say in a sentence why that cannot be."""
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
