"""The incidence files: for each gene and reaction, the positions that go with it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from tcbuild._files.manifest import RESTORE, Manifest, decoding, reading
from tcbuild._table.columns import whole
from tcbuild.errors import DamagedError

_MOST_KEPT = 32 << 20  # bytes of rows; all of a yeast graph have 20 MB
_INDEX, _POSITIONS = "incidence.arrow", "incidence.positions"
_SCHEMA = pa.schema(
    [
        pa.field("end", pa.int64(), nullable=False),
        pa.field("checksum", pa.uint64(), nullable=False),
    ]
)


class IncidenceFile:
    """Reads rows of positions when a sample needs them, and keeps them, up to a limit of memory: to
    read a row and compare it with its checksum takes as long as the rest of a sample's masks.

    Any number of threads and forked processes may read.
    """

    def __init__(self, manifest: Manifest, rows: int):
        self._path = manifest.folder / _POSITIONS
        manifest.check_incidence(manifest.file(_POSITIONS)["sha256"])
        with decoding(manifest.folder / _INDEX):
            table = pa.ipc.open_file(pa.py_buffer(manifest.read_file(_INDEX))).read_all()
            table.validate(full=True)  # pyarrow would read past a buffer's end
            if not table.schema.equals(_SCHEMA) or table.num_rows != rows:
                raise ValueError(
                    f"it has {table.num_rows:,} rows of {', '.join(map(str, table.schema))}, "
                    f"expected {rows:,} of {', '.join(map(str, _SCHEMA))}"
                )
        ends = np.concatenate([np.zeros(1, np.int64), whole(table.column("end"), np.int64)])
        # As memoryviews, whose items are ints.
        self._ends = ends.data
        self._checksums = whole(table.column("checksum"), np.uint64).data
        self._kept: dict[int, npt.NDArray[np.int32]] = {}
        self._bytes_kept = 0
        self._file = manifest.open_file(_POSITIONS)
        self._size = sum(mask["size"] for mask in manifest["masks"])

    def rows(self, nodes: list[int]) -> npt.NDArray[np.int32]:
        """The positions of some rows, in the order of nodes."""
        rows = [
            found if (found := self._kept.get(row)) is not None else self._read(row)
            for row in nodes
        ]
        return np.concatenate(rows) if rows else np.empty(0, np.int32)

    def _read(self, row: int) -> npt.NDArray[np.int32]:
        start, end = self._ends[row], self._ends[row + 1]
        with reading(self._path, f"row {row}: "):
            content = self._file.read(4 * start, 4 * (end - start))
        computed = xxhash.xxh64_intdigest(content)
        if computed != self._checksums[row]:
            raise DamagedError(
                f"read {self._path}: row {row} has checksum {computed:016x}, expected "
                f"{self._checksums[row]:016x}",
                RESTORE,
            )
        found = np.frombuffer(content, np.int32)
        if len(found) and not 0 <= found.min() <= found.max() < self._size:
            raise DamagedError(
                f"read {self._path}: row {row} has positions from {found.min()} to {found.max()}, "
                f"expected below {self._size}",
                RESTORE,
            )
        if self._bytes_kept + found.nbytes <= _MOST_KEPT:
            self._kept[row] = found
            self._bytes_kept += found.nbytes
        return found
