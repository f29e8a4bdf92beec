"""A fitted model applied to the rows of a Spark DataFrame, in Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from clearset.models import FrozenModel, Model
from clearset.spark._frames import check_columns, check_frame, one_row_of_nulls
from clearset.spark._model_bytes import ModelBytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

Batches = Iterable[pa.RecordBatch]


def predict(
    model: Any, df: DataFrame, *, columns: Sequence[str] | None = None, output: str = "prediction", tokens: Any = None
) -> DataFrame:
    """Predict the number or the most likely class of each row.

    The model goes to the executors once, as the bytes of its file. Rows are predicted in Arrow batches, to the same
    bits as by the model's own method.

    Parameters
    ----------
    model : fitted model or estimator
        Of any kind that `clearset.load` reads, or a `FrozenModel`.
    df : pyspark.sql.DataFrame
        The rows, one set each.
    columns : sequence of str, optional
        The columns that the model reads. By default those that it was fitted on; if it was fitted without names, all.
    output : str, default="prediction"
        The name of the new column.
    tokens : object, optional
        One's own tokenizer, if the model was fitted with one, as for `clearset.load`.

    Returns
    -------
    pyspark.sql.DataFrame
        The rows with the new column.

    Examples
    --------
    With a Spark session:

    >>> import pyarrow as pa  # doctest: +SKIP
    >>> import clearset as cs  # doctest: +SKIP
    >>> sets = pa.table({"stars": [[5.0, 4.0], [1.0]] * 20})  # doctest: +SKIP
    >>> model = cs.SetRegressor(random_state=0).fit(sets, [90.0, 20.0] * 20)  # doctest: +SKIP
    >>> rows = [("lamp", [5.0, 4.0]), ("sofa", [1.0])]  # doctest: +SKIP
    >>> df = session.createDataFrame(rows, "product string, stars array<double>")  # doctest: +SKIP
    >>> cs.spark.predict(model, df).columns  # doctest: +SKIP
    ['product', 'stars', 'prediction']
    """
    return _with_column(model, df, "predict", columns, output, tokens)


def predict_proba(
    model: Any, df: DataFrame, *, columns: Sequence[str] | None = None, output: str = "probability", tokens: Any = None
) -> DataFrame:
    """Return the probability of each class, as a column of lists in the order of the model's `classes_`.

    Parameters
    ----------
    model : fitted model or estimator
        One that predicts probabilities.
    df : pyspark.sql.DataFrame
        The rows, one set each.
    columns : sequence of str, optional
        The columns that the model reads, as in `predict`.
    output : str, default="probability"
        The name of the new column.
    tokens : object, optional
        One's own tokenizer, if the model was fitted with one.

    Returns
    -------
    pyspark.sql.DataFrame
        The rows with the new column.

    Examples
    --------
    With a Spark session:

    >>> import clearset as cs  # doctest: +SKIP
    >>> recipes, cuisines = [["lime"], ["feta"]] * 20, ["thai", "greek"] * 20  # doctest: +SKIP
    >>> model = cs.SemanticClassifier(cs.Items(), random_state=0).fit(recipes, cuisines)  # doctest: +SKIP
    >>> df = session.createDataFrame([(["lime", "salt"],)], "items array<string>")  # doctest: +SKIP
    >>> cs.spark.predict_proba(model, df, columns=["items"]).columns  # doctest: +SKIP
    ['items', 'probability']
    """
    return _with_column(model, df, "predict_proba", columns, output, tokens)


def transform(
    model: Any, df: DataFrame, *, columns: Sequence[str] | None = None, output: str = "estimate", tokens: Any = None
) -> DataFrame:
    """Estimate the label of each row: a number, or a list of numbers for several classes.

    Parameters
    ----------
    model : fitted model or estimator
        One with a method `transform`, such as a fitted `SemanticFeatureEngine`.
    df : pyspark.sql.DataFrame
        The rows, one set each.
    columns : sequence of str, optional
        The columns that the model reads, as in `predict`.
    output : str, default="estimate"
        The name of the new column.
    tokens : object, optional
        One's own tokenizer, if the model was fitted with one.

    Returns
    -------
    pyspark.sql.DataFrame
        The rows with the new column.

    Examples
    --------
    With a Spark session:

    >>> import clearset as cs  # doctest: +SKIP
    >>> recipes, cuisines = [["lime"], ["feta"]] * 20, ["thai", "greek"] * 20  # doctest: +SKIP
    >>> engine = cs.SemanticFeatureEngine(cs.Items(), random_state=0).fit(recipes, cuisines)  # doctest: +SKIP
    >>> df = session.createDataFrame([(["lime", "salt"],)], "items array<string>")  # doctest: +SKIP
    >>> cs.spark.transform(engine, df, columns=["items"]).columns  # doctest: +SKIP
    ['items', 'estimate']
    """
    return _with_column(model, df, "transform", columns, output, tokens)


def explain(
    model: Any,
    df: DataFrame,
    by: str | Sequence[str],
    *,
    columns: Sequence[str] | None = None,
    label: Any = None,
    details: bool = False,
    tokens: Any = None,
) -> DataFrame:
    """Return what each token adds to the prediction: the rows that `explain(X).to_frame()` has.

    Parameters
    ----------
    model : fitted model or estimator
        Any but joint and frozen ones.
    df : pyspark.sql.DataFrame
        The rows, one set each.
    by : str or sequence of str
        The columns that say which row of `df` a row of the explanation is about, such as a key. They take the place of
        the number of the set, for rows of Spark have no numbers.
    columns : sequence of str, optional
        The columns that the model reads, as in `predict`.
    label : object, optional
        Of several classes the one to explain; by default each set's predicted class.
    details : bool, default=False
        Whether to add all other columns, as `Explanation.to_frame` describes them.
    tokens : object, optional
        One's own tokenizer, if the model was fitted with one.

    Returns
    -------
    pyspark.sql.DataFrame
        A row for each token and each feature of a whole set; those of one set in the order of its tokens.

    Examples
    --------
    With a Spark session:

    >>> import pyarrow as pa  # doctest: +SKIP
    >>> import clearset as cs  # doctest: +SKIP
    >>> sets = pa.table({"stars": [[5.0, 4.0], [1.0]] * 20})  # doctest: +SKIP
    >>> model = cs.SetRegressor(random_state=0).fit(sets, [90.0, 20.0] * 20)  # doctest: +SKIP
    >>> rows = [("lamp", [5.0, 4.0]), ("sofa", [1.0])]  # doctest: +SKIP
    >>> df = session.createDataFrame(rows, "product string, stars array<double>")  # doctest: +SKIP
    >>> cs.spark.explain(model, df, by="product").columns[:3]  # doctest: +SKIP
    ['product', 'token', 'feature']
    """
    check_frame(df)
    if not hasattr(model, "as_model") or not isinstance(model.as_model(), Model):
        raise TypeError(f"A {type(model).__name__} is not explained in rows; give a set model or a semantic model.")
    keys = check_columns(df, [by] if isinstance(by, str) else by)
    read = _columns_read(model, df, columns)

    def rows_of(model: Any, table: pa.Table) -> pa.Table:
        rows = model.explain(table.select(read), label).to_frame(details=details)
        owners = table.select(keys).take(rows["set"])
        rows = rows.drop_columns(["set"])
        rows = rows.cast(_plain_schema(rows.schema))
        return pa.table([*owners.columns, *rows.columns], [*keys, *rows.column_names])

    from pyspark.sql.types import StructType

    first = rows_of(model, one_row_of_nulls(df, list(dict.fromkeys([*read, *keys])))).schema
    if len(set(first.names)) < len(first.names):
        raise ValueError(f"by is {by!r}, but the rows of explanations have such a column themselves. Rename it.")
    explained = pa.schema([first.field(name) for name in first.names[len(keys) :]])
    schema = StructType([*(df.schema[name] for name in keys), *_spark_schema(explained).fields])
    return _mapped(model, df, rows_of, schema, tokens)


def _with_column(
    model: Any, df: DataFrame, method: str, columns: Sequence[str] | None, output: str, tokens: Any
) -> DataFrame:
    check_frame(df)
    getattr(model, method)  # that there is such a method; if not, the model says why
    if output in df.columns:
        raise ValueError(f"df has a column {output!r} already. Give the new one another name: output='...'.")
    read = _columns_read(model, df, columns)

    def answers(model: Any, table: pa.Table) -> pa.Table:
        return table.append_column(output, _as_column(getattr(model, method)(table.select(read))))

    from pyspark.sql.types import StructType

    added = answers(model, one_row_of_nulls(df, read)).schema.field(output)
    schema = StructType([*df.schema.fields, *_spark_schema(pa.schema([added])).fields])
    return _mapped(model, df, answers, schema, tokens)


def _columns_read(model: Any, df: DataFrame, columns: Sequence[str] | None) -> list[str]:
    """Return the columns to give to the model."""
    if columns is None:
        known = getattr(model, "feature_names_in_", None) if not isinstance(model, FrozenModel) else None
        columns = df.columns if known is None else [name for name in known if name in df.columns]
    return check_columns(df, [columns] if isinstance(columns, str) else columns)


def _as_column(values: Any) -> pa.Array:
    """Return predictions as a column: numbers, strings, or of several columns lists."""
    values = np.asarray(values)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 1:
        return pa.array(values)
    offsets = np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values.ravel()))


def _spark_schema(schema: pa.Schema) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema without types that Spark has not: large lists and the like."""
    return pa.schema([pa.field(field.name, _plain_type(field.type)) for field in schema])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind):
        return pa.list_(_plain_type(kind.value_type))
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _plain_type(field.type)) for field in kind])
    return pa.string() if pa.types.is_large_string(kind) else kind


def _mapped(
    model: Any, df: DataFrame, answer: Callable[[Any, pa.Table], pa.Table], schema: StructType, tokens: Any
) -> DataFrame:
    """Apply a function of model and rows to all batches."""
    sent = df.sparkSession.sparkContext.broadcast(tuple(ModelBytes.of(model)))

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        loaded = ModelBytes(*sent.value).load(tokens)
        for batch in batches:
            if len(batch):
                yield from answer(loaded, pa.Table.from_batches([batch])).combine_chunks().to_batches()

    return df.mapInArrow(run, schema)
