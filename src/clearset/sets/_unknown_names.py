"""Messages that point from an unknown name to the names there are."""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_NAMES = 20


def unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """Return a message that `name` is unknown, with the known names that are close to it, and all others."""
    names = [str(other) for other in known]
    message = f"{what} {name!r} is unknown."
    if close := get_close_matches(str(name), names, n=3, cutoff=0.6):
        message += f" Did you mean {' or '.join(map(repr, close))}?"
    listed = ", ".join(map(repr, names[:_MOST_NAMES]))
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{message} There are: {listed}{more}." if names else f"{message} There are none."
