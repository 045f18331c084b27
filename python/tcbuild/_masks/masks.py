"""Writes masks from removed positions, and reads them back.

`out` is uint8, contiguous: one byte per position of all masks (1 keep, 0 removed), or packed, one
bit per position in little bit order, with the bits after the last position 0. Nothing here loops
over positions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.integer[Any]]

_WORD = 64
_ALL_KEPT = np.uint64(2**64 - 1)
_UNPACKED = np.dtype((np.void, _WORD))  # the bytes of a word, which NumPy copies as one item


def ascending(positions: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """The unique positions, sorted. np.unique, which hashes, takes 15 times as long."""
    positions = np.sort(positions)
    first = np.ones(len(positions), bool)
    np.not_equal(positions[1:], positions[:-1], out=first[1:])
    return positions[first]


def write_masks(removed: Positions, out: Bytes) -> None:
    """Removed positions, in any order and possibly repeated, as one byte per position."""
    out.fill(1)
    out[removed.astype(np.intp, copy=False)] = 0  # twice as long with other integers


def write_packed(removed: Positions, size: int, out: Bytes) -> None:
    """Removed positions, in any order and possibly repeated, as the bits of size positions."""
    out.fill(255)
    if size % 8:
        out[-1] = (1 << size % 8) - 1
    np.bitwise_and.at(
        out, removed >> 3, ~np.left_shift(1, removed & 7, dtype=np.uint8, casting="unsafe")
    )


def unpack(packed: Bytes, out: Bytes) -> None:
    """Packed masks as one byte per position.

    Nearly all positions are kept, so only 64-bit words with a removed position are unpacked.
    """
    whole = len(out) // _WORD
    words = packed[: whole * 8].view(np.uint64)
    removing = (words != _ALL_KEPT).nonzero()[0]
    unpacked = np.unpackbits(words[removing].view(np.uint8), bitorder="little")
    out.fill(1)
    out[: whole * _WORD].view(_UNPACKED)[removing] = unpacked.view(_UNPACKED)
    rest = out[whole * _WORD :]
    rest[:] = np.unpackbits(packed[whole * 8 :], count=len(rest), bitorder="little")


def removed_of_packed(packed: Bytes, size: int) -> npt.NDArray[np.uint32]:
    """The removed positions of packed masks, ascending."""
    whole = size // _WORD
    words = packed[: whole * 8].view(np.uint64)
    removing = np.flatnonzero(words != _ALL_KEPT)
    zeros = np.flatnonzero(np.unpackbits(words[removing].view(np.uint8), bitorder="little") == 0)
    in_words = removing[zeros // _WORD] * _WORD + zeros % _WORD
    rest = np.unpackbits(packed[whole * 8 :], count=size - whole * _WORD, bitorder="little")
    return np.concatenate([in_words, whole * _WORD + np.flatnonzero(rest == 0)]).astype(np.uint32)
