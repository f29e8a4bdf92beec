import json
from dataclasses import replace

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


def test_promises_have_the_worst_of_their_checks():
    """Checks of several parameters and classes are one promise; a NaN is worse than any number."""
    others = Check("stars increasing", "output", "parameters: output calibrator", 0.5, 0.0), replace(GOOD, scope="x")
    first, second = Certificate((GOOD, BAD, *others)).promises()
    assert (first.constraint, first.scope, first.holds) == ("stars increasing", "output", False)
    assert (first.largest("parameters"), first.largest("probing")) == ("0.5", "0.25")
    assert (second.scope, second.holds, second.largest("probing")) == ("x", True, "-")
    for place in range(3):
        checks = [GOOD, others[0], GOOD]
        checks[place] = replace(checks[place], violation=float("nan"))
        (one,) = Certificate(tuple(checks)).promises()
        assert (one.holds, one.largest("parameters")) == (False, "nan")
