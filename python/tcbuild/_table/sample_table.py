"""The sample table, read a part at a time; the last parts and record batches used are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._files.manifest import PERTURBATION_INDICES, SAMPLE_ID, Manifest
from tcbuild._files.remote import Url
from tcbuild._lazy import lazy_property
from tcbuild._table.columns import (
    Rows,
    Values,
    as_array,
    bounds_of,
    lists,
    numbers,
    ragged,
    ranks,
    within_parts,
)
from tcbuild._table.part import Part

# Bytes of samples, as they are stored, that are kept decoded; they have up to four times as many.
_CACHED = 16 << 20
_OPEN = 512 << 20  # bytes of parts that are kept as they are stored: of 26 million samples
_TYPES = {"text": pa.dictionary(pa.int32(), pa.string()), "number": pa.float64()}
FIELDS = [
    pa.field(SAMPLE_ID, pa.string(), nullable=False),
    pa.field(PERTURBATION_INDICES, pa.list_(pa.int32()), nullable=False),
]

# The deleted genes of samples one after the other, where each sample's begin and the last one's
# end, and phenotypes [B, P].
Perturbations = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]


class Labels(NamedTuple):
    """A sample but its masks and attributes; phenotypes are NaN if missing."""

    sample_id: str
    deleted: npt.NDArray[np.int32]
    phenotypes: npt.NDArray[np.float64]


class SampleTable:
    """Reads the folder samples. Any number of threads and forked processes may read."""

    def __init__(self, manifest: Manifest):
        self._manifest = manifest
        self._samples: int = manifest["samples"]
        self._per_part: int = manifest.get("samples_per_part", 1)
        self._per_batch: int = manifest.get("samples_per_batch", 1)
        self._bytes: int = sum(manifest.file(part)["bytes"] for part in manifest.parts)
        self._phenotypes = len(manifest["phenotypes"])
        self._words: dict[str, list[str]] = {}  # of the attributes that were asked for
        self._values: dict[str, npt.NDArray[Any]] = {}
        attributes = [column["name"] for column in manifest["attributes"]]
        self._places = {name: place for place, name in enumerate(attributes)}
        self.schema = pa.schema(
            [
                *FIELDS,
                *((phenotype["name"], pa.float64()) for phenotype in manifest["phenotypes"]),
                *((column["name"], _TYPES[column["type"]]) for column in manifest["attributes"]),
            ]
        )

    def deleted(self, index: int) -> npt.NDArray[np.int32]:
        """The indices of a sample's deleted genes, ascending, which the caller must not change."""
        number, row = divmod(index, self._per_batch)
        return self._batch(number).deleted(row)

    def labels(self, index: int) -> Labels:
        number, row = divmod(index, self._per_batch)
        return self._batch(number).labels(row)

    def ids(self, rows: Rows) -> list[str]:
        places = (divmod(row, self._per_batch) for row in as_array(rows).tolist())
        return [self._batch(number).sample_id(row) for number, row in places]

    def attributes(self, index: int) -> dict[str, str | float | None]:
        number, row = divmod(index, self._per_batch)
        batch = self._batch(number)
        return {name: batch.attribute(row, place) for name, place in self._places.items()}

    def words(self, attribute: str) -> list[str]:
        """The different texts of an attribute, sorted. The caller must not change the list."""
        if attribute not in self._words:
            found = set[str]()
            for part in self._parts_of(attribute):
                for chunk in part.chunks[:1]:  # all chunks of a part have one dictionary
                    found.update(chunk.dictionary.to_pylist())
            self._words[attribute] = sorted(found)
        return self._words[attribute]

    def at(self, attribute: str, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """An attribute of some samples: float64, NaN if missing, or of texts int64, their indices
        in words, -1 if missing. The attribute of all samples is kept.
        """
        if attribute not in self._values:
            parts: Iterator[npt.NDArray[Any]]
            if self.schema.field(attribute).type == _TYPES["number"]:
                parts = map(numbers, self._parts_of(attribute))
            else:
                words = pa.array(self.words(attribute), pa.string())
                parts = (ranks(part, words) for part in self._parts_of(attribute))
            self._values[attribute] = np.concatenate([*parts])
        found = self._values[attribute][rows]
        return found if found.dtype == np.float64 else found.astype(np.int64)

    def _parts_of(self, attribute: str) -> Iterator[pa.ChunkedArray]:
        yield pa.chunked_array([], self.schema.field(attribute).type)
        for _, _, table in self.read([attribute], range(self._samples)):
            yield table.column(0)

    def perturbations(self, rows: Rows) -> Perturbations:
        rows = as_array(rows)
        if (small := self._small) is not None:
            return small.take(rows)
        batch_of, places = self._batch, divmod(rows, self._per_batch)
        deleted, phenotypes = [np.empty(0, np.int32)], [np.empty(0)]
        for number, row in zip(places[0].tolist(), places[1].tolist()):
            batch = batch_of(number)
            deleted.append(batch.deleted(row))
            phenotypes.append(batch.phenotypes[row])
        ptr = np.cumsum([*map(len, deleted)])
        of_all = np.concatenate(phenotypes).reshape(len(rows), self._phenotypes)
        return np.concatenate(deleted, dtype=np.int64), ptr, of_all

    def read(self, columns: Sequence[str], rows: Rows) -> Iterator[tuple[Values, Values, pa.Table]]:
        """Per part with some of the rows: their places in rows and in the part, and the part."""
        for number, places, in_part in within_parts(rows, self._per_part):
            yield places, in_part, self._part(number).columns(columns)

    @lazy_property
    def _small(self) -> _Labels | None:
        """All labels, if they are local and small: a batch takes its own at once."""
        if isinstance(self._manifest.folder, Url) or self._bytes > _CACHED:
            return None
        schema = pa.schema([*self.schema][1 : 2 + self._phenotypes])
        parts = [table for _, _, table in self.read(schema.names, range(self._samples))]
        table = pa.concat_tables([pa.Table.from_batches([], schema), *parts])
        deleted, bounds = lists(table.column(0))
        return _Labels(bounds, deleted, _stacked(table.columns[1:], self._samples))

    @lazy_property
    def _part(self) -> Callable[[int], Part]:
        """Opens a part, and keeps the last ones used."""
        # Not self: a cycle would keep them until Python looks for cycles.
        manifest, schema = self._manifest, self.schema
        samples, per_part, per_batch = self._samples, self._per_part, self._per_batch

        def open_part(number: int) -> Part:
            rows = min(per_part, samples - number * per_part)
            return Part(manifest, manifest.parts[number], schema, rows, per_batch)

        return lru_cache(self._most(_OPEN, per_part))(open_part)

    @lazy_property
    def _batch(self) -> Callable[[int], _Batch]:
        """Decodes a record batch by its number in the table, and keeps the last ones used."""
        open_part, phenotypes = self._part, self._phenotypes
        per_part = self._per_part // self._per_batch

        def decode(number: int) -> _Batch:
            number, in_part = divmod(number, per_part)
            return _Batch(open_part(number).batch(in_part), phenotypes)

        return lru_cache(self._most(_CACHED, self._per_batch))(decode)

    def _most(self, memory: int, samples: int) -> int:
        """How many times so many samples, as they are stored, fit into memory; at least twice."""
        each = self._bytes * samples // max(self._samples, 1)
        return max(2, memory // max(each, 1))


class _Labels(NamedTuple):
    """Perturbations of all samples."""

    ends: npt.NDArray[np.int32]
    deleted: npt.NDArray[np.int32]
    phenotypes: npt.NDArray[np.float64]

    def take(self, rows: npt.NDArray[np.int64]) -> Perturbations:
        starts = self.ends[rows]
        sizes = self.ends[rows + 1] - starts
        deleted = self.deleted[ragged(starts, sizes)].astype(np.int64)
        return deleted, bounds_of(sizes), self.phenotypes[rows]


class _Batch:
    """A record batch, whose deleted genes and phenotypes are decoded."""

    def __init__(self, batch: pa.RecordBatch, phenotypes: int):
        columns = pa.Table.from_batches([batch]).columns
        self._ids, self._attributes = batch.column(0), batch.columns[2 + phenotypes :]
        self._indices, bounds = lists(columns[1])
        self._ends = bounds.data  # a memoryview, whose items are ints
        self.phenotypes = _stacked(columns[2 : 2 + phenotypes], batch.num_rows)

    def sample_id(self, row: int) -> str:
        name: str = self._ids[row].as_py()
        return name

    def deleted(self, row: int) -> npt.NDArray[np.int32]:
        return self._indices[self._ends[row] : self._ends[row + 1]]

    def labels(self, row: int) -> Labels:
        deleted, phenotypes = self.deleted(row).copy(), self.phenotypes[row].copy()
        return Labels(self.sample_id(row), deleted, phenotypes)

    def attribute(self, row: int, place: int) -> str | float | None:
        """The value of an attribute by its place."""
        value: str | float | None = self._attributes[place][row].as_py()
        return value


def _stacked(columns: Sequence[pa.ChunkedArray], rows: int) -> npt.NDArray[np.float64]:
    """Columns of numbers as an array [rows, columns]."""
    found = np.empty((rows, len(columns)))
    for place, column in enumerate(columns):
        found[:, place] = numbers(column)
    return found
