"""Runs an application until it is stopped."""

import errno
import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from clearset.serve._optional_packages import check_installed

_SECONDS_TO_END = 8
"""Seconds that requests in progress have when the server is told to end; Docker ends what takes longer than 10."""


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
    """Serve an application until Ctrl-C or SIGTERM; requests in progress are answered first.

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

    from clearset.serve._timed_connections import TimedConnection

    with listening(host, port) as listener, suppress(KeyboardInterrupt), _sigterm_as_ctrl_c():
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listener.getsockname()[1]}/")
        config = uvicorn.Config(
            app,
            log_level="critical",  # the application itself logs failures
            access_log=False,
            lifespan="auto",
            http=TimedConnection,
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=_SECONDS_TO_END,
        )
        uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM raise KeyboardInterrupt.

    uvicorn raises a signal again once it has waited for requests. The usual SIGTERM would then end the process before
    those that took too long are told so.
    """
    if threading.current_thread() is not threading.main_thread():  # others may not set what signals do
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
