"""Fits of set functions on the rows of a Spark DataFrame."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clearset.engines import MOST_LANES
from clearset.estimators import SetClassifier, SetRegressor, as_estimator
from clearset.sets import BUILT_IN, Feature
from clearset.spark._frames import check_columns, check_frame
from clearset.spark._model_bytes import ModelBytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Estimator = TypeVar("Estimator", SetRegressor, SetClassifier)


def fit(
    estimator: Estimator,
    df: DataFrame,
    y: str,
    *,
    sample_weight: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    processes: int = 1,
) -> Estimator:
    """Fit a set function on all rows of a DataFrame.

    The executors write the columns that are needed to Parquet files in a scratch folder, which is removed afterwards;
    no row goes through Spark's driver. With one process the driver then reads the files as a stream, within the
    estimator's `max_memory`, and trains: that is the way for data that one machine can read in the time there is.
    With several processes, tasks of Spark's barrier mode read a share of the files each and train together by
    torch.distributed, for which torch has to be installed where the executors run. The result is that of one process
    but for rounding.

    Parameters
    ----------
    estimator : SetRegressor or SetClassifier
        What to fit; it is left as it is with several processes.
    df : pyspark.sql.DataFrame
        The rows, one set each.
    y : str
        The column of labels.
    sample_weight : str, optional
        The column of weights.
    folder : path-like, optional
        A folder that driver and executors share, in which the scratch folder is made. By default a temporary one, if
        Spark runs on this machine alone.
    processes : int, default=1
        How many processes train: 1 for the driver alone, otherwise tasks of one barrier stage, which has to find as
        many free slots at once.

    Returns
    -------
    SetRegressor or SetClassifier
        The fitted estimator.

    Examples
    --------
    With a Spark session:

    >>> import clearset as cs  # doctest: +SKIP
    >>> rows = [([5.0, 4.0], 90.0), ([1.0], 20.0)] * 20  # doctest: +SKIP
    >>> df = session.createDataFrame(rows, "stars array<double>, sales double")  # doctest: +SKIP
    >>> model = cs.spark.fit(cs.SetRegressor(random_state=0), df, "sales")  # doctest: +SKIP
    >>> bool(model.verify())  # doctest: +SKIP
    True
    """
    check_frame(df)
    if not isinstance(estimator, SetRegressor | SetClassifier):
        raise TypeError(f"estimator is a {type(estimator).__name__}; give a SetRegressor or a SetClassifier.")
    if isinstance(processes, bool) or not isinstance(processes, int) or processes < 1:
        raise ValueError(f"processes is {processes!r}; give a whole number from 1 on.")
    slots = df.sparkSession.sparkContext.defaultParallelism
    if processes > max(min(slots, MOST_LANES), 1):
        raise ValueError(
            f"processes is {processes}, but Spark has {slots} slots, and a fit takes {MOST_LANES} processes at most. "
            "Ask for fewer."
        )
    named: list[str] = [y] if sample_weight is None else [y, sample_weight]
    if not all(isinstance(name, str) for name in named):
        raise TypeError("y and sample_weight are the names of columns of the DataFrame.")
    columns = check_columns(df, [*_features(estimator, df, named), *named])
    with _scratch(df.sparkSession, folder) as files:
        df.select(*(f"`{name.replace('`', '``')}`" for name in columns)).write.parquet(files.as_uri())
        if processes == 1:
            fitted: Estimator = estimator.fit(files, y, sample_weight=sample_weight)
            return fitted
        trained: Estimator = _fit_in_barrier(estimator, df.sparkSession, files, (y, sample_weight), processes)
        return trained


def _features(estimator: Any, df: DataFrame, others: list[str]) -> list[str]:
    """Return the names of the columns of declared features; without declarations all that are no labels or weights."""
    if estimator.features is None:
        return [name for name in df.columns if name not in others]
    names = [feature.name if isinstance(feature, Feature) else feature for feature in estimator.features]
    return [name for name in names if name not in BUILT_IN]


@contextmanager
def _scratch(session: SparkSession, folder: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Make the path of a folder of files that Spark is going to write; it is removed in the end."""
    master = session.sparkContext.master
    if folder is None and not master.startswith("local"):
        raise ValueError(
            f"Spark runs on {master!r}, whose executors may be on other machines. Give a folder that they share with "
            "the driver: folder='/mnt/shared'."
        )
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(f"folder is {str(folder)!r}, which is no folder. Make it, on all machines.")
    made = Path(tempfile.mkdtemp(prefix="clearset-", dir=folder)).resolve()
    if not master.startswith("local"):
        made.chmod(0o777)  # executors may run as another user
    try:
        yield made / "rows"
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _fit_in_barrier(
    estimator: Any, session: SparkSession, files: Path, columns: tuple[str, str | None], processes: int
) -> Any:
    """Train in the tasks of a barrier stage, which start together, and return what the first of them has fitted."""
    path, (y, sample_weight) = str(files), columns

    def train(_: Any) -> Iterator[bytes]:
        from pyspark import BarrierTaskContext

        from clearset import several_processes

        context = BarrierTaskContext.get()
        rank = context.partitionId()
        address = f"{_own_address()}:{_free_port()}" if rank == 0 else ""
        host, port = context.allGather(address)[0].split(":")
        group = {"RANK": rank, "WORLD_SIZE": processes, "MASTER_ADDR": host, "MASTER_PORT": port}
        os.environ.update({name: str(value) for name, value in group.items()})
        try:
            with several_processes():
                fitted = estimator.fit(path, y, sample_weight=sample_weight)
        finally:
            for name in group:
                os.environ.pop(name, None)
        if rank == 0:
            yield ModelBytes.of(fitted).content

    found = session.sparkContext.parallelize(range(processes), processes).barrier().mapPartitions(train).collect()
    return as_estimator(ModelBytes(found[0], frozen=False).load())


def _own_address() -> str:
    """Return the address by which other machines reach this one."""
    from pyspark import BarrierTaskContext

    return str(BarrierTaskContext.get().getTaskInfos()[0].address).split(":")[0]


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("", 0))
        port: int = listening.getsockname()[1]
        return port
