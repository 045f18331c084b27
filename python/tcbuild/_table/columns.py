"""Columns of the sample table as NumPy arrays, and which of its rows are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Rows = range | npt.NDArray[np.int64]  # samples, in any order, by their index in the dataset
Values = slice | npt.NDArray[np.int64]  # what selects them from an array


def numbers(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """Floating-point numbers, NaN where null. The caller owns the array."""
    values = whole(column, np.float64)
    values[missing(column)] = np.nan
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


def missing(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Where a column is null."""
    found, start = [np.empty(0, np.int64)], 0
    for chunk in column.chunks:
        if chunk.null_count:
            bits = np.unpackbits(np.frombuffer(chunk.buffers()[0], np.uint8), bitorder="little")
            there = bits[chunk.offset : chunk.offset + len(chunk)]
            found.append(start + np.flatnonzero(there == 0))
        start += len(chunk)
    return np.concatenate(found)


def texts(column: pa.ChunkedArray) -> npt.NDArray[np.object_]:
    """Texts with a dictionary as an array of str, None where null. Equal texts are one object."""
    words, codes = coded(column)
    return np.array([*words.to_pylist(), None], object)[codes]


def coded(column: pa.ChunkedArray) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """The words of texts with a dictionary, and the index of each text, -1 where null."""
    column = column.unify_dictionaries()
    chunks = [chunk.indices for chunk in column.chunks]
    codes = whole(pa.chunked_array(chunks, pa.int32()), np.int32)
    codes[missing(column)] = -1
    return column.chunk(0).dictionary if chunks else pa.array([], pa.string()), codes


def ranks(column: pa.Array | pa.ChunkedArray, values: pa.Array) -> npt.NDArray[np.int32]:
    """The rank of each text among some values, -1 for others."""
    compute = import_module("pyarrow.compute")  # half of the time that importing tcbuild would take
    found = compute.index_in(column, value_set=values).fill_null(-1)
    return whole(
        found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found]), np.int32
    )


def lists(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The items of all lists, and bounds: list i is items[bounds[i]:bounds[i+1]]."""
    joined = column.combine_chunks()
    bounds = np.frombuffer(joined.buffers()[1] or bytes(4), np.int32)
    bounds = bounds[joined.offset : joined.offset + len(joined) + 1]
    return view(joined.values, np.int32)[bounds[0] : bounds[-1]], bounds - bounds[0]


def bounds_of(sizes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Where groups of these sizes begin, one after the other, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def ragged(
    starts: npt.NDArray[np.integer[Any]], sizes: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[np.int64]:
    """The numbers start, start + 1, … of each group, one group after the other."""
    bounds = bounds_of(sizes)
    return np.repeat(starts - bounds[:-1], sizes) + np.arange(bounds[-1])


def joined(
    arrays: Sequence[npt.NDArray[Any]], which: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[Any]:
    """arrays[which[0]], arrays[which[1]], … as one array; empty int8 if there is none."""
    if not arrays:
        return np.empty(0, np.int8)
    sizes = np.array([*map(len, arrays)])
    return np.concatenate(arrays)[ragged(bounds_of(sizes)[:-1][which], sizes[which])]


def within_parts(rows: Rows, per_part: int) -> Iterator[tuple[int, Values, Values]]:
    """Per part with some of the rows: its number, their places in rows, and in the part."""
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
