"""Models for other places than Python: files and queries that score the same."""

from clearset.export._c_values import write_value_c
from clearset.export._onnx_items import ItemModel, ReadTable, ScoredTable, write_item_onnx
from clearset.export._onnx_values import write_value_onnx
from clearset.export._runtime_files import write_item_runtime, write_value_runtime
from clearset.export._sql_items import CornerScores, item_sql
from clearset.export._sql_query import Places, Sql
from clearset.export._sql_values import value_sql
from clearset.export._value_model import ValueModel

__all__ = [
    "CornerScores",
    "ItemModel",
    "Places",
    "ReadTable",
    "ScoredTable",
    "Sql",
    "ValueModel",
    "item_sql",
    "value_sql",
    "write_item_onnx",
    "write_item_runtime",
    "write_value_c",
    "write_value_onnx",
    "write_value_runtime",
]
