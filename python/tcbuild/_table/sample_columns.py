"""The samples of a dataset as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._files.manifest import PERTURBATION_INDICES, SAMPLE_ID
from tcbuild._table.columns import Rows, lists, numbers, ranks, texts
from tcbuild._table.combinations import Table
from tcbuild.errors import UnknownNameError, unknown_name


class SampleColumns:
    """A dataset or view as a table, read at each use: 10 ms per column of 300,000 samples."""

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
        found = self.to_arrow([name]).column(0)
        if pa.types.is_floating(found.type):
            return numbers(found)
        if pa.types.is_dictionary(found.type):
            return texts(found)
        values: npt.NDArray[Any] = found.to_numpy()
        return values

    def index_of(self, sample_id: str) -> int:
        """The index of the sample with an id.

        Args:
            sample_id: the id

        Raises:
            UnknownNameError: a KeyError: no sample has the id
            ValueError: several samples have it

        Examples:
            >>> dataset[dataset.index_of("7")].id
            '7'
        """
        if not isinstance(sample_id, str):
            raise TypeError(f"find a sample: found {type(sample_id).__name__}, expected its id")
        return self._indices_of([sample_id])[0]

    def _indices_of(self, sample_ids: list[str]) -> list[int]:
        """The indices of samples by their ids, after reading all ids."""
        distinct = list(dict.fromkeys(sample_ids))
        rank = ranks(self.to_arrow([SAMPLE_ID]).column(0), pa.array(distinct, pa.string()))
        hits = np.flatnonzero(rank >= 0)
        counts = np.bincount(rank[hits], minlength=len(distinct)).tolist()
        for name, count in zip(distinct, counts):
            if not count:
                raise UnknownNameError(
                    f"find sample {name!r:.100}: none of {len(self._rows):,} samples has this id\n"
                    "hint: dataset.column('sample_id') has all ids"
                )
            if count > 1:
                raise ValueError(
                    f"find sample {name!r:.100}: several samples have this id\n"
                    f"hint: dataset[dataset.column('sample_id') == {name!r:.100}] has them all"
                )
        index = dict(zip((distinct[place] for place in rank[hits].tolist()), hits.tolist()))
        return [index[name] for name in sample_ids]

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The samples as an Arrow table. Memory holds all of its rows.

        Args:
            columns: names of those wanted, in this order; None for all
        """
        every = self.columns
        names = [known("column", name, every) for name in (every if columns is None else columns)]
        schema = pa.schema([self._table.schema.field(name) for name in names])
        found, places_of = [pa.Table.from_batches([], schema)], [np.empty(0, np.int64)]
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
        """The samples as a pandas DataFrame: attributes of text as categories.

        Args:
            columns: names of columns, in this order (default: all)
            names: names (or ids) in place of indices in perturbation_indices

        Examples:
            >>> frame = dataset.to_pandas(["sample_id", "fitness"])
        """
        table = self.to_arrow(columns)
        if names and PERTURBATION_INDICES in table.column_names:
            place = table.column_names.index(PERTURBATION_INDICES)
            deleted, bounds = map(pa.array, lists(table.column(place)))
            named = pa.array(self._cell.names.labels, pa.string()).take(deleted)
            table = table.set_column(
                place, PERTURBATION_INDICES, pa.ListArray.from_arrays(bounds, named)
            )
        return table.to_pandas()


def known(what: str, name: str, names: Sequence[str]) -> str:
    """A name, after checking that it is one of these."""
    if not isinstance(name, str):
        raise TypeError(f"read {what}: found {type(name).__name__}, expected its name")
    if name not in names:
        raise unknown_name(what, name, names)
    return name
