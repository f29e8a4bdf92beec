"""Files of runtime models: damaged and hostile ones are refused, in bounded memory."""

import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import clearset as cs
from clearset import runtime
from clearset.runtime import pack_runtime_file

RECIPES = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("runtime") / "model.runtime"
    cs.SemanticClassifier(random_state=0, epochs=2).fit(RECIPES, ["thai", "greek"] * 20).to_runtime(path)
    return path.read_bytes()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_are_refused_or_the_same(content, tmp_path, data):
    place = data.draw(st.integers(0, len(content) - 1))
    damaged = bytearray(content)
    if data.draw(st.booleans()):
        damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del damaged[place:]
    path, whole = tmp_path / "damaged.runtime", tmp_path / "whole.runtime"
    path.write_bytes(damaged)
    whole.write_bytes(content)
    try:
        scorer = runtime.load(path)
    except runtime.RuntimeFileError:
        return
    # Some bits of an archive, such as dates, are of no importance.
    assert (scorer.estimates(RECIPES) == runtime.load(whole).estimates(RECIPES)).all()


def repacked(content, change):
    """Change the description and the arrays, and make all checksums right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    told = json.loads(json.loads(members.pop("model.json"))["model"])
    arrays = {
        name: np.frombuffer(members[name], each["dtype"]).reshape(each["shape"])
        for name, each in told.pop("arrays").items()
    }
    change(told, arrays)
    return pack_runtime_file(told, arrays)


HOSTILE = {
    "another kind": lambda told, arrays: told.update(kind="code"),
    "no features": lambda told, arrays: told.update(features=[]),
    "slots outside": lambda told, arrays: arrays.update({"own.slots": arrays["own.slots"] + 10**6}),
    "negative slots": lambda told, arrays: arrays.update({"own.slots": arrays["own.slots"] - 10**6}),
    "fewer values": lambda told, arrays: arrays.update(values=arrays["values"][:1]),
    "corrections outside": lambda told, arrays: arrays.update(corrected=arrays["corrected"] + 10**6),
    "children outside": lambda told, arrays: arrays.update({"tree.children": arrays["tree.children"] + 10**6}),
    "tokens outside": lambda told, arrays: arrays.update({"tree.tokens": arrays["tree.tokens"] + 10**6}),
    "first outside": lambda told, arrays: arrays.update({"tree.first": arrays["tree.first"] + 10**6}),
    "items outside": lambda told, arrays: arrays.update({"tree.items": arrays["tree.items"] - 10**6}),
    "narrow calibrators": lambda told, arrays: arrays.update(calibration=arrays["calibration"][:, :3]),
    "texts outside": lambda told, arrays: arrays.update(text_offsets=arrays["text_offsets"] + 10**9),
    "spelled outside": lambda told, arrays: arrays.update(spelled=arrays["spelled"] + 10**6),
    "missing slot": lambda told, arrays: told["features"][-1].update(missing=10**6),
    "classes of another model": lambda told, arrays: told["link"].update(classes=["thai", "greek", "more"]),
    "rho too narrow": lambda told, arrays: arrays.update({"rho.output": arrays["rho.output"][:, :2]}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_contents_that_do_not_fit_are_refused(content, tmp_path, name):
    path = tmp_path / "hostile.runtime"
    path.write_bytes(repacked(content, HOSTILE[name]))
    with pytest.raises(ValueError):
        runtime.load(path)


def test_other_versions_and_compressed_members_are_refused(content, tmp_path):
    path = tmp_path / "model.runtime"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    head = json.loads(members["model.json"]) | {"version": 2}
    for compression, told in ((zipfile.ZIP_STORED, json.dumps(head).encode()), (zipfile.ZIP_DEFLATED, b"{}")):
        with zipfile.ZipFile(path, "w", compression) as archive:
            for name, member in (members | {"model.json": told}).items():
                archive.writestr(name, member)
        with pytest.raises(runtime.RuntimeFileError, match=r"version 2|compressed"):
            runtime.load(path)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        runtime.load(tmp_path / "nothing.runtime")
