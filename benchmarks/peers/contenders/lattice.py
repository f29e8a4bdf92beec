"""TensorFlow Lattice: the same set function, made of its layers and trained by Keras' `fit`."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from benchmarks.peers._data import NumericSets, read_numeric
from benchmarks.peers.contenders._batches import Batch, cut
from benchmarks.peers.contenders._measure import Job, Result, answer, cpu_of, latency, measured, r2

KEYPOINTS, RHO_KEYPOINTS = 10, 20
RATE = 0.03


def _model(train: NumericSets, width: int) -> Any:
    """Calibrators and a full lattice for every token, its layer for the mean, and increasing curves."""
    import tensorflow_lattice as tfl
    import tf_keras as keras

    values, calibrated = [], []
    for feature in range(train.n_features):
        values.append(keras.Input((1,)))
        quantiles = np.quantile(train.values[:, feature], np.linspace(0, 1, KEYPOINTS))
        calibrator = tfl.layers.PWLCalibration(
            input_keypoints=np.unique(quantiles),
            units=width,
            output_min=0.0,
            output_max=1.0,
            monotonicity="increasing" if feature == 0 else "none",
        )
        output = calibrator(values[-1])
        calibrated.append(output if width == 1 else keras.layers.Reshape((width, 1))(output))
    phi = tfl.layers.Lattice(
        lattice_sizes=[2] * train.n_features,
        units=width,
        output_min=-1.0,
        output_max=1.0,
        monotonicities=["increasing"] + ["none"] * (train.n_features - 1),
    )(calibrated)
    sets = [keras.Input((None,), ragged=True) for _ in values]
    means = tfl.layers.Aggregation(keras.Model(values, phi))(sets)
    even = np.linspace(-1, 1, RHO_KEYPOINTS)
    if width > 1:
        means = tfl.layers.PWLCalibration(
            input_keypoints=even, units=width, output_min=0.0, output_max=1.0, monotonicity="increasing"
        )(means)
        means = tfl.layers.Lattice(
            lattice_sizes=[2] * width, output_min=-1.0, output_max=1.0, monotonicities=["increasing"] * width
        )([means[:, output : output + 1] for output in range(width)])
    output = tfl.layers.PWLCalibration(
        input_keypoints=even,
        output_min=float(train.y.min()),
        output_max=float(train.y.max()),
        monotonicity="increasing",
    )(means)
    model = keras.Model(sets, output)
    model.compile(optimizer=keras.optimizers.Adam(RATE), loss="mse")
    return model


def numeric(job: Job) -> Result:
    """Fit sets of numeric tokens; or measure predictions.

    Before the clock runs, sets are ragged tensors, and the graph has been made. Sets are handed over as a whole, and
    `fit` shuffles them and cuts batches; or batches are cut and kept beforehand, and only these are shuffled.
    """
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    begun = time.perf_counter()
    import tensorflow as tf
    import tensorflow_lattice  # noqa: F401  imported for the time that it takes
    import tf_keras as keras

    result: Result = {"import": time.perf_counter() - begun}
    tf.config.threading.set_intra_op_parallelism_threads(job["threads"])
    tf.config.threading.set_inter_op_parallelism_threads(job["threads"])
    tf.random.set_seed(0)
    train, test = read_numeric(job["data"], "train"), read_numeric(job["data"], "test")
    model = _model(train, job["width"])
    ragged = tuple(tf.RaggedTensorSpec((None, None), tf.float32, 1) for _ in range(train.n_features))
    predict = tf.function(lambda *sets: model(sets, training=False), input_signature=ragged)

    def tensors(batch: Batch) -> tuple[Any, ...]:
        sizes = np.bincount(batch.sets)
        columns = np.ascontiguousarray(batch.values.T)
        return tuple(tf.RaggedTensor.from_row_lengths(column, sizes) for column in columns)

    if job["measure"] == "predict":
        everything = [tensors(batch) for batch in cut(train, 4096)]
        one = tuple(tf.RaggedTensor.from_row_lengths(tf.random.normal((10,)), [10]) for _ in ragged)
        result["tokens_per_cpu"] = train.n_tokens / cpu_of(lambda: [predict(*batch) for batch in everything])
        result |= latency(lambda: predict(*one))
        return result

    given: tuple[Any, ...]
    if job.get("cut_before"):
        batches = [(tensors(batch), tf.constant(batch.y)) for batch in cut(train, job["batch_size"])]
        signature = (ragged, tf.TensorSpec((None,), tf.float32))
        kept = tf.data.Dataset.from_generator(lambda: iter(batches), output_signature=signature).cache()
        for _ in kept:  # the cache is filled
            pass
        given = (kept.shuffle(len(batches), seed=0).prefetch(2),)
        model.fit(given[0].take(2), epochs=1, verbose=0)
    else:
        (whole,) = cut(train, len(train.y))
        given, some = (tensors(whole), whole.y), 2 * job["batch_size"]
        model.fit(tuple(sets[:some] for sets in given[0]), whole.y[:some], job["batch_size"], verbose=0)

    class Limit(keras.callbacks.Callback):  # type: ignore[misc]
        """Ends the training after the epoch in which the time is up."""

        def on_epoch_end(self, epoch: int, logs: object = None) -> None:  # noqa: ARG002
            """Note how many epochs there were."""
            result["epochs"] = epoch + 1
            self.model.stop_training = time.perf_counter() - begun > job["seconds"]

    size = None if job.get("cut_before") else job["batch_size"]
    begun = time.perf_counter()
    with measured(result):
        model.fit(*given, batch_size=size, epochs=job["epochs"], verbose=0, callbacks=[Limit()])
    result["tokens_per_cpu"] = train.n_tokens * result["epochs"] / result["cpu"]
    result["r2"] = r2(test.y, predict(*tensors(cut(test, len(test.y))[0])).numpy())
    return result


if __name__ == "__main__":
    answer(numeric, ("tensorflow-lattice", "tensorflow-cpu", "tf_keras", "numpy"))
