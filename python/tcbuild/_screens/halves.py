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
_BOTH = "if both cells were measured, set triangle='both'"


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
        row_of = np.full(len(columns), -1)  # a column's
        row_of[position[position >= 0]] = np.flatnonzero(position >= 0)
        self._place = np.arange(len(columns)) - position[:, None]  # > 0: right of the own column
        self._has_column = position[:, None] >= 0
        other = np.full(values.shape, np.nan)
        other[np.ix_(position >= 0, row_of >= 0)] = values[
            np.ix_(row_of[row_of >= 0], position[position >= 0])
        ].T
        is_later = row_of[None, :] < np.arange(len(rows))[:, None]
        both = is_later & (self._place != 0) & ~np.isnan(values) & ~np.isnan(other)
        self._other, self._differs = other, both & (values != other)
        self.equal = both & (values == other)  # the later cell of a pair with two equal values
        is_square = bool(self._has_column.all() and (row_of >= 0).all())
        self._tells = np.count_nonzero(both) > 1 or is_square  # whether a constant says anything
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

    def check(self, triangle: str | None) -> None:
        """InputError if a triangle may be filled, or if only some pairs have two equal values."""
        if triangle == "both" or not self._differs.any():
            return
        if triangle is None and self.equal.any() and not self._fills:
            raise InputError(
                f"read matrix: found {self._example()}, expected one value, as other cells of the "
                "two halves are equal",
                f"correct the matrix; {_BOTH}",
            )
        if self._fills and self._tells:
            self._refuse(*self._fills.items()) if triangle is None else self._refuse_half(triangle)

    def _refuse(self, fill: tuple[float, tuple[int, int]], *more: Any) -> None:
        value, (upper, lower) = fill
        constant, other = ("upper", "lower") if upper else ("lower", "upper")
        found = f"{value:g} in all cells of the {constant} triangle of a matrix of genes and other "
        found += f"values in the {other} one, such as {self._example()}"
        hint = f"if it was filled and not measured, set triangle={other!r} to read the other half"
        if more:
            found = f"a single value in each triangle of a matrix of genes: {self._example()}"
            hint = "if one was filled and not measured, set triangle='upper' or triangle='lower'"
        elif upper and lower:
            found = f"{value:g} in one of the two cells of every pair, such as {self._example()}, "
            found, hint = f"{found}but not in one triangle", _LEAVE_EMPTY
        raise InputError(f"read matrix: found {found}", f"{hint}; {_BOTH}")

    def _refuse_half(self, triangle: str) -> None:
        ((value, (upper, lower)), *more) = self._fills.items()
        if not more and (upper if triangle == "upper" else lower):
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
