"""Columns of the sample table as NumPy arrays, and which of its rows are wanted."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Rows = range | npt.NDArray[np.int64]  # samples, in any order, by their index in the dataset
Values = slice | npt.NDArray[np.int64]  # what selects them from an array


def numbers(
    column: pa.ChunkedArray, out: npt.NDArray[np.float64] | None = None
) -> npt.NDArray[np.float64]:
    """Floating-point numbers, NaN where null, in out if it is given."""
    values = np.empty(len(column), np.float64) if out is None else out
    start = 0
    for chunk in column.chunks:
        into = values[start : start + len(chunk)]
        into[:] = view(chunk, np.float64)
        into[missing(chunk)] = np.nan
        start += len(chunk)
    return values


def view(chunk: pa.Array, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """The values of an array of numbers; missing ones have any value.

    Arrow's own to_numpy imports pandas where it is installed: 0.4 s and 60 MB.
    """
    found = np.frombuffer(chunk.buffers()[1] or b"", kind)
    return found[chunk.offset : chunk.offset + len(chunk)]


def number_type(kind: pa.DataType) -> np.dtype[Any]:
    """NumPy's type of a type of numbers. Before pyarrow 26 its own conversion imports pandas."""
    letter = "f" if pa.types.is_floating(kind) else "i" if pa.types.is_signed_integer(kind) else "u"
    return np.dtype(f"{letter}{kind.bit_width // 8}")


def whole(column: pa.ChunkedArray, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """The values of a column of numbers; missing ones have any value."""
    return np.concatenate([np.empty(0, kind), *(view(chunk, kind) for chunk in column.chunks)])


def missing(chunk: pa.Array) -> npt.NDArray[np.int64]:
    """Where an array is null."""
    bits = chunk.buffers()[0]
    if bits is None or not chunk.null_count:
        return np.empty(0, np.int64)
    there = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    return np.flatnonzero(there[chunk.offset : chunk.offset + len(chunk)] == 0)


def texts(column: pa.ChunkedArray) -> npt.NDArray[np.object_]:
    """Texts with a dictionary as an array of str, None where null. Equal texts are one object."""
    found = [np.empty(0, object)]
    for chunk in column.chunks:
        values = np.array([*chunk.dictionary.to_pylist(), None], object)
        words = view(chunk.indices, np.int32).copy()
        words[missing(chunk)] = -1
        found.append(values[words])
    return np.concatenate(found)


def ranks(column: pa.Array | pa.ChunkedArray, values: pa.Array) -> npt.NDArray[np.int32]:
    """The rank of each text among some values, -1 for others."""
    compute = import_module("pyarrow.compute")  # half of the time that importing tcbuild would take
    found = compute.index_in(column, value_set=values).fill_null(-1)
    return whole(
        found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found]), np.int32
    )


def lists(
    column: pa.ChunkedArray,
) -> Iterator[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]]:
    """For each chunk the items of all lists, and bounds: list i is items[bounds[i]:bounds[i+1]]."""
    for chunk in column.chunks:
        bounds = ends(chunk)
        yield view(chunk.values, np.int32)[bounds[0] : bounds[-1]], bounds - bounds[0]


def ends(chunk: pa.Array) -> npt.NDArray[np.int32]:
    """Where the items of each list or text of an array begin, and where the last one's end."""
    found = np.frombuffer(chunk.buffers()[1], np.int32)
    return found[chunk.offset : chunk.offset + len(chunk) + 1]


def within_parts(rows: Rows, per_part: int) -> Iterator[tuple[int, Values, Values]]:
    """For each part that has some of the rows, in order: its number, their places in rows, and
    which of its rows they are.
    """
    if isinstance(rows, range) and rows.step == 1:
        for start in range(rows.start - rows.start % per_part, rows.stop, per_part):
            first, last = max(start, rows.start), min(start + per_part, rows.stop)
            places = slice(first - rows.start, last - rows.start)
            yield start // per_part, places, slice(first - start, last - start)
        return
    rows = as_array(rows)
    part_of = rows // per_part
    if len(rows) and part_of.max() < 1 << 16:
        part_of = part_of.astype(np.uint16)  # NumPy sorts 16 bits by radix
    order = np.argsort(part_of, kind="stable")
    parts, firsts = np.unique(part_of[order], return_index=True)
    for part, chosen in zip(parts.tolist(), np.split(order, firsts[1:])):
        yield part, chosen, rows[chosen] - part * per_part


def as_array(rows: Rows) -> npt.NDArray[np.int64]:
    """The rows as an array; NumPy would walk through a range."""
    if isinstance(rows, range):
        return np.arange(rows.start, rows.stop, rows.step, dtype=np.int64)
    return rows


def take(rows: Rows, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The rows at some places."""
    if isinstance(rows, range):
        return rows.start + rows.step * places
    return rows[places]


def mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Numbers with their bits mixed, as SplitMix64 does."""
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return values ^ values >> np.uint64(31)
