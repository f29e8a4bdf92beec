import numpy as np
import pytest

import clearset as cs
from clearset.models import certify
from clearset.sets import Trust

from ..functions.example import RHO_KEYPOINTS, Example

TRUSTS = (Trust("stars", by="words"),)


@pytest.mark.parametrize("shape", ["edgeworth", "trapezoid"])
@pytest.mark.parametrize("given_sets", [True, False])
def test_projected_noise_is_certified(shape, given_sets):
    trusts = (Trust("stars", by="words", shape=shape),)
    for width in (1, 3):
        example = Example(width=width, trusts=trusts)
        positions = example.positions if given_sets else None
        certificate = certify(example.feasible(width), example.binning, trusts, positions)
        assert certificate, str(certificate)
        names = {(check.constraint, check.scope) for check in certificate.checks}
        assert ("stars increasing", "output") in names
        assert ("cs.SIZE decreasing", "output") in names
        assert (f"stars trusted by words ({shape})", "token score") in names
        assert any(check.evidence.startswith("probing") for check in certificate.checks)


def test_noise_is_not_certified():
    example = Example(trusts=TRUSTS)
    certificate = certify(example.scrambled(), example.binning, TRUSTS)
    assert not certificate
    failed = {(c.constraint, c.evidence.split(":")[0]) for c in certificate.checks if not c.holds}
    for name in ("stars increasing", "shop increasing in the order of its categories", "cs.SIZE decreasing"):
        assert (name, "probing") in failed
        assert (name, "parameters") in failed


def test_probing_alone_finds_a_broken_promise():
    """Turn one lattice of a certified function upside down along stars and look at what probing says."""
    example = Example(width=1)
    function = example.feasible()
    function.vertices[:] = function.vertices.reshape(1, 2, 8)[:, ::-1].reshape(1, 16)
    # Rho must let differences through.
    line = np.linspace(-1, 1, RHO_KEYPOINTS)
    function.rho_output[:], function.rho_calibrators[:] = line, (line + 1) / 2
    function.rho_vertices[:] = [-1.0, 1.0]
    checks = certify(function, example.binning, ()).checks
    probed = {check.constraint: check for check in checks if check.evidence.startswith("probing")}
    assert not probed["stars increasing"].holds
    assert probed["stars increasing"].violation > 1e-3


def test_losses_within_rounding_are_none():
    """A function with hardly any effect: what interpolation rounds is all that is left of its range."""
    constraint = cs.SetClassifier(
        [cs.Feature("x0", monotonic="increasing", bounds=(-1.0, 1.0), lattice_size=3)],
        3,
        keypoints=2,
        rho_keypoints=2,
        smoothness=0.0,
        learning_rate=1.0,
        epochs=1,
        batch_size=7,
        random_state=2,
        n_jobs=1,
    )
    x = np.where(np.arange(12) % 2, 1.0, -1.0) * 10.0 ** np.linspace(-300, 300, 12)
    certificate = constraint.fit(x[:, None], np.arange(12) % 3 == 0).verify()
    assert certificate
    assert all(check.violation == 0.0 for check in certificate.checks)


def test_a_function_that_is_constant_everywhere_is_certified():
    example = Example(width=1)
    function = example.initial()
    function.vertices[:] = 0.0
    certificate = certify(function, example.binning, ())
    assert certificate
    assert all(np.isfinite(check.violation) for check in certificate.checks)


def test_a_function_without_numbers_is_not_certified():
    example = Example(width=1)
    function = example.initial()
    function.vertices[0, 3] = np.nan
    certificate = certify(function, example.binning, ())
    assert not certificate
    assert "values are finite" in {check.constraint for check in certificate.checks if not check.holds}
