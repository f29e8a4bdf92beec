"""Some of what `benchmarks.hostile_files` tries at length: hostile files are refused, or are whole."""

import sys
import warnings
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("processes are bounded, and watched, by means of Linux", allow_module_level=True)

from benchmarks._hostile_crafted import crafted_files
from benchmarks.hostile_files import Worker, requests, write_originals


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("originals")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_originals(folder)
    worker = Worker(folder)
    yield worker
    worker.end()


@pytest.mark.parametrize("mode", ["damaged", "forged", "signed"])
def test_changed_files(worker: Worker, mode: str) -> None:
    outcomes = [worker.tell(request) for request in requests(150, first=50_000) if request["mode"] == mode]
    assert [outcome for outcome in outcomes if "fault" in outcome] == []
    refused = [outcome for outcome in outcomes if outcome["outcome"] == "refused"]
    assert len(refused) > len(outcomes) / 3  # that something was changed at all


def test_files_that_are_made_to_do_harm(worker: Worker, tmp_path: Path) -> None:
    outcomes = [worker.tell(request) | request for request in crafted_files(worker.folder, tmp_path)]
    assert [outcome for outcome in outcomes if "fault" in outcome] == []
    assert max(outcome["megabytes"] for outcome in outcomes) < 1000
