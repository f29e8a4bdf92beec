"""Keys: bytes, which sign and verify, or a pair of which the private one signs and the public one verifies."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    Key: TypeAlias = bytes | Ed25519PrivateKey | Ed25519PublicKey
else:
    Key = Any

LEAST_BYTES = 32
_MOST_BYTES = 10_000
_ALLOWED = (
    f"Give at least {LEAST_BYTES} random bytes, such as secrets.token_bytes({LEAST_BYTES}), or an Ed25519 key of the "
    "package cryptography."
)
_PEM = b"-----BEGIN "


def read_key(path: str | PathLike[str]) -> Key:
    r"""Read a key from a file.

    Parameters
    ----------
    path : path-like
        The file: an Ed25519 key in PEM; or a text in ASCII, which is the key but for line ends at the end; or other
        bytes, all of which are the key.

    Returns
    -------
    bytes, Ed25519PrivateKey or Ed25519PublicKey
        The key, for `save` and `load`.

    Examples
    --------
    >>> import secrets, tempfile, pathlib
    >>> from clearset.files import read_key
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "models.key"
    ...     _ = path.write_text(secrets.token_hex(32) + "\n")
    ...     len(read_key(path))
    64
    """
    source = Path(path)
    if not source.exists():
        raise FileNotFoundError(f"Cannot read the key '{source}': there is no such file.")
    if not source.is_file():  # opening a pipe would wait for someone to write to it
        raise ValueError(f"Cannot read the key '{source}': it is a folder, a pipe or a device. Give a file.")
    with source.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"'{source}' holds no key: it has more than {_MOST_BYTES:,} bytes. Give the file of a key.")
    try:
        key = _of_pem(content) if content.startswith(_PEM) else _of_bytes(content)
        check_key(key)
    except (TypeError, ValueError) as error:
        raise ValueError(f"'{source}' holds no key: {error}") from None
    return key


def check_key(key: Any) -> None:
    """Raise an error unless this is a key that verifies.

    Parameters
    ----------
    key : object
        What was given.
    """
    if isinstance(key, bytes):
        if len(key) < LEAST_BYTES:
            raise ValueError(f"The key has {len(key)} bytes, which can be guessed. {_ALLOWED}")
    elif not is_ed25519(key):
        raise TypeError(f"The key is a {type(key).__name__}. {_ALLOWED}")


def check_signing_key(key: Any) -> None:
    """Raise an error unless this is a key that signs.

    Parameters
    ----------
    key : object
        What was given.
    """
    check_key(key)
    if not isinstance(key, bytes) and not hasattr(key, "sign"):
        raise ValueError("The key is the public one of a pair, which verifies only. Give the private key to sign.")


def is_ed25519(key: Any) -> bool:
    """Return whether this is an Ed25519 key; without the package there is none."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    except ImportError:
        return False
    return isinstance(key, Ed25519PrivateKey | Ed25519PublicKey)


def _of_bytes(content: bytes) -> bytes:
    # Editors and shells end a text with a line end; of random bytes the last may be one by chance.
    return content.rstrip(b"\r\n") if content.isascii() else content


def _of_pem(content: bytes) -> Key:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
    except ImportError:
        raise ValueError(
            "it is a key in PEM, for which the package cryptography is needed. pip install clearset[signing]"
        ) from None
    try:
        if b"PUBLIC KEY-----" in content:
            return serialization.load_pem_public_key(content)
        return serialization.load_pem_private_key(content, None)
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:
        raise ValueError(f"its PEM cannot be read ({error}).") from None
