"""Samples of the incidence variant: labels in samples.arrow, masks from the incidence."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild.errors import DamagedFileError, DamagedRecordError
from tcbuild.manifest import RESTORE, Manifest
from tcbuild.masks import Bytes, ascending, write_masks, write_packed
from tcbuild.records import Labels, labels_checksum
from tcbuild.removal import Removal

_FIRST_PHENOTYPE = 3  # column


class IncidenceSamples:
    """Reads samples.arrow, mapped, and computes masks. It holds no handle that a fork would break."""

    def __init__(self, manifest: Manifest, removal: Callable[[], Removal]):
        self._manifest = manifest
        self._make_removal = removal
        self._size = sum(mask["size"] for mask in manifest["masks"])
        self._batches: dict[int, _Batch] = {}

    def labels(self, index: int) -> Labels:
        number, row = divmod(index, self._rows)
        batch = self._batches.get(number)
        try:
            if batch is None:
                batch = self._batches[number] = _Batch(self._file.get_batch(number))
            return batch.labels(row, self._manifest.seed + index)
        except (ValueError, IndexError, pa.ArrowException) as error:
            path = self._manifest.folder / "samples.arrow"
            raise DamagedRecordError(f"read {path}: sample {index}: {error}", RESTORE) from error

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
    def _file(self) -> pa.ipc.RecordBatchFileReader:
        path = self._manifest.check_file("samples.arrow", digest=False)
        try:
            return pa.ipc.open_file(pa.memory_map(str(path)), options=pa.ipc.IpcReadOptions(use_threads=False))
        except pa.ArrowException as error:
            raise DamagedFileError(f"open {path}: {error}", RESTORE) from error

    @cached_property
    def _rows(self) -> int:
        """Rows of all record batches but the last."""
        rows: int = self._file.get_batch(0).num_rows
        return rows


class _Batch:
    """The columns of a record batch, as views of the mapped file."""

    def __init__(self, batch: pa.RecordBatch):
        ids, indices = batch.column(0), batch.column(1)
        self._batch = batch  # keeps the views alive
        self._id_offsets = np.frombuffer(ids.buffers()[1], "<i4")
        self._ids = ids.buffers()[2] or b""
        self._index_offsets = indices.offsets.to_numpy()
        self._indices = indices.values.to_numpy()
        self._checksums = batch.column(2).to_numpy()
        self._phenotypes = [column.to_numpy() for column in batch.columns[_FIRST_PHENOTYPE:]]

    def labels(self, row: int, seed: int) -> Labels:
        sample_id = bytes(self._ids[self._id_offsets[row] : self._id_offsets[row + 1]])
        indices = self._indices[self._index_offsets[row] : self._index_offsets[row + 1]].copy()
        phenotypes = np.array([column[row] for column in self._phenotypes], np.float64)
        computed, stored = labels_checksum(sample_id, indices, phenotypes, seed), int(self._checksums[row])
        if computed != stored:
            raise ValueError(f"its checksum is {computed:08x} (expected {stored:08x})")
        return Labels(sample_id.decode(), indices, phenotypes)
