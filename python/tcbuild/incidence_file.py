"""The incidence files: for each gene and reaction, the positions that go with it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from tcbuild.columns import whole
from tcbuild.errors import DamagedFileError
from tcbuild.manifest import RESTORE, Manifest, unreadable

_SHORT = 32  # positions
_INDEX, _POSITIONS = "incidence.arrow", "incidence.positions"
_SCHEMA = pa.schema(
    [
        pa.field("end", pa.int64(), nullable=False),
        pa.field("checksum", pa.uint64(), nullable=False),
    ]
)


class IncidenceFile:
    """Reads rows of positions. It keeps short ones alone, as those of most reactions are: a sample
    needs the rows of a few nodes, and memory stays small. Each row is compared with its checksum
    when it is read.

    Any number of threads and forked processes may read.
    """

    def __init__(self, manifest: Manifest, rows: int):
        self._path = manifest.folder / _POSITIONS
        index = manifest.folder / _INDEX
        try:
            table = pa.ipc.open_file(pa.py_buffer(manifest.read_file(_INDEX))).read_all()
            if not table.schema.equals(_SCHEMA) or table.num_rows != rows:
                raise ValueError(
                    f"it has {table.num_rows:,} rows of {', '.join(map(str, table.schema))}, "
                    f"expected {rows:,} of {', '.join(map(str, _SCHEMA))}"
                )
        except (ValueError, pa.ArrowException) as error:
            raise DamagedFileError(f"read {index}: {error}", RESTORE) from error
        ends = np.concatenate([np.zeros(1, np.int64), whole(table.column("end"), np.int64)])
        # As memoryviews, whose items are ints.
        self._ends = ends.data
        self._checksums = whole(table.column("checksum"), np.uint64).data
        self._short: dict[int, npt.NDArray[np.int32]] = {}
        self._file = manifest.open_file(_POSITIONS)

    def rows(self, indices: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        """The positions of some rows, in the order of indices."""
        rows = [
            found if (found := self._short.get(row)) is not None else self._read(row)
            for row in indices.tolist()
        ]
        return np.concatenate(rows) if rows else np.empty(0, np.int32)

    def _read(self, row: int) -> npt.NDArray[np.int32]:
        start, end = self._ends[row], self._ends[row + 1]
        try:
            content = self._file.read(4 * start, 4 * (end - start))
        except ValueError as error:
            raise DamagedFileError(f"read {self._path}: row {row}: {error}", RESTORE) from error
        except OSError as error:
            raise unreadable(self._path, error) from error
        computed = xxhash.xxh64_intdigest(content)
        if computed != self._checksums[row]:
            raise DamagedFileError(
                f"read {self._path}: row {row} has checksum {computed:016x}, expected "
                f"{self._checksums[row]:016x}",
                RESTORE,
            )
        found = np.frombuffer(content, np.int32)
        if len(found) <= _SHORT:
            self._short[row] = found
        return found
