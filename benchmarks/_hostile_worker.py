"""A process that reads hostile files within bounds, and says what came of each."""

import faulthandler
import hashlib
import json
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks._hostile_mutations import damaged, forged
from benchmarks._hostile_subjects import KEY, KINDS, Kind
from clearset.artifact import ArtifactError
from clearset.runtime import RuntimeFileError

# What a file may take, beside what the libraries do: bytes, and seconds of the processor.
MEMORY, SECONDS = 2**30, 20
# What reading a file must never do; hooks cannot be removed again, so that they watch only while a file is read.
_FORBIDDEN = (
    "compile", "exec", "marshal.loads", "os.exec", "os.fork", "os.posix_spawn", "os.system", "pickle.find_class",
    "socket.connect", "subprocess.Popen", "ctypes.dlopen", "shutil.rmtree", "os.remove", "os.rename",
)  # fmt: skip
_LONGEST = 4000  # characters of a message


class Watch:
    """Notes what was done that reading a file must not do."""

    def __init__(self) -> None:
        self.on, self.seen, self.writes = False, list[str](), False
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on or (self.writes and event in ("os.remove", "os.rename") and _is_own(arguments[0])):
            return
        if event in _FORBIDDEN or _writes(event, arguments):
            self.seen.append(f"{event} {str(arguments)[:100]}")


def _writes(event: str, arguments: tuple[Any, ...]) -> bool:
    """Tell whether a file is opened to be written, but those that the loaders of this benchmark put in place."""
    return event == "open" and bool(set(str(arguments[1])) & set("wax+")) and not _is_own(arguments[0])


def _is_own(path: Any) -> bool:
    return str(path).startswith(tempfile.gettempdir())


def main() -> None:
    """Answer lines of JSON until there are no more."""
    faulthandler.enable()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    warnings.simplefilter("ignore")
    folder, watch = Path(sys.argv[1]), Watch()
    originals = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with tempfile.TemporaryDirectory() as own:
        place, expected = Path(own) / "file", dict[str, str]()
        KINDS["examples"].load(_placed(place, originals["examples signed"]), KEY)
        for name, kind in KINDS.items():  # so that everything is imported, too, that refusals need
            expected[name] = _answers(kind, _placed(place, originals[name]))[0]
            for content in (originals[name][:-9], originals[name][:40] + originals[name], b""):
                _read(kind, _placed(place, content), None, watch)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        print(json.dumps("ready"), flush=True)
        for line in sys.stdin:
            told = json.loads(line)
            spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
            resource.setrlimit(resource.RLIMIT_CPU, (int(spent) + 1 + SECONDS, resource.RLIM_INFINITY))
            result = _crafted(told, watch) if "path" in told else _mutated(told, originals, expected, place, watch)
            print(json.dumps(result), flush=True)


def mutation(mode: str, seed: int, originals: dict[str, bytes]) -> tuple[str, str, bytes, bytes]:
    """Return the kind of file that a number stands for, how it is changed, the file as it was, and as it is now."""
    rng = np.random.default_rng([seed, ["damaged", "forged", "signed"].index(mode)])
    names = [name for name in KINDS if mode != "signed" or f"{name} signed" in originals]
    name = names[int(rng.integers(len(names)))]
    content = originals[f"{name} signed" if mode == "signed" else name]
    other = originals[names[int(rng.integers(len(names)))]]
    changes = {"damaged": damaged, "forged": forged}.get(mode, damaged if rng.random() < 0.5 else forged)
    how, changed = "bytes inserted", content + b"x"
    for _ in range(10):
        try:
            how, changed = changes(content, other, rng)
        except (ValueError, KeyError):  # of what was changed before, a part of a part, nothing is left to be changed
            continue
        if changed != content:
            break
    return name, how, content, changed


