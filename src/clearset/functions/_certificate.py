"""Certificates: what was promised, how it was checked, and by how much it is violated at most."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from clearset import display


@dataclass(frozen=True)
class Check:
    """One constraint, looked at in one way.

    Attributes
    ----------
    constraint : str
        What was declared, such as ``"star_rating increasing"``.
    scope : str
        What it holds for: ``"output"`` (end to end), ``"token score"`` (phi of one token; a non-linear rho may bend
        it), or ``"calibrator"`` (one curve of phi).
    evidence : str
        ``"parameters"`` with the layer, or ``"probing"`` with the number of trials.
    violation : float
        The largest violation found; for probing as a share of the output's (or score's) range.
    tolerance : float
        What rounding may cause: 0 for parameters.
    """

    constraint: str
    scope: str
    evidence: str
    violation: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the violation is within the tolerance; a NaN is not."""
        return self.violation <= self.tolerance


class Promise(NamedTuple):
    """All checks of one constraint: in several parameters, by probing, for one class or another.

    Parameters
    ----------
    constraint, scope : str
        As in the checks.
    checks : tuple of Check
        The checks.
    """

    constraint: str
    scope: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether every check holds."""
        return all(check.holds for check in self.checks)

    def largest(self, kind: str) -> str:
        """Return the largest violation that was found in the parameters or by probing; ``"-"`` without such checks."""
        found = [check.violation for check in self.checks if check.evidence.startswith(kind)]
        return f"{np.max(found):.3g}" if found else "-"  # of NaN and numbers it is NaN


@dataclass(frozen=True, repr=False)
class Certificate:
    """All checks of a model; true if every one holds.

    Parameters
    ----------
    checks : tuple of Check
        The checks.

    Examples
    --------
    >>> certificate = Certificate((Check("price decreasing", "output", "parameters: lattices of phi", 0.0, 0.0),))
    >>> bool(certificate)
    True
    >>> print(certificate)
    Certificate: all 1 checks hold; the largest violation of each constraint:
         constraint        holds for  in the parameters  by probing
    yes  price decreasing  output     0                  -
    """

    checks: tuple[Check, ...]

    def __bool__(self) -> bool:
        return all(check.holds for check in self.checks)

    def __repr__(self) -> str:
        failed = sum(not check.holds for check in self.checks)
        checks = "1 check" if len(self.checks) == 1 else f"{len(self.checks):,} checks"
        return f"Certificate({checks}, {f'{failed:,} FAIL' if failed else 'all hold'})"

    def _repr_html_(self) -> str:
        return display.certificate_html(self)

    def __str__(self) -> str:
        failed = sum(not check.holds for check in self.checks)
        total = len(self.checks)
        rows = [("", "constraint", "holds for", "in the parameters", "by probing")]
        for each in self.promises():
            told = each.constraint, each.scope, each.largest("parameters"), each.largest("probing")
            rows.append(("yes" if each.holds else "NO", *told))
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        head = f"all {total} checks hold" if not failed else f"{failed} of {total} checks FAIL"
        return "\n".join([f"Certificate: {head}; the largest violation of each constraint:", *lines])

    def promises(self) -> list[Promise]:
        """Return the checks by what they check."""
        grouped: dict[tuple[str, str], list[Check]] = {}
        for check in self.checks:
            grouped.setdefault((check.constraint, check.scope), []).append(check)
        return [Promise(*promise, tuple(checks)) for promise, checks in grouped.items()]

    def to_json(self) -> list[dict[str, Any]]:
        """Return the checks as plain data."""
        return [asdict(check) for check in self.checks]

    @classmethod
    def from_json(cls, checks: Iterable[dict[str, Any]]) -> "Certificate":
        """Make a certificate from plain data."""
        made = tuple(Check(**check) for check in checks)
        for check in made:
            texts, numbers = (check.constraint, check.scope, check.evidence), (check.violation, check.tolerance)
            if not all(isinstance(text, str) for text in texts) or not all(
                type(each) in (int, float) for each in numbers
            ):
                raise TypeError(f"a check of a certificate is {check!r}")
        return cls(made)
