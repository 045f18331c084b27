"""Writes masks from removed positions, and reads them back, without a loop over positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.integer[Any]]

_WORD = 64
_ALL_KEPT = np.uint64(2**64 - 1)


def ascending(positions: Positions) -> Positions:
    """The unique positions, sorted. np.unique, which hashes, takes 15 times as long."""
    positions = np.sort(positions)
    first = np.ones(len(positions), bool)
    np.not_equal(positions[1:], positions[:-1], out=first[1:])
    return positions[first]


def write_masks(removed: Positions, out: Bytes) -> None:
    """Removed positions, in any order and possibly repeated, as a byte per position of all masks:
    1 keep, 0 removed.
    """
    out.fill(1)
    out[removed.astype(np.intp, copy=False)] = 0  # twice as long with other integers


def removed_of_packed(packed: Bytes, size: int) -> Positions:
    """The removed positions of packed masks, ascending. Nearly all positions are kept, so only
    64-bit words with a removed one are unpacked.
    """
    whole = size // _WORD
    words = packed[: whole * 8].view(np.uint64)
    removing = np.flatnonzero(words != _ALL_KEPT)
    zeros = np.flatnonzero(np.unpackbits(words[removing].view(np.uint8), bitorder="little") == 0)
    in_words = removing[zeros // _WORD] * _WORD + zeros % _WORD
    rest = np.unpackbits(packed[whole * 8 :], count=size - whole * _WORD, bitorder="little")
    return np.concatenate([in_words, whole * _WORD + np.flatnonzero(rest == 0)])
