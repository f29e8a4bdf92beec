"""A native function in a thread with 128 KB of stack: some C libraries give no more.

The main thread has as much from the beginning, and no more where memory has run out.
"""

import sys
import threading

import numpy as np

from .native_arguments import call
from .native_limits import CALLS
from .native_trainer_limits import go_on, start, training_of


def main(name, kind=None):
    if kind is None:
        arguments = {**CALLS[name](np.random.default_rng(0)), "threads": 1}
    else:
        given, order = training_of(name, kind)
        trainer = start(name, kind, 1, given)

    def work():
        call(name, arguments) if kind is None else go_on(trainer, order)
        print("done")

    threading.stack_size(128 * 1024)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
