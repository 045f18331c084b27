"""Files read by descriptor, never mapped.

If a mapped file is truncated or its disk fails, the process ends; here it is an error. One
descriptor always reads the same file, even if it is replaced, and threads and forked processes
share it.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

_AT_ONCE = 1 << 9  # arrays that one system call fills; Linux takes up to 1,024

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class NoFileError(ValueError):
    """A file's name belongs to something other than a file."""


class File(Protocol):
    """What a dataset's files are read by, on a disk or at a URL."""

    size: int

    def read(self, offset: int, length: int) -> bytes: ...
    def read_into(self, offset: int, parts: Sequence[Bytes]) -> None: ...


class DataFile:
    """An open regular file. Otherwise OSError or NoFileError say what was found. It never waits for
    a pipe or device.
    """

    def __init__(self, path: Path):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise NoFileError(
                f"it is {_KINDS.get(stat.S_IFMT(status.st_mode), 'no file')}, expected a file"
            )
        self._file = io.FileIO(descriptor)  # closes it with this object
        self.size = status.st_size

    def read(self, offset: int, length: int) -> bytes:
        """length bytes from offset; ValueError if the file has fewer, or has been truncated since
        it was opened.
        """
        self._check(offset, length)
        found = os.pread(self._file.fileno(), length, offset)
        while len(found) < length:  # a large read comes in parts
            part = os.pread(self._file.fileno(), length - len(found), offset + len(found))
            if not part:
                raise ValueError(
                    f"the file ends at byte {offset + len(found)}, expected {offset + length}: it "
                    "was truncated"
                )
            found += part
        return found

    def read_into(self, offset: int, parts: Sequence[Bytes]) -> None:
        """Fills arrays with the bytes from offset on, one after the other, without a copy between;
        ValueError as of read.
        """
        length = sum(len(part) for part in parts)
        self._check(offset, length)
        for first in range(0, len(parts), _AT_ONCE):
            some = parts[first : first + _AT_ONCE]
            expected = sum(len(part) for part in some)
            buffers: Any = list(some)
            # Fewer come of a large read, and at the end.
            if os.preadv(self._file.fileno(), buffers, offset) < expected:
                at = offset
                for part in some:
                    part[:] = np.frombuffer(self.read(at, len(part)), np.uint8)
                    at += len(part)
            offset += expected

    def _check(self, offset: int, length: int) -> None:
        if not 0 <= offset <= offset + length <= self.size:
            raise ValueError(
                f"the file ends at byte {self.size}, expected {offset + length} at least"
            )
