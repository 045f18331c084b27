"""Edges of batches without those that are removed, at the cost of what is removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils.dlpack import from_dlpack

EdgeType = tuple[str, str, str]


@dataclass
class _Copy:
    """A copy of the edges of size samples, in which edges were moved.

    moved: where, and what was there before
    lent: the memory that a batch has of it
    """

    size: int
    tensors: dict[EdgeType, Tensor]
    moved: list[tuple[Tensor, Tensor, Tensor]] = field(default_factory=list)
    lent: list[StorageWeakRef] = field(default_factory=list)

    def is_free(self) -> bool:
        return all(storage.expired() for storage in self.lent)  # type: ignore[no-untyped-call]


class PatchedEdges:
    """Copies of a graph's edges on a device. From one that no batch has any more, a batch gets what
    it keeps: the places of removed edges are taken by the last edges that are kept.
    """

    def __init__(self, lay_out: Callable[[EdgeType, int], Tensor]):
        """lay_out: makes the edges of a type for B samples, int64 [2, B * E], in new memory"""
        self._lay_out = lay_out
        self._copies: list[_Copy] = []

    def edges(
        self, removed: dict[EdgeType, npt.NDArray[np.int64]], size: int
    ) -> dict[EdgeType, Tensor]:
        """Per edge type int64 [2, K] of a batch. removed: which edges go, ascending"""
        copy = self._free(list(removed), size)
        given = {}
        for kind, positions in removed.items():
            whole = copy.tensors[kind]
            edges = whole.narrow(1, 0, whole.size(1) // copy.size * size)
            kept = edges.size(1) - len(positions)
            holes = positions[positions < kept]
            if len(holes):
                last = np.ones(len(positions), bool)
                last[positions[len(holes) :] - kept] = False
                moving, to = (
                    _sent(places, edges.device) for places in (kept + np.flatnonzero(last), holes)
                )
                for row in edges:  # 10 times as fast as both at once
                    copy.moved.append((row, to, row.index_select(0, to)))
                    row.index_copy_(0, to, row.index_select(0, moving))
            lent = from_dlpack(whole)  # the same memory under a storage of its own
            copy.lent.append(StorageWeakRef(lent.untyped_storage()))  # type: ignore[no-untyped-call]
            given[kind] = lent.narrow(1, 0, kept)
        return given

    def _free(self, kinds: list[EdgeType], size: int) -> _Copy:
        """A copy that no batch has, as it was laid out. Of those, one is kept for the next time."""
        free = [copy for copy in self._copies if copy.is_free()]
        fitting = [copy for copy in free if copy.size >= size and [*copy.tensors] == kinds]
        self._copies = [copy for copy in self._copies if not copy.is_free()]
        if fitting:
            copy = fitting[0]
            for row, places, before in copy.moved:
                row.index_copy_(0, places, before)
            copy.moved, copy.lent = [], []
        else:
            del free  # before the new one is made
            copy = _Copy(size, {kind: self._lay_out(kind, size) for kind in kinds})
        self._copies.append(copy)
        return copy


def _sent(places: npt.NDArray[np.int64], device: torch.device) -> Tensor:
    """Numbers on a device, without waiting for it."""
    tensor = torch.from_numpy(places)
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)
