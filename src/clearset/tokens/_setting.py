"""Settings: what can be chosen by validation."""

from dataclasses import dataclass
from typing import Any

from clearset.sets import short_repr
from clearset.tokens._filters import Filter, MinCount
from clearset.tokens._tokenizers import Tokenizer


@dataclass(frozen=True, repr=False)
class Setting:
    """One setting of tokens, filters, cover, width and refinement.

    Parameters
    ----------
    tokens : Tokenizer
        Takes examples apart.
    filters : tuple of filters, default=(MinCount(2),)
        The filters that tokens have to pass.
    cover : bool, default=False
        Whether a token is left out if larger tokens of the example cover its items.
    width : int, default=1
        The number of scores of each token, K.
    refine : int, default=0
        The largest size of tokens whose values are corrected; 0 for none.
    pull : float, default=2.0
        How strongly corrections are pulled to 0.
    shrinkage : float, default=1.0
        The weight of the prior in every mean, as a number of examples; NaN, of a setting to try, to find it out.
    details : tuple of str, default=()
        The columns with a number for each item of an example.
    """

    tokens: Tokenizer
    filters: tuple[Filter, ...] = (MinCount(2),)
    cover: bool = False
    width: int = 1
    refine: int = 0
    pull: float = 2.0
    shrinkage: float = 1.0
    details: tuple[str, ...] = ()

    __repr__ = short_repr

    def __str__(self) -> str:
        filters = ", ".join(map(repr, self.filters)) or "no filter"
        tokens = "their cover" if self.cover else "all of them"
        refined = f"refined up to size {self.refine} with pull {self.pull:g}" if self.refine else "not refined"
        return f"{self.tokens!r}, {filters}, {tokens}, width {self.width}, {refined}"


class Choices(list[dict[str, Any]]):
    """Settings that were tried, each a dict of ``setting`` and ``validation_loss``; printed as a table.

    Examples
    --------
    >>> from clearset.tokens import Choices
    >>> Choices([{"setting": "Items()", "validation_loss": 0.51}, {"setting": "Subsets()", "validation_loss": 0.4875}])
    validation loss | setting
             0.5100 | Items()
             0.4875 | Subsets()
    """

    def __repr__(self) -> str:
        rows = [f"{_number(choice.get('validation_loss')):>15} | {choice.get('setting')}" for choice in self]
        return "\n".join(["validation loss | setting", *rows])


def _number(loss: Any) -> str:
    return f"{loss:#.4g}" if isinstance(loss, float) else str(loss)
