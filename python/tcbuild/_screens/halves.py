"""The two cells of each pair of genes in a matrix: (a, b) and (b, a).

np.triu and fillna(0) fill one triangle with a constant, which gives each pair a false
measurement. Rows and columns may have been sorted afterwards, so we look for a value that at least
one cell of every pair has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tcbuild.errors import InputError

_LEAVE_EMPTY = "leave the fields empty that were filled and not measured"


class Halves:
    """Compares the two cells of each pair. A row has the position of its column, by name or else
    by gene, so that rows may have another order.

    row_genes, column_genes: -1 for other names. values: of rows × columns, NaN where dropped
    """

    def __init__(
        self,
        rows: Sequence[str],
        columns: Sequence[str],
        row_genes: npt.NDArray[np.int64],
        column_genes: npt.NDArray[np.int64],
        values: npt.NDArray[np.float64],
    ):
        self._names, self._values = (rows, columns), values
        named = {name: place for place, name in enumerate(columns)}
        of_gene: dict[int, list[int]] = {}
        for place, gene in enumerate(column_genes.tolist()):
            of_gene.setdefault(gene, []).append(place)
        of_gene.pop(-1, None)
        position = np.full(len(rows), -1)
        for row, (name, gene) in enumerate(zip(rows, row_genes.tolist())):
            alone = of_gene.get(gene, ())
            position[row] = named.get(name, alone[0] if len(alone) == 1 else -1)
        self._row_of = np.full(len(columns), -1)  # a column's
        self._row_of[position[position >= 0]] = np.flatnonzero(position >= 0)
        self._place = np.arange(len(columns)) - position[:, None]  # > 0: right of the own column
        self._has_column = position[:, None] >= 0
        other = np.full(values.shape, np.nan)
        square = np.ix_(position >= 0, self._row_of >= 0)
        other[square] = values[np.ix_(self._row_of[self._row_of >= 0], position[position >= 0])].T
        is_later = self._row_of[None, :] < np.arange(len(rows))[:, None]
        both = is_later & (self._place != 0) & ~np.isnan(values) & ~np.isnan(other)
        self._other, self._differs = other, both & (values != other)
        self.equal = both & (values == other)  # the later cell of a pair with two equal values
        self._pairs = int(np.count_nonzero(both))
        self._is_square = bool(self._has_column.all() and (self._row_of >= 0).all())
        self._fills = self._find_fills(both)

    def _find_fills(self, both: npt.NDArray[np.bool_]) -> dict[float, tuple[int, int]]:
        """The values that one cell of each pair has, and how many cells of unequal pairs have them
        in the upper and in the lower triangle.
        """
        one, other, place = self._values[both], self._other[both], self._place[both]
        upper, lower = np.where(place > 0, one, other), np.where(place > 0, other, one)
        fills = {}
        for value in {*upper[:1].tolist(), *lower[:1].tolist()}:
            if ((upper == value) | (lower == value)).all():
                counts = [np.count_nonzero((a == value) & (upper != lower)) for a in (upper, lower)]
                fills[value] = (int(counts[0]), int(counts[1]))
        return fills

    def outside(self, triangle: str) -> npt.NDArray[np.bool_]:
        """The cells in the other triangle than this one."""
        is_other = self._place < 0 if triangle == "upper" else self._place > 0
        outside: npt.NDArray[np.bool_] = self._has_column & is_other
        return outside

    def check(self, triangle: str | None, both_halves: bool) -> None:
        """InputError if a triangle may be filled, or if only some pairs have two equal values."""
        if not self._differs.any():
            return
        may_be_filled = triangle is None and self._fills
        reads_all = triangle in (None, "both") and not both_halves
        if reads_all and self.equal.any() and not may_be_filled:
            raise InputError(
                f"read matrix: found {self._example()}, expected one value, as other cells of the "
                "two halves are equal",
                "correct the matrix; if pairs were measured both ways, set both_halves=True",
            )
        if self._fills and (self._pairs > 1 or self._is_square):
            if triangle is None:
                self._refuse_filled()
            self._refuse_triangle(triangle)

    def _refuse_filled(self) -> None:
        both = "if both were measured, set triangle='both'"
        if len(self._fills) > 1:
            raise InputError(
                "read matrix: found a single value in each triangle of a matrix of genes: "
                + self._example(),
                "if one was filled and not measured, set triangle='upper' or triangle='lower' to "
                f"read the other; {both}",
            )
        ((value, (upper, lower)),) = self._fills.items()
        if upper and lower:
            raise InputError(
                f"read matrix: found {value:g} in one of the two cells of every pair, such as "
                f"{self._example()}, but not in one triangle",
                f"{_LEAVE_EMPTY}; if all were measured, set triangle='both'",
            )
        constant, other = ("upper", "lower") if upper else ("lower", "upper")
        raise InputError(
            f"read matrix: found {value:g} in all cells of the {constant} triangle of a matrix of "
            f"genes and other values in the {other} one, such as {self._example()}",
            f"if it was filled and not measured, set triangle={other!r} to read only the other "
            f"half; {both}",
        )

    def _refuse_triangle(self, triangle: Any) -> None:
        ((value, (upper, lower)), *more) = self._fills.items()
        if not more and {"upper": upper, "lower": lower}.get(triangle):
            raise InputError(
                f"read matrix: found {value:g} in cells of the {triangle} triangle, in the order "
                "of columns, whose pairs have other values in the other triangle, such as "
                f"{self._example()}; expected measured values",
                f"{_LEAVE_EMPTY}, or name the other triangle",
            )

    def _example(self) -> str:
        """The first two values that differ."""
        row, column = np.unravel_index(self._differs.argmax(), self._differs.shape)
        a, b = self._names[0][row], self._names[1][column]
        values = self._other[row, column], self._values[row, column]
        return f"{values[0]:g} for '{b}: {a}' and {values[1]:g} for '{a}: {b}'"
