"""The sample table: ids, deleted genes, phenotypes and attributes of all samples.

One sample is read with its record batch; the last ones used stay decoded. Columns are read
a part at a time. Memory does not grow with the number of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._files.checked_file import CheckedFile, Sums, split_sums
from tcbuild._files.manifest import PERTURBATION_INDICES, RESTORE, SAMPLE_ID, Manifest
from tcbuild._files.remote import Url
from tcbuild._lazy import lazy_property
from tcbuild._table.columns import (
    Rows,
    Values,
    as_array,
    ends,
    lists,
    missing,
    numbers,
    ranks,
    view,
    within_parts,
)
from tcbuild._table.part import Part
from tcbuild.errors import DamagedError

# Bytes of record batches as they are stored; decoded they have up to four times as many.
_CACHED = 16 << 20
_OPEN = 64  # parts
_TYPES = {"text": pa.dictionary(pa.int32(), pa.string()), "number": pa.float64()}


class Labels(NamedTuple):
    """All of a sample but its masks and attributes.

    deleted: int32 [g], ascending. phenotypes: float64 [P], NaN if missing. The caller
    owns both.
    """

    sample_id: str
    deleted: npt.NDArray[np.int32]
    phenotypes: npt.NDArray[np.float64]


class Table(Protocol):
    """What samples are besides their masks: stored, or computed."""

    schema: pa.Schema

    def deleted(self, index: int) -> npt.NDArray[np.int32]: ...
    def labels(self, index: int) -> Labels: ...
    def ids(self, rows: Rows) -> list[str]: ...
    def attributes(
        self, index: int, names: Sequence[str] | None = None
    ) -> dict[str, str | float | None]: ...
    def words(self, attribute: str) -> list[str]: ...
    def at(self, attribute: str, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]: ...
    def read(
        self, columns: Sequence[str], rows: Rows
    ) -> Iterator[tuple[Values, Values, pa.Table]]: ...
    def perturbations(
        self, rows: Rows
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]: ...


class SampleTable:
    """Reads the folder samples. Every block is compared with its checksum before it is used.

    Any number of threads and forked processes may read.
    """

    def __init__(self, manifest: Manifest):
        self._manifest = manifest
        self._samples: int = manifest["samples"]
        self._per_part: int = manifest.get("samples_per_part", 1)
        self._per_batch: int = manifest.get("samples_per_batch", 1)
        self._phenotypes = len(manifest["phenotypes"])
        self._words: dict[str, list[str]] = {}  # of the attributes that were asked for
        self._kept: dict[str, npt.NDArray[Any]] = {}
        attributes = [column["name"] for column in manifest["attributes"]]
        self._places = {name: place for place, name in enumerate(attributes)}
        self.schema = pa.schema(
            [
                pa.field(SAMPLE_ID, pa.string(), nullable=False),
                pa.field(PERTURBATION_INDICES, pa.list_(pa.int32()), nullable=False),
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

    def attributes(
        self, index: int, names: Sequence[str] | None = None
    ) -> dict[str, str | float | None]:
        """A sample's attributes, all if none are named."""
        number, row = divmod(index, self._per_batch)
        batch, places = self._batch(number), self._places
        wanted = places if names is None else names
        return {name: batch.attribute(row, places[name]) for name in wanted}

    def words(self, attribute: str) -> list[str]:
        """The different texts of an attribute, sorted. The caller must not change the list."""
        if attribute not in self._words:
            field, found = self.schema.get_field_index(attribute), set[str]()
            for number in range(len(self._manifest.parts)):
                column = self._part(number).words[field]
                found.update(() if column is None else column.to_pylist())
            self._words[attribute] = sorted(found)
        return self._words[attribute]

    def at(self, attribute: str, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """An attribute of some samples: float64, NaN if missing, or of texts int64, their indices
        in words, -1 if missing.
        """
        if self._is_small:
            return self._whole(attribute)[rows]
        values = [self.attributes(row, [attribute])[attribute] for row in rows.tolist()]
        if self.schema.field(attribute).type == _TYPES["number"]:
            return np.array(values, np.float64)
        code_of: dict[Any, int] = {text: code for code, text in enumerate(self.words(attribute))}
        return np.array([code_of.get(text, -1) for text in values], np.int64)

    def _whole(self, attribute: str) -> npt.NDArray[Any]:
        """An attribute of all samples of a small table; it is kept."""
        if (found := self._kept.get(attribute)) is not None:
            return found
        parts = [table.column(0) for _, _, table in self.read([attribute], range(self._samples))]
        if self.schema.field(attribute).type == _TYPES["number"]:
            found = np.concatenate([np.empty(0), *map(numbers, parts)])
        else:
            words = pa.array(self.words(attribute), pa.string())
            chunks = [np.empty(0, np.int64)]
            for chunk in (chunk for part in parts for chunk in part.chunks):
                codes = view(chunk.indices, np.int32).astype(np.int64)
                codes[missing(chunk)] = -1
                chunks.append(np.append(ranks(chunk.dictionary, words), -1)[codes])
            found = np.concatenate(chunks, dtype=np.int64)
        self._kept[attribute] = found
        return found

    def perturbations(
        self, rows: Rows
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """The deleted genes of samples one after the other, where each sample's begin and the last
        ones end, and phenotypes [B, P].
        """
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
        """Reads columns a part at a time, of the parts that have some of the rows.

        Gives where in the rows they stand, which rows of the part they are, and the whole part.
        """
        fields = sorted(self.schema.get_field_index(column) for column in columns)
        for number, places, in_part in within_parts(rows, self._per_part):
            yield places, in_part, self._part(number).columns(fields).select(columns)

    @lazy_property
    def _small(self) -> _Labels | None:
        """The labels of all samples, from which a batch takes its own at once; None if they take
        much memory, or come over the network.
        """
        if not self._is_small:
            return None
        names = self.schema.names[1 : 2 + self._phenotypes]
        lengths, deleted = [np.zeros(1, np.int64)], [np.empty(0, np.int32)]
        phenotypes = np.empty((self._samples, self._phenotypes))
        for places, _, table in self.read(names, range(self._samples)):
            for items, bounds in lists(table.column(0)):
                lengths.append(np.diff(bounds))
                deleted.append(items)
            for place, column in enumerate(table.columns[1:]):
                phenotypes[places, place] = numbers(column)
        return _Labels(np.cumsum(np.concatenate(lengths)), np.concatenate(deleted), phenotypes)

    @lazy_property
    def _is_small(self) -> bool:
        remote = isinstance(self._manifest.folder, Url)
        return not remote and sum(map(self._manifest.size, self._manifest.parts)) <= _CACHED

    @lazy_property
    def _sums(self) -> list[Sums]:
        """The checksums of each part's blocks."""
        name = "samples/_checksums"
        sizes = [self._manifest.size(part) for part in self._manifest.parts]
        try:
            content, end = self._manifest.read_file(name), self._manifest["logical_content"]
            if not content.endswith(end.encode()):
                raise ValueError(f"it does not end with the logical content {end:.64}")
            return split_sums(content[: len(content) - len(end)], sizes)
        except ValueError as error:
            raise DamagedError(f"read {self._manifest.folder / name}: {error}", RESTORE) from error

    @lazy_property
    def _part(self) -> Callable[[int], Part]:
        """Opens a part, and keeps the last ones used open."""
        # Not self: a cycle would keep files open until Python looks for cycles.
        manifest, all_sums, schema = self._manifest, self._sums, self.schema
        samples, per_part, per_batch = self._samples, self._per_part, self._per_batch

        def open_part(number: int) -> Part:
            name = manifest.parts[number]
            file = CheckedFile(manifest.folder / name, manifest.open_file(name), all_sums[number])
            return Part(file, schema, min(per_part, samples - number * per_part), per_batch)

        return lru_cache(maxsize=_OPEN)(open_part)

    @lazy_property
    def _batch(self) -> Callable[[int], _Batch]:
        """Decodes a record batch by its number in the table, and keeps the last ones used."""
        open_part, phenotypes = self._part, self._phenotypes
        per_part = self._per_part // self._per_batch

        def decode(number: int) -> _Batch:
            number, in_part = divmod(number, per_part)
            part = open_part(number)
            return _Batch(part.batch(in_part), part.words, phenotypes)

        size = (
            sum(map(self._manifest.size, self._manifest.parts)) * self._per_batch // self._samples
        )
        return lru_cache(maxsize=max(2, _CACHED // max(size, 1)))(decode)


class _Labels(NamedTuple):
    """Of all samples the deleted genes one after the other, where each sample's begin and the last
    one's end, and phenotypes [N, P].
    """

    ends: npt.NDArray[np.int64]
    deleted: npt.NDArray[np.int32]
    phenotypes: npt.NDArray[np.float64]

    def take(
        self, rows: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        starts = self.ends[rows]
        lengths = self.ends[rows + 1] - starts
        ptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=ptr[1:])
        places = np.repeat(starts - ptr[:-1], lengths) + np.arange(ptr[-1])
        return self.deleted[places].astype(np.int64), ptr, self.phenotypes[rows]


class _Batch:
    """A record batch, whose deleted genes and phenotypes are decoded."""

    def __init__(self, batch: pa.RecordBatch, words: Sequence[pa.Array | None], phenotypes: int):
        ids, deleted, *others = batch.columns
        self._ids, self._words, self._attributes = ids, words, others[phenotypes:]
        self._ends = ends(deleted).copy().data  # a memoryview, whose items are ints
        self._indices = view(deleted.values, np.int32).copy()
        self.phenotypes = np.empty((batch.num_rows, phenotypes), np.float64)
        for place, column in enumerate(others[:phenotypes]):
            self.phenotypes[:, place] = numbers(pa.chunked_array([column]))

    def sample_id(self, row: int) -> str:
        name: str = self._ids[row].as_py()
        return name

    def deleted(self, row: int) -> npt.NDArray[np.int32]:
        return self._indices[self._ends[row] : self._ends[row + 1]]

    def labels(self, row: int) -> Labels:
        deleted, phenotypes = self.deleted(row).copy(), self.phenotypes[row].copy()
        return Labels(self.sample_id(row), deleted, phenotypes)

    def attribute(self, row: int, place: int) -> str | float | None:
        """The value of an attribute by its place; texts are indices in the part's dictionary."""
        found, words = self._attributes[place][row], self._words[place - len(self._attributes)]
        if words is not None and found.is_valid:
            found = words[found.as_py()]
        value: str | float | None = found.as_py()
        return value
