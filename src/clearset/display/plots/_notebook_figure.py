"""The figures that are given."""

from io import BytesIO
from typing import Any

from matplotlib.figure import Figure


class Drawing(Figure):
    """A figure that notebooks show when it is the value of a cell, whether pyplot is there or not."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        options: dict[str, Any] = {"format": "png", "dpi": 110}
        self.savefig(buffer, **options)
        return buffer.getvalue()
