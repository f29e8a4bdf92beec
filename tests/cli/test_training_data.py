"""What ``clearset fit`` says of the columns of a table, and of what looks wrong with them."""

from pathlib import Path

import numpy as np
import pytest

import clearset as cs
from clearset.cli import main

RNG = np.random.default_rng(5)
N = 120


def write(path: Path, header: str, rows) -> Path:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    """Make a long table: three reviews of each of 40 products, with columns of every kind."""
    rows = [
        (row, f"p{row // 3}", row % 5, f"{row % 7},5", "red", row // 3 * 0.5, 1, "", row // 3 + 0.25, 1 + row // 3 % 2)
        for row in range(N)
    ]
    quoted = [(*row[:3], f'"{row[3]}"', *row[4:]) for row in rows]
    return write(tmp_path / "reviews.csv", ",product,stars,score,color,price,same,nothing,sales,w", quoted)


def fit(path: Path, *options: str) -> int:
    command = ["fit", str(path), "--output", str(path.parent / "model"), "--epochs", "1", "--seed", "0"]
    return main([*command, *options])


LONG = ["--label", "sales", "--by", "product", "--set-columns", "price", "--weight", "w"]


def test_the_use_of_every_column(reviews: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(reviews, *LONG) == 0
    out, err = capsys.readouterr()
    title, *lines = out.splitlines()[:11]
    assert title == "Regression of 'sales', because the label is a number: 40 sets, 120 tokens."
    assert lines == [
        "  features of tokens  stars",
        "  features of sets    price, cs.SIZE",
        "  key                 product",
        "  label               sales",
        "  weight              w",
        "  ignored             Unnamed: 0: has no name, as row numbers have that pandas writes",
        "                      score: text, first value '0,5'; decimal commas? --decimal ,",
        "                      color: text, first value 'red'; items? --column color; or a category? Declare it with "
        "--features",
        "                      same: the same value everywhere, 1",
        "                      nothing: has no values",
    ]
    assert "warning" not in err
    model = cs.load(reviews.parent / "model")
    assert set(model.calibrators()) == {*model.feature_names_in, cs.SIZE} == {"stars", "price", cs.SIZE}


def test_what_it_says_helps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(f'"{row % 7},5"', f"{row % 3}.5", row) for row in range(N)]
    path = write(tmp_path / "t.csv", "comma,point,y", rows)
    for options, used, said in (
        ([], "point", "comma: text, first value '0,5'; decimal commas? --decimal ,"),
        (["--decimal", ","], "comma", "point: text, first value '0.5'; decimal points? --decimal ."),
    ):
        assert fit(path, "--label", "y", *options) == 0
        assert f"  features  {used}\n  label     y\n  ignored   {said}\n" in capsys.readouterr().out
        assert set(cs.load(tmp_path / "model").calibrators()) == {used}


def test_a_forgotten_key(reviews: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(reviews, "--label", "sales") == 0
    out, err = capsys.readouterr()
    assert "  features  stars, price, w\n" in out
    assert err.startswith(
        "clearset: warning: every row is a set of one token, but 'product' repeats, and 'sales' is the same wherever "
        "it does. If the rows that share it are one set: --by product\n"
    )
    assert fit(reviews, "--label", "sales", "--quiet") == 0
    assert capsys.readouterr() == ("", "")


def test_a_forgotten_key_of_items(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    baskets = [(row // 4, f"item{RNG.integers(9)}", row // 4 % 3) for row in range(200)]
    path = write(tmp_path / "long.csv", "basket,item,y", baskets)
    options = ["--label", "y", "--column", "item", "--tokens", "items"]
    assert fit(path, *options) == 0
    assert "--by basket\n" in capsys.readouterr().err
    assert fit(path, *options, "--by", "basket") == 0
    out, err = capsys.readouterr()
    assert "warning" not in err
    assert "  items or texts  item\n  key             basket\n  label           y\n" in out
    grouped = [(f"{basket};{item}", *rest) for basket, item, *rest in baskets]  # two items a row
    assert fit(write(tmp_path / "pairs.csv", "item,y", grouped), *options) == 0
    assert "warning" not in capsys.readouterr().err


def test_keys_lists_and_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(row, row % 5, f'"[{row % 4}, 2]"', "a;b", f'"{row % 9},5"') for row in range(N)]
    path = write(tmp_path / "t.csv", "order_id,x,stars,tags,y", rows)
    assert fit(path, "--label", "y", "--task", "classification") == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("clearset: warning: ")]
    expected = ["'order_id' is a feature", "'stars' is ignored", "'tags' is ignored", "the label 'y' is text"]
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(f"clearset: warning: {start}")
    assert fit(path, "--label", "y", "--decimal", ",", "--ignore", "order_id, tags,stars") == 0
    out, err = capsys.readouterr()
    assert "warning" not in err
    assert "  ignored   order_id, tags, stars: named by --ignore\n" in out
    assert set(cs.load(tmp_path / "model").calibrators()) == {"x"}


def test_declared_features(reviews: Path, capsys: pytest.CaptureFixture[str]) -> None:
    features = reviews.parent / "f.yaml"
    features.write_text("features: [stars, same, {name: color, kind: categorical}]")
    assert fit(reviews, *LONG, "--features", str(features)) == 0
    out, err = capsys.readouterr()
    assert "  features of tokens  stars, same, color\n" in out
    assert f"  ignored             price, Unnamed: 0, score, nothing: not declared in '{features}'\n" in out
    assert "'same' is declared as a feature, but tells nothing: the same value everywhere, 1" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ignore", "colour"], "has no column 'colour'. Did you mean 'color'?"),
        (["--ignore", "color", "--column", "color"], "--ignore is for fits on every numeric column"),
        (["--ignore", "stars,price,w"], "has no column to learn from beside the label ('stars': named by --ignore;"),
    ],
)
def test_errors(reviews: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(reviews, "--label", "sales", *options) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("clearset: ")
    assert message in err
    assert err.count("\n") == 1


def test_what_differs_within_a_set_is_said_in_words_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [("a", 1, 2, 1), ("a", 3, 4, 1), ("b", 5, 6, 2)]
    path = write(tmp_path / "t.csv", "id,x,y,z", rows)
    cases = {
        ("--label", "y", "--by", "id"): "A label, weight or --id has one value a set. Correct",
        ("--label", "z", "--weight", "y", "--by", "id"): "or name another key with --by.",
        ("--label", "z", "--set-columns", "x", "--by", "id"): "Leave it out of --set-columns to make it a token",
        ("--label", "id", "--by", "id"): "'id' is the key (--by), and cannot be named by the label or the weight",
        ("--label", "z", "--by", "id", "--set-columns", "id"): "(--by), and cannot be named by --set-columns as well",
    }
    for options, message in cases.items():
        assert fit(path, *options) == 1
        err = capsys.readouterr().err
        assert message in err
        assert "set_columns" not in err
        assert err.count("\n") == 1


def test_the_label_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(write(tmp_path / "t.csv", "y", [(1,), (2,)]), "--label", "y") == 1
    assert "has no column to learn from beside the label. Features are numbers" in capsys.readouterr().err


def test_validation_data_lack_a_column(reviews: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = write(reviews.parent / "v.csv", "product,stars,sales,w,price", [("a", 1, 2, 3, 4), ("b", 1, 2, 3, 4)])
    assert fit(reviews, *LONG, "--validation", str(other), "--quiet") == 0
    other.write_text(other.read_text().replace("stars", "star"))
    assert fit(reviews, *LONG, "--validation", str(other)) == 1
    assert f"'{other}' has no column 'stars'. Did you mean 'star'?" in capsys.readouterr().err
