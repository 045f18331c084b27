"""Reuses large blocks of CPU memory.

Memory that is new to a process costs several times as much as writing it, because the kernel clears
it page by page. The masks of a batch take tens of megabytes and live for one step, so one block
that was freed is kept for the next batch of the same size.
"""

from __future__ import annotations

import weakref

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

Bytes = npt.NDArray[np.uint8]

_spare: dict[int, Bytes] = {}  # by length; at most one


def unwritten_bytes(length: int) -> Tensor:
    """uint8 [length] with any content. The caller owns it until nothing refers to its memory."""
    memory = _spare.pop(length, None)
    if memory is None:
        memory = np.empty(length, np.uint8)  # unlike torch, NumPy asks the kernel for huge pages
    lent = memory[:]  # torch holds this array while any tensor shares its memory
    weakref.finalize(lent, _keep, memory).atexit = False
    return torch.from_numpy(lent)


def _keep(memory: Bytes) -> None:
    _spare.clear()
    _spare[len(memory)] = memory
