"""Sets of k genes, so many of each class, as samples that are computed when they are asked for."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._files.manifest import SAMPLE_ID
from tcbuild._graph.names import Names
from tcbuild._table.columns import Rows, Values, as_array
from tcbuild._table.sample_table import FIELDS, Labels, Perturbations, SampleTable

_MOST = 2**63 - 1
_AT_ONCE = 1 << 13  # combinations that are computed at a time, in the processor's cache
_PART = 1 << 16  # rows of a table that is read

# Distinct genes, and the least and the most of them in a set
GeneClass = tuple[npt.NDArray[np.int64], int, int]


class Combinations:
    """The sample table of the sets of k genes that have the least to the most genes of each class,
    in the order of Python's itertools.combinations over the genes in the order in which classes
    list them. A sample's id is its number in that order, from 0.

    Sets are built gene by gene. The state is how many genes of each class a set has so far. How
    many sets a prefix begins depends only on its state and on the place of its last gene.
    """

    schema = pa.schema(FIELDS)

    def __init__(self, classes: Sequence[GeneClass], k: int):
        self.classes, self.k = classes, k
        every = [gene for genes, _, _ in classes for gene in genes.tolist()]
        self.genes = np.array([*dict.fromkeys(every)], np.int64)
        n = len(self.genes)
        self._sorted = bool(np.all(np.diff(self.genes) > 0))
        if not 1 <= k <= n:
            raise ValueError(f"combine genes: found k = {k}, expected 1 to the {n:,} genes")
        members = np.stack([np.isin(self.genes, genes) for genes, _, _ in classes], axis=1)
        kinds, kind_of = np.unique(members.astype(int), axis=0, return_inverse=True)
        self._kinds = kind_of.reshape(n)
        bounds = np.array([bounds for _, *bounds in classes], object)  # of any size
        least, most = np.clip(bounds, -1, k + 1).astype(int).T
        # _follow[i][state, kind] is the state after the i-th gene, -1 if a class has too many.
        states, self._follow = np.zeros((1, len(classes)), int), []
        for _ in range(k):
            reached = states[:, None] + kinds
            allowed = (reached <= most).all(axis=2)
            states, numbers = np.unique(reached[allowed], axis=0, return_inverse=True)
            self._follow.append(np.full(allowed.shape, -1))
            self._follow[-1][allowed] = numbers.ravel()
        enough = (states >= least).all(axis=1)
        # The i-th gene has place i + t, with t from 0 to n-k. _ends[i][state, j] counts the sets
        # whose i-th gene is one of the last j of these.
        sets = np.repeat(np.array([[*enough, False]], np.int64).T, n - k + 1, axis=1)
        self._ends: list[npt.NDArray[np.int64]] = []
        for i in reversed(range(k)):
            follow = self._follow[i][:, self._kinds[i : i + n - k + 1]]
            ends = np.cumsum(sets[follow, np.arange(n - k + 1)][:, ::-1], axis=1)
            ends[np.logical_or.accumulate(ends < 0, axis=1)] = _MOST  # where it overflows
            sets = np.pad(ends[:, ::-1], ((0, 1), (0, 0)))
            self._ends.insert(0, np.pad(ends, ((0, 0), (1, 0))))
        self.samples = int(self._ends[0][0, -1])
        if not 0 < self.samples < _MOST:
            found = "more than 2^63 - 2 sets" if self.samples else "no set"
            raise ValueError(
                f"combine genes: found {found} of {k} of {n:,} genes\n"
                "hint: change the number of genes in a set, or the least or most of a class"
            )

    def deleted(self, index: int) -> npt.NDArray[np.int32]:
        return self._genotypes(np.array([index])).astype(np.int32).ravel()

    def labels(self, index: int) -> Labels:
        return Labels(str(index), self.deleted(index), np.empty(0, np.float64))

    def ids(self, rows: Rows) -> list[str]:
        return [str(row) for row in as_array(rows).tolist()]

    def attributes(self, index: int) -> dict[str, str | float | None]:
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
            made = [self._ids(part) if name == SAMPLE_ID else self._lists(part) for name in columns]
            yield slice(start, start + len(part)), slice(0, len(part)), pa.table(made, schema)

    def perturbations(self, rows: Rows) -> Perturbations:
        """As SampleTable.perturbations, at 10 million samples per second."""
        deleted = self._genotypes(as_array(rows)).ravel()
        return deleted, np.arange(0, len(deleted) + 1, self.k), np.empty((len(rows), 0))

    def _ids(self, rows: npt.NDArray[np.int64]) -> pa.Array:
        return pa.array(rows).cast(pa.string())

    def _lists(self, rows: npt.NDArray[np.int64]) -> pa.Array:
        deleted, ends, _ = self.perturbations(rows)
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(deleted, pa.int32()))

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
        left, states = self.samples - 1 - ranks, np.zeros(len(ranks), np.int64)
        for i, (follow, all_ends) in enumerate(zip(self._follow, self._ends)):
            for state, ends in enumerate(all_ends):
                rows = slice(None) if len(all_ends) == 1 else np.flatnonzero(states == state)
                last = ends.searchsorted(left[rows], side="right") - 1
                left[rows] -= ends.take(last)
                places[rows, i] = len(self.genes) - self.k + i - last
            states = follow[states, self._kinds.take(places[:, i])]


def combined(genes: Iterable[Any], k: int | None, size: int | None, known: Names) -> Combinations:
    """The combinations of k genes, or those of size genes of classes."""
    if (chosen := size if k is None else k) is None or None not in (k, size):
        raise TypeError("combine genes: pass k, or size with classes (genes, least, most)")
    classes = []
    for entry in genes if k is None else [(genes, 0, k)]:
        try:
            listed, *bounds = entry
            least, most = map(operator.index, bounds)
        except (TypeError, ValueError):
            raise TypeError(
                f"combine genes: found {entry!r:.100}, expected a class (genes, least, most)"
            ) from None
        classes.append((_gene_numbers(listed, known), least, most))
    return Combinations(classes, operator.index(chosen))


def _gene_numbers(genes: Any, known: Names) -> npt.NDArray[np.int64]:
    """The indices of genes that are given by name or index, each once."""
    if isinstance(genes, (str, bytes, Set)) or not isinstance(genes, Iterable):
        raise TypeError(
            f"combine genes: found {genes!r:.100}, expected a list of their names or indices"
        )
    last, numbers = len(known.labels) - 1, dict[int, None]()
    for gene in genes:
        number = known.index(gene) if isinstance(gene, str) else gene
        if isinstance(number, bool) or not isinstance(number, SupportsIndex):
            raise TypeError(f"combine genes: found {gene!r:.100}, expected a gene's name or index")
        if not 0 <= (number := operator.index(number)) <= last:
            raise IndexError(f"combine genes: found gene {number}, expected 0 to {last}")
        if number in numbers:
            raise ValueError(
                f"combine genes: gene {gene!r:.100} is listed twice\nhint: list each gene once"
            )
        numbers[number] = None
    return np.array([*numbers], np.int64)


Table = SampleTable | Combinations
