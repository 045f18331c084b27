"""Files whose blocks are compared with checksums when they are read."""

from __future__ import annotations

import atexit
import io
import os
import time
import weakref
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


class CheckedFile:
    """A file whose blocks are compared with their XXH64 each time they are read. Any number of
    threads may read.
    """

    def __init__(self, path: Path | Url, file: File, sums: Sums):
        self.path, self.size = path, file.size
        self._file, self._sums = file, sums

    def read(self, offset: int, length: int) -> memoryview:
        """length bytes from offset; DatasetError if the file has fewer, or other ones."""
        if not 0 <= offset <= offset + length <= self.size:
            raise DamagedFileError(
                f"read {self.path}: it ends at byte {self.size:,}, expected {length:,} bytes from "
                f"byte {offset:,} on",
                RESTORE,
            )
        first, blocks = self.blocks(offset, length)
        return blocks[offset - first : offset - first + length]

    def blocks(self, offset: int, length: int) -> tuple[int, memoryview]:
        """The blocks with these bytes, and where they begin."""
        first = offset - offset % BLOCK
        end = min(-(-(offset + length) // BLOCK) * BLOCK, self.size)
        try:
            blocks = memoryview(self._file.read(first, end - first))
        except ValueError as error:
            raise DamagedFileError(f"read {self.path}: {error}", RESTORE) from error
        except OSError as error:
            raise unreadable(self.path, error) from error
        for start in range(0, len(blocks), BLOCK):
            computed = xxhash.xxh64_intdigest(blocks[start : start + BLOCK])
            expected = int(self._sums[(first + start) // BLOCK])
            if computed != expected:
                raise DamagedFileError(
                    f"read {self.path}: the block from byte {first + start:,} on has checksum "
                    f"{computed:016x}, expected {expected:016x}",
                    RESTORE,
                )
        return first, blocks


class CheckedStream(io.RawIOBase):
    """A checked file as a stream for one reader. The blocks read last stay in memory, for reads
    side by side.
    """

    def __init__(self, file: CheckedFile):
        self._file, self._position = file, 0
        self._first, self._last = 0, memoryview(b"")  # where the last blocks begin, and these
        self.error: DatasetError | None = None  # of the last read; Arrow may wrap it in its own
        _streams.add(self)

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
                self._first, self._last = self._file.blocks(start, end - start)
            except DatasetError as error:
                # a copy, as the error's traceback leads here: Arrow's threads also read ahead when
                # nobody will look at this again, and such a circle would keep the file open
                self.error = type(error)(error.message, error.hint)
                raise
        self._position = end
        return self._last[start - self._first : end - self._first]


_streams: weakref.WeakSet[CheckedStream] = weakref.WeakSet()
os.register_at_fork(after_in_child=_streams.clear)


@atexit.register
def _await_arrow() -> None:
    """Wait for Arrow's threads, which hold a stream for a moment after its last read. A thread that
    lets go of it while the interpreter ends would abort the process.
    """
    until = time.monotonic() + 1
    while len(_streams) > 0 and time.monotonic() < until:
        time.sleep(0.001)


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
