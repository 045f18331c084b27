"""A part of the sample table: an Arrow file of record batches; all but the last have as many rows.

It is read as a whole, by descriptor, and decoded from memory: Arrow's own threads would read a file
for it, and one that calls Python while another thread forks can hang the child, in os.fork before
Python 3.10.15 and 3.11.10 (gh-112275).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tcbuild._files.manifest import Manifest, decoding


class Part:
    """A part in memory, as it is stored, after comparing its SHA-256. Any number of threads may
    read: Arrow's reader does not change once it has read the dictionaries, with the first batch.
    """

    def __init__(self, manifest: Manifest, name: str, schema: pa.Schema, rows: int, per_batch: int):
        self._path, self._schema = manifest.folder / name, schema
        self._rows, self._per_batch = rows, per_batch
        self._content = pa.py_buffer(manifest.read_file(name))
        with decoding(self._path):
            self._reader = self._open()
            if not self._reader.schema.equals(schema):
                raise ValueError("it has columns of other names or types than manifest.json says")
            if (found := self._reader.num_record_batches) != (batches := -(-rows // per_batch)):
                raise ValueError(f"it has {found} record batches, expected {batches}")
        self.batch(0)

    def batch(self, number: int) -> pa.RecordBatch:
        """A record batch."""
        with decoding(self._path):
            batch = self._reader.get_batch(number)
            batch.validate(full=True)  # pyarrow would follow any offset
            rows = min(self._per_batch, self._rows - number * self._per_batch)
            if batch.num_rows != rows:
                raise ValueError(
                    f"its record batch {number} has {batch.num_rows} rows, expected {rows}"
                )
        return batch

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all rows; others are not decoded."""
        with decoding(self._path):
            fields = sorted(map(self._schema.get_field_index, names))
            table = self._open(included_fields=fields).read_all()
            table.validate(full=True)
            if table.num_rows != self._rows:
                raise ValueError(f"it has {table.num_rows} rows, expected {self._rows}")
        return table.select(names)

    def _open(self, **options: Any) -> pa.RecordBatchFileReader:
        # Buffers are compressed, and forked processes have none of Arrow's threads to unpack them.
        options |= {"use_threads": False}
        return pa.ipc.open_file(self._content, options=pa.ipc.IpcReadOptions(**options))
