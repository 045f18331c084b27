"""Masks of the incidence variant: computed from the deleted genes and the incidence."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tcbuild._graph.cell import Cell
from tcbuild._table.combinations import Table


class ComputedMasks:
    """Computes the removed positions of a table's samples."""

    def __init__(self, table: Table, cell: Cell):
        self._table, self._cell = table, cell

    def unordered(self, index: int) -> npt.NDArray[np.int32]:
        """The removed positions in any order, possibly repeated."""
        return self._cell.removal.positions(self._table.deleted(index))
