"""The columns of a node or edge table beside its ids and ends, as NumPy arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._table.columns import missing, number_type, view


class GraphColumns(Mapping[str, npt.NDArray[Any]]):
    """Column name -> its values, one per node or edge, made when they are asked for.

    Numbers have the type of the column, booleans are bool. A fixed-size list of them, such as an
    embedding, is a row of a two-dimensional array, and so on. Floating-point numbers are NaN where
    missing. Text, other types, and other columns with a missing value are objects, None where
    missing. In text files each column is text.
    """

    def __init__(self, table: pa.Table, without: Collection[str]):
        self._names = [name for name in table.column_names if name not in without]
        self._table = table.select(self._names)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self._names:
            raise KeyError(name)
        column = self._table.column(name)
        try:
            parts = [_numbers(chunk) for chunk in column.chunks or [pa.array([], column.type)]]
        except TypeError:
            values = np.empty(len(column), object)
            values[:] = column.to_pylist()
            return values
        return np.concatenate(parts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<tcbuild.GraphColumns: {', '.join(self)}>"


def _numbers(chunk: pa.Array) -> npt.NDArray[Any]:
    """An array of numbers, booleans or fixed-size lists; TypeError for others or without NaN."""
    kind = chunk.type
    if pa.types.is_fixed_size_list(kind) and not chunk.null_count:
        items = chunk.values[chunk.offset * kind.list_size :][: len(chunk) * kind.list_size]
        found = _numbers(items)
        return found.reshape(len(chunk), kind.list_size, *found.shape[1:])
    if pa.types.is_boolean(kind) and not chunk.null_count:
        return np.array(chunk.to_pylist(), bool)
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) and not chunk.null_count:
        values = view(chunk, number_type(kind))
        if chunk.null_count:
            values = values.copy()
            values[missing(pa.chunked_array([chunk]))] = np.nan
        return values
    raise TypeError(f"type {kind}")
