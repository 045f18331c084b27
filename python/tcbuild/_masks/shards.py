"""Masks of the indices and full-masks variants: payloads in LMDB shards."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import xxhash

from tcbuild._files.manifest import RESTORE, Manifest, reading
from tcbuild._files.remote import Url
from tcbuild._files.shard_file import ShardFile
from tcbuild._masks.codecs import CODECS
from tcbuild._masks.masks import Bytes, Positions
from tcbuild.errors import DamagedError

_COUNT = struct.Struct("<I")
_ENTRY = struct.Struct("<II")  # end of a payload, and its checksum


class ShardMasks:
    """Reads payloads. A shard is opened at its first use. Any number of threads and forked
    processes may read.
    """

    def __init__(self, manifest: Manifest):
        self._manifest, self._seed = manifest, manifest.seed
        self._shards = manifest["shards"]
        self._firsts = [shard["first"] for shard in self._shards]
        self._files: dict[int, ShardFile] = {}
        self._checked: dict[int, int] = {}  # samples, and where in their files their masks begin
        self._per_value: int = manifest["samples_per_value"]
        self._size = sum(mask["size"] for mask in manifest["masks"])
        kind = manifest["variant"], manifest["codec"]
        if kind not in CODECS:
            raise DamagedError(
                f"read {manifest.folder}: codec {kind[1]!r} of {kind[0]} is unknown", RESTORE
            )
        self._decode = CODECS[kind]

    def unordered(self, index: int) -> Positions:
        """The removed positions; here they ascend."""
        with self._named(index) as number:
            file, value, start, end, checksum = self._find(number, index)
            payload = file.read(value, start, end)
            self._compare(index, [payload], checksum)
            return self._decode(memoryview(payload), self._size)

    def read_into(self, index: int, parts: Sequence[Bytes]) -> None:
        """Reads the masks of full-masks raw, one after the other, into arrays. The checksum of a
        record is compared at its first read in a process; from then on, reading is all it takes.
        """
        with self._named(index) as number:
            if (start := self._checked.get(index)) is not None:
                self._files[number].file.read_into(start, parts)
                return
            file, value, start, end, checksum = self._find(number, index)
            if end - start != sum(map(len, parts)):
                raise ValueError(f"payload of {end - start} bytes, expected another size")
            place = file.place(value, start, end)
            file.file.read_into(place, parts)
            self._compare(index, parts, checksum)
            self._checked[index] = place

    @contextmanager
    def _named(self, index: int) -> Iterator[int]:
        """The shard of a sample; what is wrong with it names both."""
        number = bisect_right(self._firsts, index) - 1
        with reading(self._path(number), f"sample {index}: "):
            yield number

    def _find(self, number: int, index: int) -> tuple[ShardFile, int, int, int, int]:
        """The file of a shard, the value of a sample, where in it the payload begins and ends, and
        its checksum.
        """
        shard = self._shards[number]
        value, in_value = divmod(index - shard["first"], self._per_value)
        file = self._files.get(number) or self._open(number)
        expected = min(self._per_value, shard["samples"] - value * self._per_value)
        directory = file.read(value, 0, _COUNT.size + expected * _ENTRY.size)
        (count,) = _COUNT.unpack_from(directory)
        if count != expected:
            raise ValueError(f"its value has {count} payloads, expected {expected}")
        at = _COUNT.size + in_value * _ENTRY.size
        start = _ENTRY.unpack_from(directory, at - _ENTRY.size)[0] if in_value else 0
        end, checksum = _ENTRY.unpack_from(directory, at)
        if in_value + 1 == expected and len(directory) + end != file.length(value):
            raise ValueError(
                f"its value ends at byte {file.length(value)}, expected {len(directory) + end}"
            )
        return file, value, len(directory) + start, len(directory) + end, checksum

    def _compare(self, index: int, payload: Sequence[Any], expected: int) -> None:
        """Compares a payload, in buffers, with its checksum."""
        digest = xxhash.xxh64(seed=self._seed + index & 0xFFFFFFFFFFFFFFFF)
        for part in payload:
            digest.update(part)
        if (computed := digest.intdigest() & 0xFFFFFFFF) != expected:
            raise ValueError(f"its payload has checksum {computed:08x}, expected {expected:08x}")

    def _path(self, number: int) -> Path | Url:
        return self._manifest.folder / f"{self._shards[number]['name']}/data.mdb"

    def _open(self, number: int) -> ShardFile:
        shard = self._shards[number]
        data = self._manifest.open_file(f"{shard['name']}/data.mdb")
        keys = range(shard["first"], shard["first"] + shard["samples"], self._per_value)
        with reading(self._path(number)):
            file = ShardFile(data, keys)
        self._files[number] = file
        return file
