"""What native trainers do when arrays change, threads meet, or a call is interrupted."""

import gc
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from clearset.engines import available_engines

from .native_arguments import TRAINERS, longs
from .native_calls import GOOD
from .native_training import give, make, many_labels, many_sets, results, sets

if "native" not in available_engines():
    pytest.skip("clearset._native is not built", allow_module_level=True)

ORDER = longs(2, 0, 1)
OUTSIDE = "outside its table"
CHANGED = "have changed"


@pytest.fixture(params=TRAINERS)
def name(request):
    return request.param


# What a trainer reads at every step, and what it then must not find there.
CHANGES = [
    ("plain", "slots", 5, OUTSIDE),
    ("plain", "slots", -1, OUTSIDE),
    ("crossed", "slots", 6, OUTSIDE),
    ("crossed", "slots", -(2**31), OUTSIDE),
    ("crossed", "rows", 4, OUTSIDE),
    ("crossed", "rows", 2**31 - 1, OUTSIDE),
    ("crossed", "rows", -2, OUTSIDE),
    ("crossed", "corrected", 2, OUTSIDE),
    ("crossed", "corrected", 2**31 - 1, OUTSIDE),
    *[
        (method, argument, number, CHANGED)
        for method in ("plain", "packed", "crossed")
        for argument, number in [
            ("offsets", 2**62),
            ("offsets", 301),
            ("offsets", 200),
            ("chosen", 2),
            ("chosen", -1),
            ("chosen", 2**62),
            ("targets", 3.0),
            ("targets", -1.0),
            ("targets", np.nan),
        ]
        if (method, argument) != ("packed", "chosen")
    ],
]


@pytest.mark.parametrize(("method", "argument", "number", "message"), CHANGES)
def test_arrays_that_change_are_refused_until_they_are_good_again(name, method, argument, number, message):
    if f"{name}.{method}" not in GOOD:
        pytest.skip("sets are packed in single precision")
    given = sets(name, method)
    untouched, changed = (make(name, method, correct=True) for _ in range(2))
    for trainer in (untouched, changed):
        give(trainer, method, {**given, "validates": False})
    # The same arrays again, for they may differ from those of training.
    give(changed, method, {**given, "validates": True})
    array = given[argument].reshape(-1)
    before = array[-1]
    array[-1] = number
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            changed.epoch(ORDER, None)
        with pytest.raises(ValueError, match=message):
            changed.validation_loss()
    array[-1] = before
    assert changed.epoch(ORDER, None) == untouched.epoch(ORDER, None)
    assert results(changed) == results(untouched)
    assert np.isfinite(changed.validation_loss())


def test_a_refused_step_leaves_no_corrections_behind(name):
    """Those of a slice are numbered anew; numbers of a step that was given up are forgotten."""
    given = sets(name, "crossed", chosen=None, targets=np.array([0.0, 1.0]), weights=np.ones(2))
    given["corrected"][:200:2] = 0
    good, bad = (make(name, "crossed", {"batch_size": 1}, correct=True) for _ in range(2))
    for trainer in (good, bad):
        give(trainer, "crossed", given)
    given["rows"][199] = 4
    with pytest.raises(ValueError, match=OUTSIDE):
        bad.epoch(longs(0), None)
    for trainer in (good, bad):
        trainer.epoch(longs(1), None)
    assert results(bad) == results(good)


@pytest.mark.parametrize("method", ["plain", "crossed"])
def test_arrays_live_as_long_as_they_are_read(name, method):
    trainers = [make(name, method, correct=True) for _ in range(2)]
    losses = []
    for trainer, let_go in zip(trainers, (False, True), strict=True):
        given = sets(name, method)
        give(trainer, method, {**given, "validates": False})
        give(trainer, method, {**given, "validates": True})
        if let_go:
            del given
            gc.collect()
            rubbish = [np.full(size, 77, np.int32) for size in (2, 3, 6, 300, 600) for _ in range(50)]
            del rubbish
        losses.append([trainer.epoch(ORDER, None) for _ in range(3)] + [trainer.validation_loss()])
    assert losses[0] == losses[1]
    assert results(trainers[0]) == results(trainers[1])


