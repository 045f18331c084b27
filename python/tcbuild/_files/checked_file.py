"""Files whose blocks are compared with checksums when they are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import xxhash

from tcbuild._files.data_file import File
from tcbuild._files.manifest import RESTORE, unreadable
from tcbuild._files.remote import Url
from tcbuild.errors import DamagedError

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
            raise DamagedError(
                f"read {self.path}: it ends at byte {self.size:,}, expected {length:,} bytes from "
                f"byte {offset:,} on",
                RESTORE,
            )
        first = offset - offset % BLOCK
        end = min(-(-(offset + length) // BLOCK) * BLOCK, self.size)
        try:
            blocks = memoryview(self._file.read(first, end - first))
        except ValueError as error:
            raise DamagedError(f"read {self.path}: {error}", RESTORE) from error
        except OSError as error:
            raise unreadable(self.path, error) from error
        for start in range(0, len(blocks), BLOCK):
            computed = xxhash.xxh64_intdigest(blocks[start : start + BLOCK])
            expected = int(self._sums[(first + start) // BLOCK])
            if computed != expected:
                raise DamagedError(
                    f"read {self.path}: the block from byte {first + start:,} on has checksum "
                    f"{computed:016x}, expected {expected:016x}",
                    RESTORE,
                )
        return blocks[offset - first : offset - first + length]


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
