import numpy as np
import pytest
import torch

from clearset.setfunction import certify
from clearset.sets import Trust

TRUSTS = (Trust("stars", by="words"),)


@pytest.mark.parametrize("shape", ["edgeworth", "trapezoid"])
@pytest.mark.parametrize("given_sets", [True, False])
def test_projected_noise_is_certified(make_example, shape, given_sets):
    trusts = (Trust("stars", by="words", shape=shape),)
    for width in (1, 3):
        example = make_example(width=width, trusts=trusts)
        model = example.scrambled(width)
        example.shape.project_exactly(model)
        positions = example.positions if given_sets else None
        certificate = certify(model, example.shape, example.binning, trusts, positions)
        assert certificate, str(certificate)
        names = {(check.constraint, check.scope) for check in certificate.checks}
        assert ("stars increasing", "output") in names
        assert ("cs.SIZE decreasing", "output") in names
        assert (f"stars trusted by words ({shape})", "token score") in names
        assert any(check.evidence.startswith("probing") for check in certificate.checks)


def test_noise_is_not_certified(make_example):
    example = make_example(trusts=TRUSTS)
    certificate = certify(example.scrambled(), example.shape, example.binning, TRUSTS)
    assert not certificate
    failed = {(c.constraint, c.evidence.split(":")[0]) for c in certificate.checks if not c.holds}
    for name in ("stars increasing", "shop increasing in the order of its categories", "cs.SIZE decreasing"):
        assert (name, "probing") in failed
        assert (name, "parameters") in failed


def test_probing_alone_finds_a_broken_promise(make_example):
    """Turn one lattice of a certified model upside down along stars and look at what probing says."""
    example = make_example(width=1)
    model = example.scrambled()
    example.shape.project_exactly(model)
    with torch.no_grad():
        lattice = model.phi.vertices.reshape(1, 2, 8)
        model.phi.vertices.copy_(lattice.flip(1).reshape(1, 16) + 0.0)
        # Rho must let differences through.
        keypoints = model.tables["rho.output"].shape[1]
        line = torch.linspace(-1, 1, keypoints, dtype=torch.float64)
        model.tables["rho.output"].copy_(line.expand(1, -1))
        model.tables["rho.calibrators"].copy_((line.expand(1, -1) + 1) / 2)
        model.tables["rho.vertices"].copy_(torch.tensor([[-1.0, 1.0]]))
    checks = certify(model, example.shape, example.binning, ()).checks
    probed = {c.constraint: c for c in checks if c.evidence.startswith("probing")}
    assert not probed["stars increasing"].holds
    assert probed["stars increasing"].violation > 1e-3


def test_a_function_that_is_constant_everywhere_is_certified(make_example):
    example = make_example(width=1)
    model = example.initial()
    with torch.no_grad():
        model.phi.vertices.zero_()
    certificate = certify(model, example.shape, example.binning, ())
    assert certificate
    assert all(np.isfinite(check.violation) for check in certificate.checks)
