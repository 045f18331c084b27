"""Masks of the incidence variant: computed from the deleted genes and the incidence."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tcbuild._graph.cell import Cell
from tcbuild._masks.masks import Bytes, ascending, write_masks, write_packed
from tcbuild._table.sample_table import Table


class ComputedMasks:
    """Computes the masks of `size` positions of a table's samples."""

    def __init__(self, table: Table, size: int, cell: Cell):
        self._table = table
        self._size = size
        self._cell = cell

    def removed(self, index: int) -> npt.NDArray[np.uint32]:
        return ascending(self.unordered(index)).astype(np.uint32)

    def write_masks(self, index: int, out: Bytes) -> None:
        write_masks(self.unordered(index), out)

    def write_packed(self, index: int, out: Bytes) -> None:
        write_packed(self.unordered(index), self._size, out)

    def unordered(self, index: int) -> npt.NDArray[np.int32]:
        """The removed positions in any order, possibly repeated."""
        return self._cell.removal.positions(self._table.deleted(index))
