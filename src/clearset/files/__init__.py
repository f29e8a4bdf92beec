"""What all files have in common: members of zip archives, strict JSON, keys and signatures, by the standard library."""

from clearset.files._brief import brief
from clearset.files._json import json_object
from clearset.files._key import Key, check_key, check_signing_key, read_key
from clearset.files._signature import (
    BLANK,
    SignatureError,
    end_of_zip,
    is_signed_zip,
    sign,
    sign_zip,
    verify,
    verify_zip,
)
from clearset.files._zip import read_members

__all__ = [
    "BLANK",
    "Key",
    "SignatureError",
    "brief",
    "check_key",
    "check_signing_key",
    "end_of_zip",
    "is_signed_zip",
    "json_object",
    "read_key",
    "read_members",
    "sign",
    "sign_zip",
    "verify",
    "verify_zip",
]
