"""What can be chosen on validation data: tokens, filters, cover or all, width, refinement."""

from dataclasses import dataclass

from clearset.tokens import MinCount, Tokeniser
from clearset.tokens._filters import Filter


@dataclass(frozen=True)
class Setting:
    """One choice.

    Attributes
    ----------
    tokens
        How examples are taken apart.
    filters
        What tokens have to pass.
    cover
        Whether larger tokens shadow smaller ones.
    width
        K.
    refine
        The largest size of tokens whose values are corrected; 0 for none.
    pull
        How strongly corrections are pulled to 0.
    shrinkage
        Examples of the prior that every mean is mixed with.
    details
        Columns that tell something of each item of an example.
    """

    tokens: Tokeniser
    filters: tuple[Filter, ...] = (MinCount(2),)
    cover: bool = False
    width: int = 1
    refine: int = 0
    pull: float = 2.0
    shrinkage: float = 1.0
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        filters = ", ".join(map(repr, self.filters)) or "no filter"
        tokens = "their cover" if self.cover else "all of them"
        refined = (
            f"refined up to size {self.refine} with pull {self.pull:g}" if self.refine else "not refined"
        )
        return f"{self.tokens!r}, {filters}, {tokens}, width {self.width}, {refined}"
