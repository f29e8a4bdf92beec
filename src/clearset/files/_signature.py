"""What a signature is, and where it stands in a zip archive."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from clearset.files._key import Key, check_key, check_signing_key

# What is signed begins so, lest a signature of something else by the same key be taken for one of a file.
_PREFIX = b"clearset file, signature 1\n"
_HMAC, _ED25519 = b"hmac-sha256 ", b"ed25519 "

BLANK = b" " * (len(_ED25519) + 128)
"""What stands in the signature's place while a file is signed; every signature is of this length."""

# In a zip archive the signature is the comment, the last of its bytes.
_COMMENT = b"clearset signature "
_END_BYTES = 22


class SignatureError(ValueError):
    """A file is not signed with the key, or was changed since."""


def sign(key: Key, *parts: bytes | memoryview) -> bytes:
    """Return the signature of the content of a file.

    Parameters
    ----------
    key : bytes or Ed25519PrivateKey
        The key.
    *parts : bytes
        The content, one part after the other.

    Returns
    -------
    bytes
        As long as `BLANK`.

    Examples
    --------
    >>> from clearset.files import sign, verify
    >>> key = bytes(range(32))
    >>> verify(key, sign(key, b"content"), b"content")
    """
    check_signing_key(key)
    message = _message(parts)
    if isinstance(key, bytes):
        return (_HMAC + hmac.new(key, message, hashlib.sha256).hexdigest().encode()).ljust(len(BLANK))
    signed: bytes = key.sign(message)
    return _ED25519 + signed.hex().encode()


def verify(key: Key, signature: bytes, *parts: bytes | memoryview) -> None:
    """Raise a SignatureError unless content was signed with a key, or with the private key of this public one.

    Parameters
    ----------
    key : bytes, Ed25519PublicKey or Ed25519PrivateKey
        The key.
    signature : bytes
        What stands in the signature's place.
    *parts : bytes
        The content, one part after the other.
    """
    check_key(key)
    if isinstance(key, bytes):
        good = hmac.compare_digest(sign(key, *parts), signature)
    else:
        good = _is_of_pair(key, signature, _message(parts))
    if not good:
        raise SignatureError("its signature is not that of this key and content.")


def sign_zip(key: Key, content: bytes) -> bytes:
    """Return a zip archive without a comment, signed.

    Parameters
    ----------
    key : bytes or Ed25519PrivateKey
        The key.
    content : bytes
        The archive.
    """
    comment = _COMMENT + BLANK
    content = content[:-2] + len(comment).to_bytes(2, "little") + _COMMENT
    return content + sign(key, content, BLANK)


def end_of_zip(content: bytes) -> int:
    """Return where the last record of a zip archive begins, if it has one: before the signature, if it has one.

    Parameters
    ----------
    content : bytes
        The archive.
    """
    return max((_place_of_comment(content) if is_signed_zip(content) else len(content)) - _END_BYTES, 0)


def is_signed_zip(content: bytes) -> bool:
    """Return whether a zip archive ends with a signature, whoever made it.

    Parameters
    ----------
    content : bytes
        The archive, or its last 200 bytes.
    """
    comment = _place_of_comment(content)
    return comment >= 0 and content[comment : comment + len(_COMMENT)] == _COMMENT


def _place_of_comment(content: bytes) -> int:
    return len(content) - len(_COMMENT) - len(BLANK)


def verify_zip(key: Key, content: bytes) -> None:
    """Raise a SignatureError unless a zip archive was signed with a key; nothing of it is parsed.

    Parameters
    ----------
    key : bytes, Ed25519PublicKey or Ed25519PrivateKey
        The key.
    content : bytes
        The archive.
    """
    check_key(key)
    if not is_signed_zip(content):
        raise SignatureError("it is not signed, but a key was given.")
    place = len(content) - len(BLANK)
    verify(key, content[place:], memoryview(content)[:place], BLANK)


def _message(parts: tuple[bytes | memoryview, ...]) -> bytes:
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(part)
    return _PREFIX + hashed.digest()


def _is_of_pair(key: Any, signature: bytes, message: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    public = key.public_key() if hasattr(key, "public_key") else key
    try:
        public.verify(bytes.fromhex(signature[len(_ED25519) :].decode()), message)
    except (InvalidSignature, ValueError):
        return False
    return signature.startswith(_ED25519)
