"""What files say, as part of a message."""


def brief(told: object, most: int = 400) -> str:
    """Return a text in one line of bounded length, whatever a file or a library said.

    Parameters
    ----------
    told : object
        An error or a value.
    most : int, default=400
        The number of characters.
    """
    line = " ".join(str(told)[: 2 * most].split())
    return line if len(line) <= most else f"{line[: most - 4]} ..."
