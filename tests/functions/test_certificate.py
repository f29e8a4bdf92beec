import json

from clearset.functions import Certificate, Check

GOOD = Check("stars increasing", "output", "parameters: lattices of phi", 0.0, 0.0)
BAD = Check("stars increasing", "output", "probing: 10 pairs", 0.25, 1e-6)


def test_true_only_if_all_hold():
    assert Certificate((GOOD,))
    assert not Certificate((GOOD, BAD))
    assert not Certificate((Check("x", "output", "parameters: x", float("nan"), 0.0),))


def test_survives_json():
    certificate = Certificate((GOOD, BAD))
    assert Certificate.from_json(json.loads(json.dumps(certificate.to_json()))) == certificate


def test_text_says_what_fails_by_how_much():
    text = str(Certificate((GOOD, BAD)))
    assert "1 of 2 checks FAIL" in text
    row = next(line for line in text.splitlines() if "stars increasing" in line)
    assert row.split() == ["NO", "stars", "increasing", "output", "0", "0.25"]
