"""Samples of the incidence variant: labels in samples.arrow, masks from the incidence."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild.data_file import Stream
from tcbuild.errors import DamagedFileError, DamagedRecordError
from tcbuild.manifest import RESTORE, Manifest
from tcbuild.masks import Bytes, ascending, write_masks, write_packed
from tcbuild.records import Labels, labels_checksum
from tcbuild.removal import Removal

_ROWS = 4096  # rows in every record batch except the last
_CACHED = 64 << 20  # bytes of samples.arrow to keep in memory
_FIRST_PHENOTYPE = 3  # column

# What Arrow raises for damaged metadata, and errors that follow from columns that are too short.
_DAMAGE = (
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    OSError,
    MemoryError,
    OverflowError,
    pa.ArrowException,
)


class IncidenceSamples:
    """Reads samples.arrow a record batch at a time, and computes masks. It has no handle that
    forking would break.
    """

    def __init__(self, manifest: Manifest, removal: Callable[[], Removal]):
        self._manifest = manifest
        self._make_removal = removal
        self._size = sum(mask["size"] for mask in manifest["masks"])

    def labels(self, index: int) -> Labels:
        number, row = divmod(index, _ROWS)
        batch = self._batch
        try:
            return batch(number).labels(row, self._manifest.seed + index)
        except _DAMAGE as error:
            path = self._manifest.folder / "samples.arrow"
            raise DamagedRecordError(
                f"read {path}: sample {index}: {_one_line(error)}", RESTORE
            ) from error

    def removed(self, index: int) -> npt.NDArray[np.uint32]:
        return ascending(self._positions(index)).astype(np.uint32)

    def write_masks(self, index: int, out: Bytes) -> None:
        write_masks(self._positions(index), out)

    def write_packed(self, index: int, out: Bytes) -> None:
        write_packed(self._positions(index), self._size, out)

    def _positions(self, index: int) -> npt.NDArray[np.int32]:
        return self._removal.positions(self.labels(index).perturbation_indices)

    @cached_property
    def _removal(self) -> Removal:
        return self._make_removal()

    @cached_property
    def _batch(self) -> Callable[[int], _Batch]:
        """Reads a record batch by its number, and caches the most recently used ones."""
        data = self._manifest.open_file("samples.arrow")
        path = self._manifest.folder / "samples.arrow"
        try:
            file = pa.ipc.open_file(
                pa.PythonFile(Stream(data), "r"), options=pa.ipc.IpcReadOptions(use_threads=False)
            )
            found = [(field.name, field.type) for field in file.schema]
        except _DAMAGE as error:
            raise DamagedFileError(f"open {path}: {_one_line(error)}", RESTORE) from error
        expected = [
            ("sample_id", pa.string()),
            ("perturbation_indices", pa.list_(pa.int32())),
            ("checksum", pa.uint32()),
        ]
        expected += [(name, pa.float64()) for name in self._manifest["phenotypes"]]
        batches = -(-self._manifest["samples"] // _ROWS)
        if found != expected or file.num_record_batches != batches:
            raise DamagedFileError(
                f"open {path}: it has {file.num_record_batches} record batches of {len(found)} "
                "columns, or columns of other names or types"
                f", expected {batches} of {len(expected)}, as manifest.json says",
                RESTORE,
            )
        kept = max(1, _CACHED * batches // data.size)
        read: Callable[[int], _Batch] = lru_cache(maxsize=kept)(
            lambda number: _Batch(file.get_batch(number))
        )
        return read


class _Batch:
    """The columns of a record batch. It trusts none of the metadata: the views end where the
    buffers end.
    """

    def __init__(self, batch: pa.RecordBatch):
        _, id_offsets, ids = batch.column(0).buffers()
        _, index_offsets, _, indices = batch.column(1).buffers()
        self._id_offsets, self._ids = _view(id_offsets, "<i4"), memoryview(ids or b"")
        self._index_offsets, self._indices = _view(index_offsets, "<i4"), _view(indices, "<i4")
        self._checksums = _view(batch.column(2).buffers()[1], "<u4")
        self._phenotypes = [
            _view(column.buffers()[1], "<f8") for column in batch.columns[_FIRST_PHENOTYPE:]
        ]

    def labels(self, row: int, seed: int) -> Labels:
        sample_id = bytes(self._ids[self._id_offsets[row] : self._id_offsets[row + 1]])
        indices = self._indices[self._index_offsets[row] : self._index_offsets[row + 1]].copy()
        phenotypes = np.array([column[row] for column in self._phenotypes], np.float64)
        computed, stored = (
            labels_checksum(sample_id, indices, phenotypes, seed),
            int(self._checksums[row]),
        )
        if computed != stored:
            raise ValueError(f"found checksum {computed:08x}, expected {stored:08x}")
        return Labels(sample_id.decode(), indices, phenotypes)


def _view(buffer: pa.Buffer | None, kind: str) -> npt.NDArray[Any]:
    return np.frombuffer(buffer or b"", kind)


def _one_line(error: BaseException) -> str:
    return f"{error or type(error).__name__!s}".splitlines()[0][:200]
