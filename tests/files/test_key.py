"""Keys: what counts as one, and files of them."""

from pathlib import Path

import pytest

from clearset.files import check_key, read_key

KEY = bytes(range(32))


def test_the_bytes_of_a_file_are_the_key_without_line_ends(tmp_path: Path) -> None:
    for content in (KEY, KEY.hex().encode(), KEY.hex().encode() + b"\r\n", KEY + b"\n"):
        (tmp_path / "key").write_bytes(content)
        assert read_key(tmp_path / "key") in (KEY, KEY.hex().encode())


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_random_bytes_that_end_like_a_line_are_kept(tmp_path: Path, end: bytes) -> None:
    content = b"\xff" * 32 + end
    (tmp_path / "key").write_bytes(content)
    assert read_key(tmp_path / "key") == content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hunter2\n", "7 bytes, which can be guessed"),
        (b"", "0 bytes"),
        (bytes(20_000), "more than 10,000"),
        (b"-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n", "PEM"),
    ],
)
def test_files_without_a_key(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(ValueError, match=message) as raised:
        read_key(tmp_path / "key")
    assert "hunter2" not in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_key(tmp_path / "key")


@pytest.mark.parametrize("key", ["a text of more than thirty-two characters", bytearray(32), 5, None])
def test_what_is_no_key(key: object) -> None:
    with pytest.raises(TypeError, match="at least 32 random bytes"):
        check_key(key)


def test_pairs_in_files(tmp_path: Path) -> None:
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519", reason="needs cryptography")
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    private = ed25519.Ed25519PrivateKey.generate()
    plain = serialization.NoEncryption()
    pem, raw = serialization.Encoding.PEM, serialization.Encoding.Raw
    pkcs8, info = serialization.PrivateFormat.PKCS8, serialization.PublicFormat.SubjectPublicKeyInfo
    (tmp_path / "private").write_bytes(private.private_bytes(pem, pkcs8, plain))
    (tmp_path / "public").write_bytes(private.public_key().public_bytes(pem, info))
    assert read_key(tmp_path / "private").private_bytes_raw() == private.private_bytes_raw()
    assert read_key(tmp_path / "public").public_bytes(raw, serialization.PublicFormat.Raw)
    encrypted = private.private_bytes(pem, pkcs8, serialization.BestAvailableEncryption(b"password"))
    another_kind = rsa.generate_private_key(65537, 2048).private_bytes(pem, pkcs8, plain)
    for content in (encrypted, another_kind):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(ValueError, match="holds no key"):
            read_key(tmp_path / "other")


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/zero")):
        with pytest.raises(ValueError, match="it is a folder, a pipe or a device"):
            read_key(path)
