"""From sets as JSON has them to the form that models read."""

from abc import ABC, abstractmethod
from typing import Any

from clearset.serve._errors import TooLargeError
from clearset.serve._json_columns import kind_of


class SetReader(ABC):
    """Reads the sets of a model out of requests."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Describe one set as a JSON schema."""

    def read(self, sets: Any, most: int) -> Any:
        """Return sets in the form that the model reads; raise an error if there are more than `most`."""
        if not isinstance(sets, list) or not sets:
            raise ValueError(f"'sets' must be a list with at least one set; received {kind_of(sets)}.")
        if len(sets) > most:
            raise TooLargeError(f"'sets' has {len(sets):,} sets. Send {most:,} at most at a time.")
        return self._read(sets)

    @abstractmethod
    def _read(self, sets: list[Any]) -> Any:
        """Return sets, at least one, in the form that the model reads."""
