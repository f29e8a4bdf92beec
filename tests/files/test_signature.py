"""Signatures: those of this key and content hold, and no others."""

import hashlib
import hmac
import io
import zipfile

import pytest

from clearset.files import BLANK, SignatureError, end_of_zip, read_members, sign, sign_zip, verify, verify_zip

KEY = bytes(range(32))


def archive(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return file.getvalue()


def test_the_signature_is_an_hmac_of_the_content() -> None:
    message = b"clearset file, signature 1\n" + hashlib.sha256(b"content").digest()
    expected = b"hmac-sha256 " + hmac.digest(KEY, message, "sha256").hex().encode()
    assert sign(KEY, b"con", b"tent") == expected.ljust(len(BLANK))


def test_a_signature_holds_for_its_key_and_content_only() -> None:
    signature = sign(KEY, b"content")
    verify(KEY, signature, b"content")
    for key, signed, content in (
        (bytes(32), signature, b"content"),
        (KEY, signature, b"contents"),
        (KEY, signature[:-1], b"content"),
        (KEY, b"", b"content"),
        (KEY, BLANK, b"content"),
    ):
        with pytest.raises(SignatureError):
            verify(key, signed, content)


def test_every_bit_of_a_signed_archive_counts() -> None:
    signed = sign_zip(KEY, archive(one=b"1", two=b"22"))
    verify_zip(KEY, signed)
    assert read_members(signed) == {"one": b"1", "two": b"22"}
    for bit in range(8 * len(signed)):
        changed = bytearray(signed)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(SignatureError):
            verify_zip(KEY, bytes(changed))
    for length in range(len(signed)):
        with pytest.raises(SignatureError):
            verify_zip(KEY, signed[:length])
    for longer in (signed + b"x", b"x" + signed, signed + signed):
        with pytest.raises(SignatureError):
            verify_zip(KEY, longer)


def test_an_unsigned_archive_is_told() -> None:
    content = archive(one=b"1")
    assert content[end_of_zip(content) :].startswith(b"PK\x05\x06")
    with pytest.raises(SignatureError, match="not signed"):
        verify_zip(KEY, content)


def test_pairs_of_keys() -> None:
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519", reason="needs cryptography")
    private, other = ed25519.Ed25519PrivateKey.generate(), ed25519.Ed25519PrivateKey.generate()
    signed = sign_zip(private, archive(one=b"1"))
    assert len(signed) == len(sign_zip(KEY, archive(one=b"1")))
    verify_zip(private, signed)
    verify_zip(private.public_key(), signed)
    for key in (other, other.public_key(), KEY):
        with pytest.raises(SignatureError):
            verify_zip(key, signed)
    for place in range(0, len(signed), 7):
        with pytest.raises(SignatureError):
            verify_zip(private.public_key(), signed[:place] + bytes([signed[place] ^ 1]) + signed[place + 1 :])
    with pytest.raises(SignatureError):
        verify_zip(private.public_key(), sign_zip(KEY, archive(one=b"1")))
    with pytest.raises(ValueError, match="private key"):
        sign(private.public_key(), b"content")
