"""One Spark session for all tests of the folder; without PySpark or Java they are skipped, saying so."""

import os
import shutil
import sys

import pytest


def reason_to_skip():
    """Say what is missing, if anything is."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "there is no Java on this machine (apt-get install openjdk-17-jre-headless)"
    return None


@pytest.fixture(scope="session")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed (pip install 'clearset[spark]')")
    if (reason := reason_to_skip()) is not None:
        pytest.skip(reason)
    # Executors run this Python, and import what it does.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "97")
        .config("spark.driver.memory", "1g")
        # Little data: compiling and planning anew would take most of the time.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.adaptive.enabled", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
