from pathlib import Path

import pytest

import clearset as cs
from clearset.cli._features_file import check_keys, read_declarations

YAML = """
features:
  - word_count
  - name: star_rating
    monotonic: increasing
    bounds: [1, 5]
  - {name: store, kind: categorical, monotonic: [[flea_market, flagship]]}
  - {name: cs.SIZE, monotonic: increasing}
trusts:
  - {feature: star_rating, by: word_count, shape: trapezoid}
model:
  width: 2
  validation_fraction: 0.2
"""
TOML = """
features = [
  "word_count",
  {name = "star_rating", monotonic = "increasing", bounds = [1, 5]},
  {name = "store", kind = "categorical", monotonic = [["flea_market", "flagship"]]},
  {name = "cs.SIZE", monotonic = "increasing"},
]
[[trusts]]
feature = "star_rating"
by = "word_count"
shape = "trapezoid"
[model]
width = 2
validation_fraction = 0.2
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(("name", "text"), [("f.yaml", YAML), ("f.yml", YAML), ("f.toml", TOML)])
def test_everything_declared(tmp_path: Path, name: str, text: str) -> None:
    declared = read_declarations(write(tmp_path, name, text))
    assert declared.features == [
        "word_count",
        cs.Feature("star_rating", monotonic="increasing", bounds=(1, 5)),
        cs.Feature("store", kind="categorical", monotonic=[("flea_market", "flagship")]),
        cs.Feature(cs.SIZE, monotonic="increasing"),
    ]
    assert declared.trusts == [cs.Trust("star_rating", by="word_count", shape="trapezoid")]
    assert declared.model == {"width": 2, "validation_fraction": 0.2}


def test_parts_may_be_left_out(tmp_path: Path) -> None:
    declared = read_declarations(write(tmp_path, "f.yaml", "model: {width: 3}"))
    assert (declared.features, declared.trusts, declared.model) == (None, [], {"width": 3})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("feature: [a]", "unknown key 'feature'. Did you mean 'features'?"),
        ("features: a", "features must be a list"),
        ("features: [3]", "a feature is declared by name, monotonic"),
        ("features: [{monotonic: increasing}]", "lacks 'name'"),
        ("features: [{name: a, monotone: increasing}]", "unknown key 'monotone'. Did you mean 'monotonic'?"),
        ("features: [{name: a, monotonic: upward}]", "monotonic='upward'"),
        ("trusts: [{feature: a}]", "lacks 'by'"),
        ("trusts: [a]", "a trust is declared by feature, by"),
        ("model: [1]", "model must map options to values"),
        ("- a", "must have the keys features, trusts or model"),
        ("", "must have the keys features, trusts or model"),
        ("features: [", "Cannot read features file"),
        ("!!python/object/apply:os.abort []", "Cannot read features file"),
    ],
)
def test_refused(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, "f.yaml", text)
    with pytest.raises(ValueError) as error:
        read_declarations(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="neither YAML nor TOML"):
        read_declarations(write(tmp_path, "f.json", "{}"))
    with pytest.raises(FileNotFoundError, match="no features file"):
        read_declarations(tmp_path / "f.yaml")
    with pytest.raises(ValueError, match="Cannot read features file"):
        read_declarations(write(tmp_path, "f.toml", "features = "))


def test_check_keys() -> None:
    check_keys({"width": 1}, ["width", "loss"], "model")
    with pytest.raises(ValueError, match=r"model has the unknown key 'widht'\. Did you mean 'width'\?"):
        check_keys({"widht": 1}, ["width", "loss"], "model")