def _mutated(
    told: dict[str, Any], originals: dict[str, bytes], expected: dict[str, str], place: Path, watch: Watch
) -> dict[str, Any]:
    mode = told["mode"]
    name, how, content, changed = mutation(mode, told["seed"], originals)
    kind = KINDS[name]
    result = {"kind": name, "how": how} | _read(kind, _placed(place, changed), KEY if mode == "signed" else None, watch)
    made = result.pop("made")
    if made is None:
        if mode == "damaged" and result["outcome"] == "diverged":
            result["fault"] = "a damaged file was gone on with"
        return result
    result["outcome"] = "the same file" if changed == content else "loaded"
    if mode == "signed" and changed != content:
        result["fault"] = "a forgery was accepted"
    try:
        answers, finite = _asked(kind, made)
        if mode == "damaged" and answers != expected[name] and not _is_beginning(name, made, originals):
            result["fault"] = "another model than was saved"
        if mode == "forged" and not finite:
            result["fault"] = "answers that are not finite"
        if not kind.verify(made):
            result["fault"] = "a certificate that does not hold"
    except Exception as error:
        if mode != "forged" or "is missing; received" not in str(error):  # a model of features of other names is one
            result["fault"] = f"fails after it was loaded: {type(error).__name__}: {str(error)[:200]}"
    return result


def _is_beginning(name: str, made: Any, originals: dict[str, bytes]) -> bool:
    """Tell whether a file that grows, line by line, lacks nothing but its last lines."""
    if name != "journal":
        return False
    with tempfile.TemporaryDirectory() as folder:
        search, trials = KINDS[name].load(_placed(Path(folder) / "whole", originals[name]), None)
    return made[0] in (search, None) and made[1] == trials[: len(made[1])]


def _crafted(told: dict[str, Any], watch: Watch) -> dict[str, Any]:
    kind = KINDS[told["kind"]]
    result = _read(kind, Path(told["path"]), KEY if told.get("signed") else None, watch)
    made = result.pop("made")
    if made is not None:
        result["outcome"] = "loaded"
        try:
            if not _asked(kind, made)[1]:
                result["fault"] = "answers that are not finite"
            if not kind.verify(made):
                result["fault"] = "a certificate that does not hold"
        except Exception as error:
            result["fault"] = f"fails after it was loaded: {type(error).__name__}: {str(error)[:200]}"
    return result


def _read(kind: Kind, path: Path, key: Any, watch: Watch) -> dict[str, Any]:
    """Read a file; tell what came of it, how long it took and how much memory it used at most."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, started, result = _memory("VmRSS"), time.perf_counter(), dict[str, Any](made=None, outcome="refused")
    watch.seen, watch.writes, watch.on = [], kind.writes, True
    try:
        result["made"] = kind.load(path, key)
    except (ArtifactError, RuntimeFileError, OSError) as error:
        result |= _message(error)
    except ValueError as error:
        result |= _message(error)
        if kind is not KINDS["journal"]:
            result["fault"] = f"a raw {type(error).__name__}: {str(error)[:200]}"
    except FloatingPointError as error:
        result |= _message(error) | {"outcome": "diverged"}
        if not str(error).startswith("Training has diverged") or not kind.writes:
            result["fault"] = f"a raw {type(error).__name__}: {str(error)[:200]}"
    except BaseException as error:
        result |= {"message": str(error)[:200], "fault": f"a raw {type(error).__name__}: {str(error)[:200]}"}
    watch.on = False
    if watch.seen:
        result["fault"] = f"it did {watch.seen[0]}"
    result |= {"seconds": time.perf_counter() - started, "megabytes": max(_memory("VmHWM") - before, 0) / 1024}
    return result


def _message(error: Exception) -> dict[str, Any]:
    message = str(error)
    found: dict[str, Any] = {"message": message[:300]}
    if "\n" in message:
        found["fault"] = f"a message of several lines: {message[:300]!r}"
    if len(message) > _LONGEST:
        found["fault"] = f"a message of {len(message)} characters: {message[:200]}"
    return found


def _placed(place: Path, content: bytes) -> Path:
    place.write_bytes(content)
    return place


def _answers(kind: Kind, path: Path) -> tuple[str, bool]:
    return _asked(kind, kind.load(path, None))


def _asked(kind: Kind, made: Any) -> tuple[str, bool]:
    """Return a hash of what a model answers, and whether all numbers are finite."""
    answers = kind.ask(made)
    numbers = [answer for answer in answers if isinstance(answer, np.ndarray) and answer.dtype.kind == "f"]
    told = [answer.tobytes() if isinstance(answer, np.ndarray) and answer.dtype.kind in "fiu" else repr(answer).encode()
            for answer in answers]  # fmt: skip
    return hashlib.sha256(b"|".join(told)).hexdigest(), all(np.isfinite(array).all() for array in numbers)


def _memory(name: str) -> int:
    """Return kilobytes that this process uses."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])


if __name__ == "__main__":
    main()
