"""All combinations of k genes as samples that are computed when they are asked for."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence, Set
from math import comb, lgamma, log
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._files.manifest import PERTURBATION_INDICES, SAMPLE_ID
from tcbuild._graph.names import Names
from tcbuild._table.columns import Rows, Values, as_array
from tcbuild._table.sample_table import Labels

_MOST = 2**63 - 1
_AT_ONCE = 1 << 13  # combinations that are computed at a time, in the processor's cache
_PART = 1 << 16  # rows of a table that is read


class Combinations:
    """The sample table of the combinations of k of some genes, in the order of Python's
    itertools.combinations. A sample's id is its number in that order, from 0.

    genes: int64 [n], distinct, in the order in which they are combined
    """

    schema = pa.schema(
        [
            pa.field(SAMPLE_ID, pa.string(), nullable=False),
            pa.field(PERTURBATION_INDICES, pa.list_(pa.int32()), nullable=False),
        ]
    )

    def __init__(self, genes: npt.NDArray[np.int64], k: int):
        n = len(genes)
        if not 1 <= k <= n:
            raise ValueError(f"combine genes: found k = {k}, expected 1 to the {n:,} genes")
        digits = (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(10)
        total = comb(n, k) if digits < 20 else None  # comb takes minutes for large numbers
        if total is None or total > _MOST:
            raise ValueError(
                f"combine genes: found {n:,} genes with about {10 ** (digits % 1):.1f} × "
                f"10^{digits // 1:.0f} combinations of {k}, expected at most 2^63 - 1\n"
                "hint: give fewer genes or a smaller k"
            )
        self.genes, self.k, self.samples = genes, k, total
        self._sorted = bool(np.all(np.diff(genes) > 0))
        # Counted from the last combination, the rank of elements c1 > c2 > … is C(c1, k) +
        # C(c2, k-1) + …, where c = n-1 for the first gene. _starts[j-1][t] is C(j-1 + t, j).
        counts = [np.arange(n - k + 1)]
        for _ in range(k - 1):
            counts.append(np.cumsum(counts[-1]))
        self._starts = [np.append(count, _MOST) for count in counts]

    def deleted(self, index: int) -> npt.NDArray[np.int32]:
        genes: npt.NDArray[np.int32] = self._genotypes(np.array([index]))[0].astype(np.int32)
        return genes

    def labels(self, index: int) -> Labels:
        return Labels(str(index), self.deleted(index), np.empty(0, np.float64))

    def ids(self, rows: Rows) -> list[str]:
        return [str(row) for row in as_array(rows).tolist()]

    def attributes(
        self, index: int, names: Sequence[str] | None = None
    ) -> dict[str, str | float | None]:
        return {}

    def words(self, attribute: str) -> list[str]:
        return []

    def at(self, attribute: str, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        raise KeyError(attribute)

    def read(self, columns: Sequence[str], rows: Rows) -> Iterator[tuple[Values, Values, pa.Table]]:
        """As SampleTable.read; a part has only the rows that are asked for."""
        schema = pa.schema([self.schema.field(column) for column in columns])
        for start in range(0, len(rows), _PART):
            part = as_array(rows[start : start + _PART])
            every = slice(0, len(part))
            made = [self._ids(part) if name == SAMPLE_ID else self._lists(part) for name in columns]
            yield slice(start, start + len(part)), every, pa.table(made, schema)

    def perturbations(
        self, rows: Rows
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """As SampleTable.perturbations, at 10 million samples per second."""
        deleted = self._genotypes(as_array(rows)).ravel()
        ends = np.arange(0, len(deleted) + 1, self.k)
        return deleted, ends, np.empty((len(rows), 0), np.float64)

    def _ids(self, rows: npt.NDArray[np.int64]) -> pa.Array:
        return pa.array(rows).cast(pa.string())

    def _lists(self, rows: npt.NDArray[np.int64]) -> pa.Array:
        deleted = self._genotypes(rows).ravel().astype(np.int32)
        ends = np.arange(0, len(deleted) + 1, self.k, dtype=np.int32)
        return pa.ListArray.from_arrays(pa.array(ends), pa.array(deleted))

    def _genotypes(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The deleted genes of samples, ascending: [B, k]."""
        deleted = np.empty((len(rows), self.k), np.int64)
        for start in range(0, len(rows), _AT_ONCE):
            some = deleted[start : start + _AT_ONCE]
            self._unrank(rows[start : start + _AT_ONCE], some)
            some[:] = self.genes.take(some)
            if not self._sorted:
                some.sort(axis=1)
        return deleted

    def _unrank(self, ranks: npt.NDArray[np.int64], places: npt.NDArray[np.int64]) -> None:
        """Writes the places, in genes, of the combinations with these ranks: [B, k]."""
        n, left = len(self.genes), self.samples - 1 - ranks
        for column, j in enumerate(range(self.k, 1, -1)):
            starts = self._starts[j - 1]
            # C(j-1 + t, j) is near (t + (j-1)/2)^j / j!; from there, steps to the last start that
            # is not above left.
            guess = np.exp((np.log(left + 1.0) + lgamma(j + 1)) / j) - (j - 1) / 2
            t = np.clip(guess, 0, n - self.k).astype(np.int64)
            while (high := starts.take(t) > left).any():
                t -= high
            while (low := starts.take(t + 1) <= left).any():
                t += low
            left -= starts.take(t)
            places[:, column] = n - j - t
        places[:, -1] = n - 1 - left


def gene_numbers(genes: Any, known: Names) -> npt.NDArray[np.int64]:
    """The indices of genes that are given by name or index, each once."""
    if isinstance(genes, (str, bytes, Set)) or not isinstance(genes, Iterable):
        raise TypeError(
            f"combine genes: found {genes!r:.100}, expected a list of their names or indices"
        )
    numbers: dict[int, None] = {}
    for gene in genes:
        number = _number(gene, known)
        if number in numbers:
            raise ValueError(
                f"combine genes: gene {gene!r:.100} is listed twice\nhint: list each gene once"
            )
        numbers[number] = None
    return np.array([*numbers], np.int64)


def _number(gene: object, known: Names) -> int:
    if isinstance(gene, str):
        return known.index(gene)
    try:
        number = operator.index(gene)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(gene, bool):
        raise TypeError(f"combine genes: found {gene!r:.100}, expected a gene's name or index")
    if not 0 <= number < len(known.labels):
        raise IndexError(
            f"combine genes: found gene {number}, expected 0 to {len(known.labels) - 1}"
        )
    return number
