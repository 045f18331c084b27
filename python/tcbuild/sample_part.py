"""A part of the sample table: an Arrow file of record batches; all but the last have as
many rows.

Arrow's reader of such a file has state, the dictionaries that it has read, and two threads cannot
share it. Here a batch is decoded from its bytes, or by a reader of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pyarrow as pa

from tcbuild.checked_file import BLOCK, CheckedFile, CheckedStream
from tcbuild.errors import DamagedFileError
from tcbuild.lazy import lazy_property
from tcbuild.manifest import RESTORE

_MAGIC = b"ARROW1"
_END = struct.Struct(f"<i{len(_MAGIC)}s")  # length of the footer before it, and the magic
_HEAD = 8  # bytes of the magic before the schema, padded
_BLOCK = struct.Struct("<qi4xq")  # offset of a message, length of its metadata and its body
# Buffers are compressed, and forked processes have none of Arrow's threads to unpack them.
_ALONE = pa.ipc.IpcReadOptions(use_threads=False)
_RECORD_BATCHES = 3  # the footer's field with their blocks


class Part:
    """Reads a file of the sample table, which has rows in record batches of per_batch. Any number
    of threads may read.
    """

    def __init__(self, file: CheckedFile, schema: pa.Schema, rows: int, per_batch: int):
        self._file, self._schema, self._rows, self._per_batch = file, schema, rows, per_batch

    def batch(self, number: int) -> pa.RecordBatch:
        """A record batch; of texts with a dictionary, the indices."""
        offset, metadata, body = self._layout.blocks[number]
        with _as_damage(self._file):
            content = self._layout.schema + self._file.read(offset, metadata + body)
            batch = pa.ipc.open_stream(pa.py_buffer(content), options=_ALONE).read_next_batch()
        self._check_rows(batch, number)
        return batch

    @property
    def words(self) -> list[pa.Array | None]:
        """The dictionary of each column that has one."""
        return self._layout.words

    def columns(self, fields: list[int]) -> pa.Table:
        """Some columns of all rows, by their places in the schema."""
        schema = pa.schema([self._schema.field(field) for field in fields])
        stream = CheckedStream(self._file)
        # Of all columns, a batch is read in one piece.
        some = fields if len(fields) < len(self._schema) else None
        options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=some)
        with _as_damage(self._file, stream):
            reader = pa.ipc.open_file(pa.PythonFile(stream, "r"), options=options)
            self._check_shape(reader.schema, schema, reader.num_record_batches)
            batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        for number, batch in enumerate(batches):
            self._check_rows(batch, number)
        return pa.Table.from_batches(batches, schema)

    @lazy_property
    def _layout(self) -> _Layout:
        with _as_damage(self._file):
            blocks = _record_batches(self._file)
            # What precedes the batches is a stream of the schema and the dictionaries.
            end = blocks[0][0] if blocks else 0
            head = self._file.read(_HEAD, end - _HEAD)
            reader = pa.ipc.open_stream(
                pa.py_buffer(bytes(head) + _empty_batch(self._schema)), options=_ALONE
            )
            self._check_shape(reader.schema, self._schema, len(blocks))
            columns = reader.read_next_batch().columns
        words = [
            column.dictionary if isinstance(column, pa.DictionaryArray) else None
            for column in columns
        ]
        fields = [
            field if there is None else field.with_type(field.type.index_type)
            for field, there in zip(self._schema, words)
        ]
        return _Layout(blocks, words, pa.schema(fields).serialize().to_pybytes())

    def _check_shape(self, found: pa.Schema, expected: pa.Schema, batches: int) -> None:
        if not found.equals(expected):
            raise _misfit(self._file, "it has columns of other names or types")
        if batches != -(-self._rows // self._per_batch):
            raise _misfit(self._file, f"it has {batches} record batches")

    def _check_rows(self, batch: pa.RecordBatch, number: int) -> None:
        if batch.num_rows != min(self._per_batch, self._rows - number * self._per_batch):
            raise _misfit(self._file, f"its record batch {number} has {batch.num_rows} rows")


class _Layout(NamedTuple):
    """Where a part's record batches are: offset, length of the metadata and of the body; its
    dictionaries; and the message of its schema, with indices in place of texts with a dictionary.
    """

    blocks: list[tuple[int, int, int]]
    words: list[pa.Array | None]
    schema: bytes


def _record_batches(file: CheckedFile) -> list[tuple[int, int, int]]:
    """The blocks of record batches that the footer lists, a table of FlatBuffers."""
    start = max(0, file.size - 1) // BLOCK * BLOCK
    tail = file.read(start, file.size - start)
    length, magic = _END.unpack_from(tail, len(tail) - _END.size)
    if magic != _MAGIC:
        raise ValueError(f"it ends with {magic!r}, expected {_MAGIC!r}")
    footer = file.read(file.size - _END.size - length, length)

    def int32(at: int) -> int:
        value: int = struct.unpack_from("<i", footer, at)[0]
        return value

    table = int32(0)
    (field,) = struct.unpack_from("<H", footer, table - int32(table) + 4 + 2 * _RECORD_BATCHES)
    vector = table + field + int32(table + field)
    first = vector + 4
    return list(_BLOCK.iter_unpack(footer[first : first + int32(vector) * _BLOCK.size]))


def _empty_batch(schema: pa.Schema) -> bytes:
    """A message of a record batch without rows."""
    columns = [pa.nulls(0, field.type) for field in schema]
    return bytes(pa.RecordBatch.from_arrays(columns, schema=schema).serialize())


@contextmanager
def _as_damage(file: CheckedFile, stream: CheckedStream | None = None) -> Iterator[None]:
    """Names the file in errors of what is done with it."""
    try:
        yield
    except (ValueError, OSError, struct.error, pa.ArrowException) as error:
        # Not in a variable: an error and a frame that lead to each other keep files open.
        if stream is not None and stream.error is not None:
            raise stream.error from error
        raise _misfit(file, f"{error}".partition("\n")[0]) from error
    finally:
        if stream is not None:
            stream.error = None


def _misfit(file: CheckedFile, found: str) -> DamagedFileError:
    return DamagedFileError(
        f"read {file.path}: {found:.200}, expected what manifest.json says", RESTORE
    )
