"""Sets as JSON has them, in the form that models read."""

from abc import ABC, abstractmethod
from typing import Any

from clearset.serve._kinds import named
from clearset.serve._limits import TooLargeError


class SetReader(ABC):
    """Reads the sets of a model out of requests."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Describe one set as a JSON schema."""

    def read(self, sets: Any, most: int) -> Any:
        """Give sets, of which there may be so many, as the model reads them."""
        if not isinstance(sets, list) or not sets:
            raise ValueError(f"'sets' must be a list with at least one set; received {named(sets)}.")
        if len(sets) > most:
            raise TooLargeError(f"'sets' has {len(sets):,} sets. Send {most:,} at most at a time.")
        return self._read(sets)

    @abstractmethod
    def _read(self, sets: list[Any]) -> Any:
        """Give sets, at least one, as the model reads them."""
