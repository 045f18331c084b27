"""Files read by descriptor, which threads and forked processes share, and which stays with a file
that is replaced. They are never mapped: where a mapped file is truncated, the process ends.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


class DataFile:
    """An open regular file. It never waits for a pipe or device."""

    def __init__(self, path: Path):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise ValueError("it is a folder, a pipe or a device, expected a file")
        self._file = io.FileIO(descriptor)  # closes it with this object
        self.size = status.st_size

    def read(self, offset: int, length: int) -> bytes:
        """length bytes from offset; ValueError if the file has fewer, or was cut meanwhile."""
        check_range(offset, length, self.size)
        found = b""
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
        """Fills arrays with the bytes from offset on, one after the other, without a copy."""
        length = sum(map(len, parts))
        check_range(offset, length, self.size)
        buffers: Any = [*parts]
        if os.preadv(self._file.fileno(), buffers, offset) < length:
            fill(parts, self.read(offset, length))


def check_range(offset: int, length: int, size: int) -> None:
    if not 0 <= offset <= offset + length <= size:
        raise ValueError(f"the file ends at byte {size}, expected {offset + length} at least")


def fill(parts: Sequence[Bytes], content: bytes | memoryview) -> None:
    """Copies bytes into arrays, one after the other."""
    ends = np.cumsum([*map(len, parts)])
    for part, found in zip(parts, np.split(np.frombuffer(content, np.uint8), ends[:-1])):
        part[:] = found
