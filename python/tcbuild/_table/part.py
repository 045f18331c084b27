"""A part of the sample table: an Arrow file of record batches; all but the last have as
many rows.

Arrow's reader of such a file has state, the dictionaries that it has read, so two threads cannot
share it. And Arrow's own threads read the file for it: one that calls Python while another thread
forks can hang the child, in os.fork before Python 3.10.15 and 3.11.10 (gh-112275). So batches are
decoded from their bytes.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tcbuild._files.checked_file import BLOCK, CheckedFile
from tcbuild._files.manifest import RESTORE
from tcbuild._lazy import lazy_property
from tcbuild.errors import DamagedError

_MAGIC = b"ARROW1"
_END = struct.Struct(f"<i{len(_MAGIC)}s")  # length of the footer before it, and the magic
_HEAD = 8  # bytes of the magic before the schema, padded
_BLOCK = struct.Struct("<qi4xq")  # offset of a message, length of its metadata and its body
_BUFFER = struct.Struct("<qq")  # offset in the body, and length
_PREFIX = 8  # bytes of a message before its table: a mark and the length
# Buffers are compressed, and forked processes have none of Arrow's threads to unpack them.
_ALONE = pa.ipc.IpcReadOptions(use_threads=False)
# Numbers of fields in tables of FlatBuffers.
_RECORD_BATCHES = 3  # of the footer: their blocks
_HEADER = 2  # of a message: here, a record batch
_BUFFERS = 2  # of a record batch


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
            batch = _checked(pa.ipc.open_stream(pa.py_buffer(content), options=_ALONE))
        self._check_rows(batch, number)
        return batch

    @property
    def words(self) -> list[pa.Array | None]:
        """The dictionary of each column that has one."""
        return self._layout.words

    def columns(self, fields: list[int]) -> pa.Table:
        """Some columns of all rows, by their places in the schema, ascending; at least one."""
        layout = self._layout
        options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=fields)
        batches = []
        for number in range(len(layout.blocks)):
            with _as_damage(self._file):
                content = self._with_buffers(number, fields)
                batch = _checked(pa.ipc.open_stream(content, options=options))
                columns = [
                    column if words is None else pa.DictionaryArray.from_arrays(column, words)
                    for column, words in zip(batch.columns, (layout.words[k] for k in fields))
                ]
            self._check_rows(batch, number)
            batches.append(columns)
        schema = pa.schema([self._schema.field(field) for field in fields])
        chunked = [
            pa.chunked_array([columns[k] for columns in batches], field.type)
            for k, field in enumerate(schema)
        ]
        return pa.Table.from_arrays(chunked, schema=schema)

    def _with_buffers(self, number: int, fields: list[int]) -> pa.Buffer:
        """The schema and a record batch, in which only the buffers of some fields are read."""
        offset, length, size = self._layout.blocks[number]
        metadata = self._file.read(offset, length)
        head = np.frombuffer(self._layout.schema + metadata, np.uint8)
        content = np.empty(len(head) + size, np.uint8)
        content[: len(head)], body = head, content[len(head) :]
        for start, end in _spans(metadata, self._buffers, fields):
            body[start:end] = self._file.read(offset + length + start, end - start)
        return pa.py_buffer(content)

    @lazy_property
    def _buffers(self) -> list[int]:
        """Which of a record batch's buffers is the first of each column; then how many it has."""
        counts = (len(pa.nulls(0, field.type).buffers()) for field in self._schema)
        return [0, *itertools.accumulate(counts)]

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
            columns = _checked(reader).columns
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


def _checked(reader: pa.RecordBatchStreamReader) -> pa.RecordBatch:
    """The next record batch, whose offsets lie in its buffers: pyarrow would follow any."""
    batch = reader.read_next_batch()
    batch.validate(full=True)
    return batch


def _record_batches(file: CheckedFile) -> list[tuple[int, int, int]]:
    """The blocks of record batches that the footer lists, a table of FlatBuffers."""
    start = max(0, file.size - 1) // BLOCK * BLOCK
    tail = file.read(start, file.size - start)
    length, magic = _END.unpack_from(tail, len(tail) - _END.size)
    if magic != _MAGIC:
        raise ValueError(f"it ends with {magic!r}, expected {_MAGIC!r}")
    footer = file.read(file.size - _END.size - length, length)

    blocks = _structs(_BLOCK, footer, _follow(footer, _int32(footer, 0), _RECORD_BATCHES))
    if any(sum(block) > file.size for block in blocks):
        raise ValueError("it has a record batch beyond its end")
    return blocks


def _spans(metadata: memoryview, first: list[int], fields: list[int]) -> list[tuple[int, int]]:
    """Where the buffers of some fields begin and end in a record batch's body, from its metadata.
    What lies between buffers that share a block is part of a span: it is read in any case.
    """
    table = metadata[_PREFIX:]
    batch = _follow(table, _int32(table, 0), _HEADER)
    buffers = _structs(_BUFFER, table, _follow(table, batch, _BUFFERS))
    if len(buffers) != first[-1]:
        raise ValueError(f"a record batch has {len(buffers)} buffers, not {first[-1]}")
    spans: list[tuple[int, int]] = []
    for field in fields:
        start, end = buffers[first[field]][0], sum(buffers[first[field + 1] - 1])
        if spans and start - spans[-1][1] < BLOCK:
            start = spans.pop()[0]
        spans.append((start, end))
    return spans


def _int32(data: bytes | memoryview, at: int) -> int:
    value: int = struct.unpack_from("<i", data, at)[0]
    return value


def _follow(data: bytes | memoryview, table: int, field: int) -> int:
    """Where a field of a table of FlatBuffers points to."""
    (offset,) = struct.unpack_from("<H", data, table - _int32(data, table) + 4 + 2 * field)
    at: int = table + offset
    return at + _int32(data, at)


def _structs(kind: struct.Struct, data: bytes | memoryview, at: int) -> list[Any]:
    """The vector of structs at a place."""
    return list(kind.iter_unpack(data[at + 4 : at + 4 + _int32(data, at) * kind.size]))


def _empty_batch(schema: pa.Schema) -> bytes:
    """A message of a record batch without rows."""
    columns = [pa.nulls(0, field.type) for field in schema]
    return bytes(pa.RecordBatch.from_arrays(columns, schema=schema).serialize())


@contextmanager
def _as_damage(file: CheckedFile) -> Iterator[None]:
    """Names the file in errors of what is done with it."""
    try:
        yield
    except (ValueError, OSError, struct.error, pa.ArrowException) as error:
        raise _misfit(file, f"{error}".partition("\n")[0]) from error


def _misfit(file: CheckedFile, found: str) -> DamagedError:
    return DamagedError(
        f"read {file.path}: {found:.200}, expected what manifest.json says", RESTORE
    )
