"""Warnings of a fit: training that ended too early or could not stop early, and models that know nothing."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from clearset.models import Record
from clearset.training import SMALLEST_VALIDATION

# The learning rate falls along a cosine, the last third of which has 6% of the sum of all rates. If that third brings
# more than this share of the whole fall of the loss, it falls no less than it did at the start, but for the rate. (What
# is kept is a running average, which lags behind.)
SHARE = 0.1
# And the fall must be noticeable: this share of the loss itself. (Training begins near what least squares see, so that
# the whole fall may be small.)
LEAST_FALL = 0.03
# A training loss also falls by overfitting, steadily and for long. Without validation data only short trainings that
# clearly still fall count.
SHORT = 30
SHARE_OF_SHORT = 0.2


def warn_of_training(record: Record, epochs: int, stacklevel: int) -> None:
    """Warn of training that was interrupted, or has used all epochs while the loss was still falling noticeably."""
    n = len(record.history)
    if record.interrupted:
        message = f"Training was interrupted after {n} of {epochs} epochs. The best model so far is kept."
        warnings.warn(message, stacklevel=stacklevel + 1)
    elif n == epochs and _still_falls(record):
        message = (
            f"Training used all {epochs} epoch(s) while the loss was still falling. Increase epochs, or learning_rate "
            "if it is below its default."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel + 1)


def warn_of_none_held_out(n_sets: int, fraction: float, stacklevel: int) -> None:
    """Warn of early stopping that was asked for, with too few sets to hold some out."""
    message = (
        f"early_stopping=True, but none of the {n_sets:,} sets are held out to stop by: validation_fraction="
        f"{fraction:g} of them are fewer than {SMALLEST_VALIDATION}. All are trained on, for all epochs. Give "
        "validation_data or a larger validation_fraction, or use early_stopping=False."
    )
    warnings.warn(message, stacklevel=stacklevel + 1)


def warn_of_no_tokens(stacklevel: int) -> None:
    """Warn of an empty token table."""
    message = "No token passed the filters, so that the model predicts a constant. Use weaker filters, or other tokens."
    warnings.warn(message, stacklevel=stacklevel + 1)


def _still_falls(record: Record) -> bool:
    """Return whether the last third of the epochs still brought much; a single epoch cannot show that it did not."""
    n = len(record.history)
    if n == 1:
        return True
    losses = [entry["validation_loss"] for entry in record.history if "validation_loss" in entry]
    share = SHARE
    if not losses:
        losses, share = [entry["loss"] for entry in record.history], SHARE_OF_SHORT
        if n > SHORT:
            return False
    third = max(1, n // 3)
    if record.best_epoch <= n - third:
        return False
    late, whole = losses[-1 - third] - losses[-1], losses[0] - losses[-1]
    return late > max(share * whole, LEAST_FALL * abs(losses[-1]))
