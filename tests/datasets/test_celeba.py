from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clearset.datasets import load_celeba

TEXT = """3
5_o_Clock_Shadow Attractive Bald Smiling\x20
000001.jpg -1  1 -1  1
000002.jpg  1 -1 -1 -1
000003.jpg -1  1 -1 -1
"""
PRESENT = [["Smiling"], ["5_o_Clock_Shadow"], []]


def write(folder: Path, file: str) -> Path:
    lines = [line.split() for line in TEXT.splitlines()[1:]]
    names = ["image_id", *lines[0]]
    if file.endswith(".txt"):
        (folder / file).write_text(TEXT)
    elif file.endswith(".csv"):
        (folder / file).write_text("\n".join(",".join(line) for line in [names, *lines[1:]]))
    else:
        columns = dict(zip(names, zip(*lines[1:], strict=True), strict=True))
        table = {
            name: pa.array(values if name == "image_id" else [int(value) for value in values])
            for name, values in columns.items()
        }
        pq.write_table(pa.table(table), folder / file)
    return folder


@pytest.mark.parametrize("file", ["list_attr_celeba.txt", "list_attr_celeba.csv", "celeba_attributes.parquet"])
def test_every_format(file: str, tmp_path: Path) -> None:
    faces = load_celeba(write(tmp_path, file))
    assert faces.X.to_pylist() == PRESENT
    assert faces.y.tolist() == [1, 0, 1]
    values = load_celeba(tmp_path, values=True)
    assert values.X.to_pylist()[1] == ["5_o_Clock_Shadow=yes", "Bald=no", "Smiling=no"]
    assert [
        [item.removesuffix("=yes") for item in row if item.endswith("=yes")] for row in values.X.to_pylist()
    ] == PRESENT


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Attractive", "Pretty", "should have the attribute 'Attractive' and others; it has 5_o_Clock_Shadow"),
        ("3\n", "4\n", "should have '4' faces, as its first line says, but has 3"),
        ("-1  1 -1  1\n", "-1  1 -1  7\n", r"Attributes are 1 or -1, but .* holds 7"),
        ("-1  1 -1  1\n", "-1  1 -1  x\n", "cannot be read as a file of attributes"),
        ("-1  1 -1  1\n", "-1  1 -1\n", "cannot be read as a file of attributes"),
    ],
)
def test_wrong_text(old: str, new: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "list_attr_celeba.txt").write_text(TEXT.replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        load_celeba(tmp_path)


@pytest.mark.parametrize("text", ["", "image_id,Attractive\n1.jpg,1\n", "image_id,Bald\n1.jpg,1\n"])
def test_wrong_csv(text: str, tmp_path: Path) -> None:
    (tmp_path / "list_attr_celeba.csv").write_text(text)
    with pytest.raises(ValueError, match=r"list_attr_celeba\.csv (should have|cannot be read)"):
        load_celeba(tmp_path)


def test_real(real) -> None:
    faces = real(load_celeba)
    assert faces.n == 202_599
    names, counts = np.unique(faces.X.flatten().to_numpy(zero_copy_only=False), return_counts=True)
    shares = dict(zip(names.tolist(), (counts / faces.n).tolist(), strict=True))
    assert len(shares) == 39
    assert min(shares, key=shares.__getitem__) == "Bald"
    assert shares["Bald"] == pytest.approx(0.022, abs=0.0005)
    assert max(shares, key=shares.__getitem__) == "No_Beard"
    assert shares["No_Beard"] == pytest.approx(0.835, abs=0.0005)
