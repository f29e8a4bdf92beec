import inspect
from pathlib import Path

from clearset.cli._options import Model, TableOptions, spelled_out


def test_fields_of_data_classes_become_parameters() -> None:
    received = []

    def command(model: Model, options: TableOptions, top: int = 3) -> None:
        """Do something."""
        received.append((model, options, top))

    plain = spelled_out(command)
    assert list(inspect.signature(plain).parameters) == [
        "model", "by", "set_columns", "column", "separator", "delimiter", "decimal", "encoding", "top",
    ]  # fmt: skip
    assert (plain.__name__, plain.__doc__) == ("command", "Do something.")
    form = {"delimiter": None, "decimal": ",", "encoding": None}
    plain(model=Path("a"), by="key", set_columns="", column=None, separator=None, **form, top=5)
    assert received == [(Path("a"), TableOptions(by="key", decimal=","), 5)]


def test_options_that_were_given() -> None:
    assert not TableOptions().given
    assert TableOptions(column=["items"]).given
