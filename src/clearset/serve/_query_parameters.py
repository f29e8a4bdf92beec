"""Parameters in the address of a request: their bounds are stated here, and served and described from here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WholeNumber:
    """A parameter that is a whole number from `low` to `high`; without a default it must be present."""

    low: int = 0
    high: int = 2**31 - 1
    default: int | None = None

    def schema(self) -> dict[str, Any]:
        """Describe the parameter as a JSON schema."""
        described = {"type": "integer", "minimum": self.low, "maximum": self.high}
        return described if self.default is None else described | {"default": self.default}

    def read(self, name: str, asked: Mapping[str, str]) -> int:
        """Return the number that a request has under a name."""
        if name not in asked:
            if self.default is None:
                raise ValueError(f"'{name}' is missing; give {self._allowed()}.")
            return self.default
        text = asked[name]
        # Ten digits are enough for any bound, and int() refuses very long texts.
        digits = text.isascii() and text.isdigit() and len(text) <= 10
        if not digits or not self.low <= int(text) <= self.high:
            raise ValueError(f"'{name}' is {text[:100]!r}; it must be {self._allowed()}.")
        return int(text)

    def _allowed(self) -> str:
        return f"a whole number from {self.low:,} to {self.high:,}, as digits"


@dataclass(frozen=True)
class Choice:
    """A parameter that is one of several words; the first is meant where it is absent."""

    words: tuple[str, ...]

    def schema(self) -> dict[str, Any]:
        """Describe the parameter as a JSON schema."""
        return {"type": "string", "enum": list(self.words), "default": self.words[0]}

    def read(self, name: str, asked: Mapping[str, str]) -> str:
        """Return the word that a request has under a name."""
        word = asked.get(name, self.words[0])
        if word not in self.words:
            raise ValueError(f"'{name}' is {word[:100]!r}; choose one of: {', '.join(self.words)}.")
        return word


ROW = WholeNumber()
OFFSET = WholeNumber(default=0)
TOKENS_LIMIT = WholeNumber(1, 1000, default=20)
ITEMS_LIMIT = WholeNumber(1, 100, default=12)
ORDER = Choice(("telling", "count", "high", "low"))
