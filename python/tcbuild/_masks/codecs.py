"""The codecs: decode a record's payload as removed positions, masks, or packed masks.

store/FORMAT.md specifies the payloads. An invalid payload is a ValueError, which the caller turns
into an error that names the sample. A codec has a decompressor and must be used by one thread only.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tcbuild._masks.masks import (
    Bytes,
    Positions,
    removed_of_packed,
    unpack,
    write_masks,
    write_packed,
)
from tcbuild.errors import missing_package


class Codec(Protocol):
    """Decodes payloads of `size` positions. For `out` see tcbuild.masks."""

    size: int

    def removed(self, payload: memoryview) -> npt.NDArray[np.uint32]:
        """The removed positions, ascending."""

    def write_masks(self, payload: memoryview, out: Bytes) -> None:
        """One byte per position."""

    def write_packed(self, payload: memoryview, out: Bytes) -> None:
        """One bit per position."""


class _Indices:
    """Decodes payloads that list removed positions."""

    def __init__(self, size: int):
        self.size = size

    def removed(self, payload: memoryview) -> npt.NDArray[np.uint32]:
        return self._positions(payload).astype(np.uint32)

    def write_masks(self, payload: memoryview, out: Bytes) -> None:
        write_masks(self._positions(payload), out)

    def write_packed(self, payload: memoryview, out: Bytes) -> None:
        write_packed(self._positions(payload), self.size, out)

    def _positions(self, payload: memoryview) -> Positions:
        removed = self._decode(payload)
        if len(removed) and removed[-1] >= self.size:
            raise ValueError(f"removed position {removed[-1]}, expected below {self.size}")
        return removed

    def _decode(self, payload: memoryview) -> Positions:
        raise NotImplementedError


class IndicesRaw(_Indices):
    def _decode(self, payload: memoryview) -> Positions:
        return np.frombuffer(payload, "<u4")


class IndicesDelta(_Indices):
    def _decode(self, payload: memoryview) -> Positions:
        runs = int.from_bytes(payload[:4], "little")
        marks = 4 + 2 * runs
        lengths = marks + (runs + 7) // 8
        gaps = np.frombuffer(payload[4:marks], "<u2").astype(np.int64)
        listed = np.frombuffer(payload[lengths:], "<u2")
        return _expand(runs, gaps, np.frombuffer(payload[marks:lengths], np.uint8), listed)


class IndicesZstd(_Indices):
    def __init__(self, size: int):
        super().__init__(size)
        self._decompress = _decompressor()

    def _decode(self, payload: memoryview) -> Positions:
        runs = int.from_bytes(payload[:4], "little")
        low = np.frombuffer(payload[4 : 4 + runs], np.uint8)
        frame = np.frombuffer(self._decompress(payload[4 + runs :]), np.uint8)
        lengths = runs + (runs + 7) // 8
        gaps, listed = _join_bytes(low, frame[:runs]), _join_halves(frame[lengths:])
        return _expand(runs, gaps, frame[runs:lengths], listed)


class FullMasksRaw:
    def __init__(self, size: int):
        self.size = size

    def removed(self, payload: memoryview) -> npt.NDArray[np.uint32]:
        return np.flatnonzero(self._masks(payload) == 0).astype(np.uint32)

    def write_masks(self, payload: memoryview, out: Bytes) -> None:
        out[:] = self._masks(payload)

    def write_packed(self, payload: memoryview, out: Bytes) -> None:
        out[:] = np.packbits(self._masks(payload), bitorder="little")

    def _masks(self, payload: memoryview) -> Bytes:
        return _bytes_of(payload, self.size)


class FullMasksBits:
    def __init__(self, size: int):
        self.size = size

    def removed(self, payload: memoryview) -> npt.NDArray[np.uint32]:
        return removed_of_packed(self._packed(payload), self.size)

    def write_masks(self, payload: memoryview, out: Bytes) -> None:
        unpack(self._packed(payload), out)

    def write_packed(self, payload: memoryview, out: Bytes) -> None:
        out[:] = self._packed(payload)

    def _packed(self, payload: memoryview | bytes) -> Bytes:
        return _bytes_of(payload, (self.size + 7) // 8)


class FullMasksZstd(FullMasksBits):
    def __init__(self, size: int):
        super().__init__(size)
        self._decompress = _decompressor()

    def _packed(self, payload: memoryview | bytes) -> Bytes:
        return super()._packed(self._decompress(payload))


CODECS: dict[tuple[str, str], Callable[[int], Codec]] = {
    ("indices", "raw"): IndicesRaw,
    ("indices", "delta"): IndicesDelta,
    ("indices", "zstd"): IndicesZstd,
    ("full-masks", "raw"): FullMasksRaw,
    ("full-masks", "bits"): FullMasksBits,
    ("full-masks", "zstd"): FullMasksZstd,
}


def _decompressor() -> Callable[[memoryview | bytes], bytes]:
    """Decompresses frames of Zstandard."""
    try:
        zstandard: Any = import_module("zstandard")
    except ModuleNotFoundError as error:
        raise missing_package("reading masks of the codec zstd", error) from error
    frames = zstandard.ZstdDecompressor()

    def decompress(frame: memoryview | bytes) -> bytes:
        try:
            content: bytes = frames.decompress(frame)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
        return content

    return decompress


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
    joined = np.zeros((len(low), 8), np.uint8)
    joined[:, 0] = low
    joined[:, 1] = high
    return joined.view("<i8").ravel()


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