def test_sets_can_be_replaced(name):
    one, other = (make(name, "plain") for _ in range(2))
    give(one, "plain", sets(name, "plain", chosen=longs(0), targets=np.zeros(1), weights=np.ones(1)))
    one.epoch(longs(0), None)
    trainer = make(name, "plain")
    give(trainer, "plain", sets(name, "plain", chosen=longs(0), targets=np.zeros(1), weights=np.ones(1)))
    for each in (trainer, other):
        give(each, "plain", sets(name, "plain"))
    assert trainer.epoch(ORDER, None) == other.epoch(ORDER, None)
    assert results(trainer) == results(other)


@pytest.mark.parametrize("method", ["plain", "crossed"])
@pytest.mark.parametrize("threads", [3, 17, 2**31 - 1])
def test_the_same_bits_for_any_number_of_threads(name, method, threads):
    given, outcomes = many_sets(name, method), []
    order = np.random.default_rng(1).permutation(2000)
    for number in (1, threads):
        trainer = make(name, method, {"threads": number, "batch_size": 1900}, correct=True)
        give(trainer, method, {**given, "validates": False})
        give(trainer, method, {**given, "validates": True})
        losses = [trainer.epoch(order, None), trainer.epoch(order[::-1].copy(), None), trainer.validation_loss()]
        outcomes.append((losses, results(trainer)))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("batch_size", [3, 2**63 - 1])
def test_a_batch_may_be_larger_than_all_sets(name, batch_size):
    trainer = make(name, "plain", {"batch_size": batch_size})
    give(trainer, "plain", sets(name, "plain"))
    give(trainer, "touch_lightly", sets(name, "touch_lightly"))
    draws = np.linspace(0.0, 0.99, 128)
    assert np.isfinite(trainer.epoch(ORDER, draws))


def test_another_thread_is_told_to_wait(name):
    """The lock of Python is let go during an epoch, so others can ask for something meanwhile."""
    trainer = make(name, "plain", {"batch_size": 1})
    give(trainer, "plain", {**many_sets(name, "plain", 10, 2000), **many_labels(1_000)})
    give(trainer, "plain", sets(name, "plain", validates=True))
    give(trainer, "add_shape", sets(name, "add_shape"))
    asked = {method.split(".")[1] for method in GOOD if method.startswith(f"{name}.")} - {"crossed"}
    arguments = {method: sets(name, method) for method in asked}
    thread = threading.Thread(target=trainer.epoch, args=(np.arange(1_000), None))
    thread.start()
    works = False
    while thread.is_alive() and not works:
        try:
            trainer.average()
        except ValueError:
            works = True
    refused = {}
    for method in asked:
        try:
            give(trainer, method, arguments[method])
        except ValueError as error:
            refused[method] = "at work" in str(error)
    thread.join()
    assert refused == dict.fromkeys(asked, True)
    assert np.isfinite(trainer.average()).all()


# One call would last for minutes: few sets, but many labels.
INTERRUPTED = """
import sys
import numpy as np
from tests.engines.native_training import give, make, many_labels, many_sets

name, method, called = sys.argv[1:]
few = many_sets(name, method, 10, 2000)
labels = many_labels(400_000)
trainer = make(name, method, {"batch_size": 1, "threads": 2}, correct=True)
for validates in (False, True):
    give(trainer, method, {**few, **labels, "validates": validates})
order = np.arange(400_000)
trainer.epoch(order[:10].copy(), None)
print("ready", flush=True)
try:
    trainer.epoch(order, None) if called == "epoch" else trainer.validation_loss()
except KeyboardInterrupt:
    print("interrupted", flush=True)
before = trainer.average()
assert np.isfinite(before).all()
give(trainer, method, {**few, "validates": True})
assert np.isfinite(trainer.validation_loss())
trainer.epoch(order[:10].copy(), None)
assert (trainer.average() != before).any()
print("usable", flush=True)
"""


@pytest.mark.parametrize("method", ["plain", "crossed"])
@pytest.mark.parametrize("called", ["epoch", "validation_loss"])
def test_an_interrupt_ends_the_call_and_the_trainer_stays_usable(method, called):
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", INTERRUPTED, "Trainer_float64", method, called],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (out, error, process.returncode) == ("interrupted\nusable\n", "", 0)
