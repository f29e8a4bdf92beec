"""Verification: the constraints looked up in the parameters, and tried out on sets."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clearset.engines import engine
from clearset.functions import Certificate, Check, SetFunction, ShapeConstraints, monotonic_name, shape_name, trust_name
from clearset.sets import Binning, Positions, Trust

PROBES = 2000
PROBE_TOLERANCE = 1e-6  # of the range of what is probed
# Less than this share of the largest parameter is rounding: a function that is all but constant has nothing else.
ROUNDING = 32 * np.finfo(np.float64).eps

_Places = tuple[np.ndarray, np.ndarray]  # slots and fractions


def certify(
    function: SetFunction,
    binning: Binning,
    trusts: Sequence[Trust],
    positions: Positions | None = None,
    *,
    unused: Sequence[str] = (),
) -> Certificate:
    """Check every constraint in the parameters, and by probing.

    Parameters
    ----------
    function : SetFunction
        The set function, in float64.
    binning : Binning
        Its features, keypoints and categories.
    trusts : sequence of Trust
        The declared trusts.
    positions : Positions, optional
        The sets to probe with, in float64; random ones by default.
    unused : sequence of str, optional
        Features that must have no effect.

    Returns
    -------
    Certificate
        All checks; true if every one holds.
    """
    checks = list(_looked_up(function, binning, trusts, unused))
    if any(np.isnan(check.violation) for check in checks):
        return Certificate(tuple(checks))  # there is nothing to probe
    rng = np.random.default_rng(0)
    if positions is None:
        positions = _random_positions(binning, rng)
    if function.support is not None and len(function.support.base) != function.outputs:
        # One function serves all classes, and is probed with the values of one of them, which has no base of its own.
        function = replace(function, support=None)
    probe = _Probe(function, binning, positions, rng)
    checks += [probe.monotonic(d) for d, feature in enumerate(binning.features) if feature.monotonic is not None]
    checks += [probe.trust(trust) for trust in trusts]
    checks += [probe.effect(name) for name in unused]
    return Certificate(tuple(checks))


def confirmed(
    certificate: Certificate,
    function: SetFunction,
    binning: Binning,
    trusts: Sequence[Trust],
    *,
    unused: Sequence[str] = (),
) -> Certificate:
    """Return a certificate that was read from a file if the parameters bear it out, else a new one.

    The parameters settle whether a constraint holds, and looking them up takes a fraction of the time of probing, which
    is repeated only if what was read is not what the parameters say.

    Parameters
    ----------
    certificate : Certificate
        What the file says.
    function, binning, trusts, unused : as in `certify`
        What it says it of.

    Returns
    -------
    Certificate
        All checks; true if every one holds.
    """
    checks = _looked_up(function, binning, trusts, unused)
    probed = certificate.checks[len(checks) :]
    expected = [
        *((monotonic_name(feature), "output") for feature in binning.features if feature.monotonic is not None),
        *((trust_name(trust), "token score") for trust in trusts),
        *((_unused_name(name), "output") for name in unused),
    ]
    are_probes = all(check.evidence.startswith("probing") and check.tolerance == PROBE_TOLERANCE for check in probed)
    found = [(check.constraint, check.scope) for check in probed]
    if certificate.checks[: len(checks)] == checks and found == expected and are_probes:
        return certificate
    return certify(function, binning, trusts, unused=unused)


def _looked_up(
    function: SetFunction, binning: Binning, trusts: Sequence[Trust], unused: Sequence[str]
) -> tuple[Check, ...]:
    """Check every constraint in the parameters."""
    shape = ShapeConstraints.of(function, binning, trusts)
    scopes = {trust_name(trust): "token score" for trust in trusts}
    for feature, size in zip(binning.features, function.layout.sizes, strict=True):
        if feature.shape is not None:
            # Between the vertices of a larger lattice the score may bend the other way.
            scopes[shape_name(feature)] = "token score" if size == 2 else "calibrator"
    checks = [
        Check(constraint, scopes.get(constraint, "output"), f"parameters: {layer}", violation, 0.0)
        for constraint, layer, violation in shape.violations(function.tables)
    ]
    return (*checks, *(_without_effect(function, binning, name) for name in unused))


def _without_effect(function: SetFunction, binning: Binning, name: str) -> Check:
    """See that a calibrator gives the same for every value, and for a missing one."""
    slots = binning.slots_of(name)
    spread = float(np.ptp(function.calibration[:, slots.start : slots.stop + 1], axis=1).max())
    return Check(_unused_name(name), "output", "parameters: calibrators of phi", spread, 0.0)


def _unused_name(name: str) -> str:
    return f"{name} has no effect"


def _random_positions(binning: Binning, rng: np.random.Generator) -> Positions:
    """Draw sets of 1 to 8 tokens all over the calibrators, one value in ten missing."""
    sizes = rng.integers(1, 9, size=PROBES)
    n_tokens = int(sizes.sum())
    starts, stops = binning.slot_offsets[:-1, None], binning.slot_offsets[1:, None] - 1
    numeric = np.array([keypoints is not None for keypoints in binning.keypoints])[:, None]
    last = np.where(numeric, stops - 1, stops)
    slots = rng.integers(starts, np.maximum(last, starts + 1), size=(len(starts), n_tokens))
    fractions = rng.uniform(size=slots.shape) * numeric
    missing = rng.uniform(size=slots.shape) < 0.1
    slots, fractions = np.where(missing, stops, slots), np.where(missing, 0.0, fractions)
    return Positions(slots.astype(np.int32), fractions, np.concatenate([[0], np.cumsum(sizes)]))


class _Probe:
    """Pairs of sets that differ in one token's feature."""

    def __init__(self, function: SetFunction, binning: Binning, positions: Positions, rng: np.random.Generator) -> None:
        self._function, self._binning, self._rng = function, binning, rng
        chosen = rng.integers(len(positions), size=min(PROBES, 20 * len(positions)))
        self._sets = positions.take(np.sort(chosen))

    def monotonic(self, d: int) -> Check:
        """Raise the feature of one token of each set and see whether the output goes the wrong way."""
        sets, feature = self._sets, self._binning.features[d]
        tokens = self._rng.integers(sets.offsets[:-1], sets.offsets[1:])
        before, after = (
            engine().outputs(self._function, _moved(sets, d, tokens, *place))
            for place in self._lower_and_higher(d, len(tokens))
        )
        gain = feature.direction * (after - before)
        return self._check(monotonic_name(feature), "output", -gain, np.concatenate([before, after]))

    def trust(self, trust: Trust) -> Check:
        """Look at the score of single tokens at two values of each of the two features."""
        names = [feature.name for feature in self._binning.features]
        main, by = names.index(trust.feature), names.index(trust.by)
        sign = self._binning.features[main].direction
        sets, tokens = self._sets, self._sets.offsets[:-1]
        low, high = self._lower_and_higher(main, len(tokens))
        if trust.shape == "trapezoid":
            first, last = self._ends(main)
            low = (np.full(len(tokens), first, dtype=np.int32), np.zeros(len(tokens)))
            high = (np.full(len(tokens), last, dtype=np.int32), np.zeros(len(tokens)))
        less, more = self._lower_and_higher(by, len(tokens))
        score = {}
        for m, place in (("low", low), ("high", high)):
            for b, trusted in (("less", less), ("more", more)):
                moved = _moved(_moved(sets, main, tokens, *place), by, tokens, *trusted)
                score[m, b] = engine().scores(self._function, moved)[tokens]
        if trust.shape == "trapezoid":
            upper = sign * (score["high", "more"] - score["high", "less"])
            lower = sign * (score["low", "less"] - score["low", "more"])
            gain = np.minimum(upper, lower)
        else:
            more_slope = score["high", "more"] - score["low", "more"]
            gain = sign * (more_slope - (score["high", "less"] - score["low", "less"]))
        return self._check(trust_name(trust), "token score", -gain, np.concatenate(list(score.values())))

    def effect(self, name: str) -> Check:
        """Give one token of each set another value of a feature, or none, and see whether the output changes."""
        sets, slots = self._sets, self._binning.slots_of(name)
        tokens = self._rng.integers(sets.offsets[:-1], sets.offsets[1:])
        d = [feature.name for feature in self._binning.features].index(name)
        others = self._rng.integers(slots.start, slots.stop + 1, size=len(tokens))
        before = engine().outputs(self._function, sets)
        after = engine().outputs(self._function, _moved(sets, d, tokens, others, np.zeros(len(tokens))))
        return self._check(_unused_name(name), "output", np.abs(after - before), np.concatenate([before, after]))

    def _ends(self, d: int) -> tuple[int, int]:
        slots = self._binning.slots_of(self._binning.features[d].name)
        return slots.start, slots.stop - 1

    def _lower_and_higher(self, d: int, n: int) -> tuple[_Places, _Places]:
        """Draw n pairs of places of a feature, the first not above the second."""
        first, last = self._ends(d)
        categories, pairs = self._binning.categories[d], self._binning.features[d].pairs
        if categories is not None:
            places = np.array(
                [[first + categories.index(category) for category in pair] for pair in pairs], dtype=np.int32
            )
            chosen = places[self._rng.integers(len(places), size=n)]
            return (chosen[:, 0], np.zeros(n)), (chosen[:, 1], np.zeros(n))
        ends = np.sort(self._rng.uniform(first, last, size=(2, n)), axis=0)
        slots = np.minimum(ends.astype(np.int32), last - 1)
        return (slots[0], ends[0] - slots[0]), (slots[1], ends[1] - slots[1])

    def _check(self, constraint: str, scope: str, losses: np.ndarray, values: np.ndarray) -> Check:
        spread = float(np.ptp(values))
        scale = float(np.abs(self._function.rho.output).max()) if scope == "output" else 1.0
        loss = max(float(np.max(losses, initial=0.0)) - ROUNDING * scale, 0.0)
        violation = loss / spread if spread > 0 else 0.0
        return Check(constraint, scope, f"probing: {len(losses)} pairs", violation, PROBE_TOLERANCE)


def _moved(positions: Positions, d: int, tokens: np.ndarray, slots: np.ndarray, fractions: np.ndarray) -> Positions:
    """Copy positions with one feature of some tokens moved elsewhere."""
    moved = Positions(positions.slots.copy(), positions.fractions.copy(), positions.offsets)
    moved.slots[d, tokens] = slots
    moved.fractions[d, tokens] = fractions
    return moved
