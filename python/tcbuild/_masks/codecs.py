"""The codecs: from a record's payload to removed positions.

docs/FORMAT.md specifies the payloads. A codec takes a payload and the number of positions. An
invalid payload is a ValueError, which the caller turns into an error that names the sample.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from tcbuild._masks.masks import Bytes, Positions, removed_of_packed
from tcbuild.errors import missing_package


def _indices_raw(payload: memoryview, size: int) -> Positions:
    return _below(np.frombuffer(payload, "<u4"), size)


def _indices_delta(payload: memoryview, size: int) -> Positions:
    runs = int.from_bytes(payload[:4], "little")
    marks = 4 + 2 * runs
    lengths = marks + (runs + 7) // 8
    gaps = np.frombuffer(payload[4:marks], "<u2").astype(np.int64)
    listed = np.frombuffer(payload[lengths:], "<u2")
    marked = np.frombuffer(payload[marks:lengths], np.uint8)
    return _below(_expand(runs, gaps, marked, listed), size)


def _indices_zstd(payload: memoryview, size: int) -> Positions:
    runs = int.from_bytes(payload[:4], "little")
    low = np.frombuffer(payload[4 : 4 + runs], np.uint8)
    frame = np.frombuffer(_decompressed(payload[4 + runs :]), np.uint8)
    lengths = runs + (runs + 7) // 8
    gaps, listed = _join_bytes(low, frame[:runs]), _join_halves(frame[lengths:])
    return _below(_expand(runs, gaps, frame[runs:lengths], listed), size)


def _full_masks_raw(payload: memoryview, size: int) -> Positions:
    return np.flatnonzero(_bytes_of(payload, size) == 0)


def _full_masks_bits(payload: memoryview | bytes, size: int) -> Positions:
    return removed_of_packed(_bytes_of(payload, (size + 7) // 8), size)


def _full_masks_zstd(payload: memoryview, size: int) -> Positions:
    return _full_masks_bits(_decompressed(payload), size)


CODECS: dict[tuple[str, str], Callable[[memoryview, int], Positions]] = {
    ("indices", "raw"): _indices_raw,
    ("indices", "delta"): _indices_delta,
    ("indices", "zstd"): _indices_zstd,
    ("full-masks", "raw"): _full_masks_raw,
    ("full-masks", "bits"): _full_masks_bits,
    ("full-masks", "zstd"): _full_masks_zstd,
}


def _below(removed: Positions, size: int) -> Positions:
    """Ascending positions, after checking that they are below the size."""
    if len(removed) and removed[-1] >= size:
        raise ValueError(f"removed position {removed[-1]}, expected below {size}")
    return removed


@cache
class _Zstandard(threading.local):
    """A decompressor for each thread. The package is imported where it is needed."""

    def __init__(self) -> None:
        try:
            zstandard: Any = import_module("zstandard")
        except ModuleNotFoundError as error:
            raise missing_package("reading masks of the codec zstd", error) from error
        self.frames, self.error = zstandard.ZstdDecompressor(), zstandard.ZstdError


def _decompressed(frame: memoryview) -> bytes:
    """The content of a frame of Zstandard."""
    zstandard = _Zstandard()
    try:
        content: bytes = zstandard.frames.decompress(frame)
    except zstandard.error as error:
        raise ValueError(str(error)) from error
    return content


def _bytes_of(payload: memoryview | bytes, expected: int) -> Bytes:
    if len(payload) != expected:
        raise ValueError(f"payload of {len(payload)} bytes, expected {expected}")
    return np.frombuffer(payload, np.uint8)


def _join_halves(words: Bytes) -> npt.NDArray[np.int64]:
    """16-bit numbers: the low bytes of all, then their high bytes."""
    return _join_bytes(words[: len(words) // 2], words[len(words) // 2 :])


def _join_bytes(low: Bytes, high: Bytes) -> npt.NDArray[np.int64]:
    """16-bit numbers whose low and high bytes are stored separately."""
    if len(low) != len(high):
        raise ValueError(f"{len(low)} low bytes, expected {len(high)}, as there are high bytes")
    return low.astype(np.int64) | high.astype(np.int64) << 8


def _expand(
    runs: int, gaps: npt.NDArray[np.int64], marks: Bytes, listed: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[np.int64]:
    """The positions of runs: each is a gap of kept positions and a length, which is 1 unless the
    run is marked and its length listed.
    """
    marked = np.unpackbits(marks, count=runs, bitorder="little").view(bool)
    if len(gaps) != runs or np.count_nonzero(marked) != len(listed):
        raise ValueError(
            f"{len(gaps)} gaps and {len(listed)} lengths, expected {runs} and "
            f"{np.count_nonzero(marked)}"
        )
    lengths = np.ones(runs, np.int64)
    lengths[marked] = listed
    # Within a run, a position is its rank among the removed ones plus the sum of all gaps up to it.
    positions = gaps.cumsum().repeat(lengths)
    positions += np.arange(len(positions))
    return positions
