"""Samples of the indices and full-masks variants: records in LMDB shards."""

from __future__ import annotations

import struct
import threading
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import zstandard

from tcbuild.codecs import CODECS, Codec
from tcbuild.errors import DamagedFileError, DamagedRecordError, ManifestError
from tcbuild.manifest import RESTORE, Manifest, unreadable
from tcbuild.masks import Bytes
from tcbuild.records import Labels, checksum, parse_labels, payload_start
from tcbuild.shard_file import ShardFile

_COUNT = struct.Struct("<I")
_ENTRY = struct.Struct("<III")  # end of a record, checksums of its head and its payload
_GUESS = 512  # bytes to read for a record's labels: enough for nearly all

T = TypeVar("T")


class ShardSamples:
    """Reads records. A shard is opened at its first use. Any number of threads and forked processes
    may read.
    """

    def __init__(self, manifest: Manifest):
        self._manifest = manifest
        self._shards = manifest["shards"]
        self._firsts = [shard["first"] for shard in self._shards]
        self._files: dict[int, ShardFile] = {}
        self._per_value: int = manifest["samples_per_value"]
        self._phenotypes = len(manifest["phenotypes"])
        self._size = sum(mask["size"] for mask in manifest["masks"])
        kind = manifest["variant"], manifest["codec"]
        if kind not in CODECS:
            raise ManifestError(
                f"read {manifest.folder}: codec {kind[1]!r} of {kind[0]} is unknown", RESTORE
            )
        self._local = _Local(lambda: CODECS[kind](self._size))

    def labels(self, index: int) -> Labels:
        return self._read(index, self._labels)

    def removed(self, index: int) -> npt.NDArray[np.uint32]:
        return self._read(index, lambda record: self._local.codec.removed(self._payload(record)))

    def write_masks(self, index: int, out: Bytes) -> None:
        self._read(index, lambda record: self._local.codec.write_masks(self._payload(record), out))

    def write_packed(self, index: int, out: Bytes) -> None:
        self._read(index, lambda record: self._local.codec.write_packed(self._payload(record), out))

    def _labels(self, record: _Record) -> Labels:
        return parse_labels(record.head(self._phenotypes), self._phenotypes)

    def _payload(self, record: _Record) -> memoryview:
        return record.payload(self._phenotypes)

    def _read(self, index: int, decode: Callable[[_Record], T]) -> T:
        """Returns decode of a sample's record."""
        number = bisect_right(self._firsts, index) - 1
        shard = self._shards[number]
        value, in_value = divmod(index - shard["first"], self._per_value)
        file = self._files.get(number) or self._open(number)
        try:
            expected = min(self._per_value, shard["samples"] - value * self._per_value)
            return decode(_Record(file, value, in_value, expected, self._manifest.seed + index))
        except (ValueError, struct.error, OSError, zstandard.ZstdError) as error:
            path = self._manifest.folder / shard["name"] / "data.mdb"
            raise DamagedRecordError(f"read {path}: sample {index}: {error}", RESTORE) from error

    def _open(self, number: int) -> ShardFile:
        shard = self._shards[number]
        name = f"{shard['name']}/data.mdb"
        path, data = self._manifest.folder / name, self._manifest.open_file(name)
        try:
            file = ShardFile(
                data, range(shard["first"], shard["first"] + shard["samples"], self._per_value)
            )
        except (ValueError, struct.error) as error:
            raise DamagedFileError(f"open {path}: {error}", RESTORE) from error
        except OSError as error:
            raise unreadable(path, error) from error
        self._files[number] = file
        return file


class _Record:
    """The location of a record in a value that must have the given number of records."""

    def __init__(self, file: ShardFile, value: int, number: int, expected: int, seed: int):
        directory = file.read(value, 0, _COUNT.size + expected * _ENTRY.size)
        (count,) = _COUNT.unpack_from(directory)
        if count != expected:
            raise ValueError(f"its value has {count} records, expected {expected}")
        start = (
            0
            if number == 0
            else _ENTRY.unpack_from(directory, _COUNT.size + (number - 1) * _ENTRY.size)[0]
        )
        end, self._head, self._payload = _ENTRY.unpack_from(
            directory, _COUNT.size + number * _ENTRY.size
        )
        if number + 1 == expected and len(directory) + end != file.length(value):
            raise ValueError(
                f"its value ends at byte {file.length(value)}, expected {len(directory) + end}"
            )
        self._file, self._value, self._start, self._length = (
            file,
            value,
            len(directory) + start,
            end - start,
        )
        self._seed = seed

    def head(self, phenotypes: int) -> bytes:
        """The part before the payload, with its checksum verified. The payload is not read."""
        part = self._part(_GUESS)
        end = payload_start(part, phenotypes)
        return self._checked_head(part if end <= len(part) else self._part(end), end)

    def payload(self, phenotypes: int) -> memoryview:
        """The payload, with the checksums of head and payload verified."""
        record = self._part(self._length)
        start = payload_start(record, phenotypes)
        self._checked_head(record, start)
        payload = memoryview(record)[start:]
        self._check("payload", payload, self._payload)
        return payload

    def _part(self, length: int) -> bytes:
        """The first bytes of the record, unchecked."""
        return self._file.read(self._value, self._start, self._start + min(length, self._length))

    def _checked_head(self, record: bytes, end: int) -> bytes:
        if end > len(record):
            raise ValueError(f"a head of {end} bytes in a record of {self._length}")
        self._check("head", record[:end], self._head)
        return record[:end]

    def _check(self, what: str, part: bytes | memoryview, expected: int) -> None:
        computed = checksum(part, self._seed)
        if computed != expected:
            raise ValueError(
                f"the {what} of its record has checksum {computed:08x}, expected {expected:08x}"
            )


class _Local(threading.local):
    """A codec for each thread."""

    def __init__(self, make: Callable[[], Codec]):
        self._make = make

    @cached_property
    def codec(self) -> Codec:
        return self._make()
