"""Files whose blocks are compared with checksums when they are read."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import xxhash

from tcbuild.data_file import File
from tcbuild.errors import DamagedFileError, DatasetError
from tcbuild.manifest import RESTORE, unreadable
from tcbuild.remote import Url

BLOCK = 1 << 16  # bytes that a checksum is for; the last block of a file has the rest

Sums = npt.NDArray[np.uint64]


class CheckedFile(io.RawIOBase):
    """A file as a stream. Each block is compared with its XXH64 when it is read from disk.

    keep: whether the blocks that were read last stay in memory, for reads side by side; those of
        a URL always do
    """

    def __init__(self, path: Path | Url, file: File, sums: Sums, keep: bool):
        self._path, self._file, self._sums = path, file, sums
        self._keep = keep or isinstance(path, Url)
        self._position = 0
        self._first, self._last = 0, memoryview(b"")  # what was read last, and where it begins
        self.error: DatasetError | None = None  # of the last read; Arrow may wrap it in its own

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._file.size}[whence]
        self._position = base + offset
        return self._position

    def read(self, size: int | None = -1) -> memoryview:
        start = self._position
        left = max(0, self._file.size - start)
        end = start + (left if size is None or size < 0 else min(size, left))
        self.error = None
        if not self._first <= start <= end <= self._first + len(self._last):
            try:
                self._read_blocks(start - start % BLOCK, -(-end // BLOCK) * BLOCK)
            except DatasetError as error:
                self.error = error
                raise
        self._position = end
        found = self._last[start - self._first : end - self._first]
        if not self._keep:
            self._last = memoryview(b"")
        return found

    def _read_blocks(self, first: int, end: int) -> None:
        """Reads whole blocks to _last."""
        try:
            memory = memoryview(self._file.read(first, min(end, self._file.size) - first))
        except ValueError as error:
            raise DamagedFileError(f"read {self._path}: {error}", RESTORE) from error
        except OSError as error:
            raise unreadable(self._path, error) from error
        for start in range(0, len(memory), BLOCK):
            computed = xxhash.xxh64_intdigest(memory[start : start + BLOCK])
            expected = int(self._sums[(first + start) // BLOCK])
            if computed != expected:
                raise DamagedFileError(
                    f"read {self._path}: the block from byte {first + start:,} on has checksum "
                    f"{computed:016x}, expected {expected:016x}",
                    RESTORE,
                )
        self._first, self._last = first, memory


def split_sums(content: bytes | bytearray, sizes: list[int]) -> list[Sums]:
    """The checksums of files of these sizes, from a file of checksums; ValueError if it is of
    others.
    """
    words = np.frombuffer(content, "<u8")
    split, start = [], 0
    for number, size in enumerate(sizes):
        end = start + 1 + -(-size // BLOCK)
        if end > len(words) or int(words[start]) != size:
            raise ValueError(f"its file {number} has another size than {size:,} bytes")
        split.append(words[start + 1 : end])
        start = end
    if start != len(words):
        raise ValueError(f"it has {len(words)} numbers, expected {start}")
    return split
