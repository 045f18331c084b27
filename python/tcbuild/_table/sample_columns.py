"""The samples of a dataset as columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._files.manifest import PERTURBATION_INDICES, SAMPLE_ID
from tcbuild._table.columns import Rows, ends, lists, numbers, ranks, texts
from tcbuild._table.sample_table import Table
from tcbuild.errors import UnknownNameError, missing_package, unknown_name


class SampleColumns:
    """A dataset or view, as far as its sample table answers: a row per sample, in its order.

    Nothing is read before it is asked for, and nothing is kept: a column is read in 10 ms for
    300,000 samples, and 1 s for 20 million.
    """

    _table: Table
    _rows: Rows
    _cell: Any

    @property
    def columns(self) -> list[str]:
        """Names of the columns: sample_id, perturbation_indices, then phenotypes and attributes."""
        names: list[str] = self._table.schema.names
        return names

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column of the samples [N]: numbers as float64, NaN if missing; texts as str, None if
        missing; perturbation_indices as arrays.

        Args:
            name: one of columns

        Examples:
            >>> dataset.column("sample_id")[:2].tolist()
            ['0', '1']
        """
        kind = self._table.schema.field(self._known(name)).type
        if pa.types.is_floating(kind):
            values = np.empty(len(self._rows), np.float64)
            for places, rows, table in self._table.read([name], self._rows):
                found = table.column(0)
                if isinstance(rows, slice) and isinstance(places, slice):
                    numbers(found.slice(rows.start, rows.stop - rows.start), out=values[places])
                else:
                    values[places] = numbers(found)[rows]
            return values
        if pa.types.is_dictionary(kind):
            words = np.empty(len(self._rows), object)
            for places, rows, table in self._table.read([name], self._rows):
                words[places] = texts(table.column(0))[rows]
            return words
        lists: npt.NDArray[Any] = self.to_arrow([name]).column(0).to_numpy()
        return lists

    @overload
    def index_of(self, sample_id: str) -> int: ...  # type: ignore[overload-overlap]
    @overload
    def index_of(self, sample_id: Iterable[str]) -> npt.NDArray[np.int64]: ...
    def index_of(self, sample_id: str | Iterable[str]) -> int | npt.NDArray[np.int64]:
        """The index of the sample with an id, or the indices of several. All ids are read once.

        Args:
            sample_id: a text, or several

        Raises:
            UnknownNameError: a KeyError: no sample has an id
            ValueError: several samples have an id

        Examples:
            >>> dataset[dataset.index_of("7")].id
            '7'
        """
        several = isinstance(sample_id, Iterable) and not isinstance(sample_id, str)
        wanted = list(sample_id) if several else [sample_id]
        for name in wanted:
            if not isinstance(name, str):
                raise TypeError(
                    f"find samples: found {type(name).__name__}, expected a sample_id, which is "
                    "text"
                )
        distinct = list(dict.fromkeys(wanted))
        value_set = pa.array(distinct, pa.string())
        found = np.full(len(distinct), -1, np.int64)
        for places, rows, table in self._table.read([SAMPLE_ID], self._rows):
            rank = ranks(table.column(0), value_set)[rows]
            hits = np.flatnonzero(rank >= 0)
            at = hits + places.start if isinstance(places, slice) else places[hits]
            names, counts = np.unique(rank[hits], return_counts=True)
            if np.any(counts > 1) or np.any(found[names] >= 0):
                name = distinct[names[(counts > 1) | (found[names] >= 0)][0]]
                raise ValueError(
                    f"find sample {name!r:.100}: several samples have this id\n"
                    f"hint: dataset[dataset.column('sample_id') == {name!r:.100}] has them all"
                )
            found[rank[hits]] = at
        if np.any(found < 0):
            missing = distinct[int(np.argmin(found))]
            raise UnknownNameError(
                f"find sample {missing!r:.100}: none of {len(self._rows):,} samples has this id\n"
                "hint: dataset.column('sample_id') has all ids"
            )
        places_of = dict(zip(distinct, found.tolist()))
        if not several:
            return int(found[0])
        return np.array([places_of[name] for name in wanted], np.int64)

    def _deleted(self, genes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
        """How many of some genes, given by their indices, each sample deletes: int64 [N]."""
        found = np.empty(len(self._rows), np.int64)
        for places, rows, table in self._table.read([PERTURBATION_INDICES], self._rows):
            chunks = [np.empty(0, np.int64)]
            for deleted, bounds in lists(table.column(0)):
                hits = np.flatnonzero(np.isin(deleted, genes))
                of = np.searchsorted(bounds, hits, side="right") - 1
                chunks.append(np.bincount(of, minlength=len(bounds) - 1))
            found[places] = np.concatenate(chunks)[rows]
        return found

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The samples as an Arrow table. Memory holds all of its rows.

        Args:
            columns: names of those wanted, in this order; None for all
        """
        names = self.columns if columns is None else [self._known(name) for name in columns]
        found, places_of = [self._table.schema.empty_table().select(names)], [np.empty(0, np.int64)]
        for places, rows, table in self._table.read(names, self._rows) if names else ():
            if isinstance(rows, slice):
                table = table.slice(rows.start, rows.stop - rows.start)
            elif not isinstance(places, slice):
                table = table.take(rows)
                places_of.append(places)
            found.append(table.combine_chunks())  # a copy, without the rest of the blocks read
        table, order = pa.concat_tables(found).unify_dictionaries(), np.concatenate(places_of)
        return table.take(np.argsort(order)) if np.any(np.diff(order) < 0) else table

    def to_pandas(self, columns: Sequence[str] | None = None, names: bool = False) -> Any:
        """The samples as a pandas DataFrame: attributes of text as categories. to_polars and
        to_arrow give other tables.

        Args:
            columns: names of columns, in this order (default: all)
            names: names (or ids) in place of indices in perturbation_indices

        Examples:
            >>> frame = dataset.to_pandas(["sample_id", "fitness"])
        """
        _needs("pandas", "to_pandas")
        table = self.to_arrow(columns)
        if names and PERTURBATION_INDICES in table.column_names:
            place = table.column_names.index(PERTURBATION_INDICES)
            deleted = table.column(place).combine_chunks()
            named = pa.array(self._cell.names.labels, pa.string()).take(deleted.flatten())
            lists_of_names = pa.ListArray.from_arrays(
                pa.array(ends(deleted) - ends(deleted)[0]), named
            )
            table = table.set_column(place, PERTURBATION_INDICES, lists_of_names)
        return table.to_pandas()

    def to_polars(self, columns: Sequence[str] | None = None) -> Any:
        """The samples as a polars DataFrame.

        Args:
            columns: names of those wanted, in this order; None for all
        """
        return _needs("polars", "to_polars").from_arrow(self.to_arrow(columns))

    def _known(self, column: str) -> str:
        if not isinstance(column, str):
            raise TypeError(
                f"read a column: found {type(column).__name__}, expected its name, which is text"
            )
        if column not in self.columns:
            raise unknown_name("column", column, self.columns)
        return column


def _needs(package: str, method: str) -> Any:
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise missing_package(method, error) from error
