"""The values of a shard's data.mdb, found by its pages and read from the file.

LMDB's library would map the file. That counts all that is read of it as memory of the process, ends the process at a damaged page, and
has to be opened anew in each process. A file descriptor has none of this: threads and forked processes share it.
store/FORMAT.md describes the pages.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np

_META = struct.Struct("<16xI108xQ8xQ")  # magic, root page, transaction; a page's first 152 bytes
_MAGIC = 0xBEEFC0DE
_PAGE_SIZE_AT = 40
_PAGE = struct.Struct("<QHHHH")  # number, pad, flags, lower, upper
_BRANCH, _LEAF = 1, 2
_NODE = struct.Struct("<IHH")  # data size, flags, key size; in a branch the child's page in place of size and flags
_KEY = struct.Struct(">Q")
_BIG = 1  # flag: the data lies in pages of its own, behind a header


class ShardFile:
    """An open data.mdb whose values have the keys first, first + step, ... below end.

    Opening reads the tree: 1 ms for 1,000 values. ValueError or struct.error says that it is damaged.
    """

    def __init__(self, path: Path, keys: range):
        self._file = path.open("rb", buffering=0)
        self._size = os.fstat(self._file.fileno()).st_size
        found = sorted(self._values())
        if [key for key, _, _ in found] != list(keys):
            raise ValueError(f"its {len(found)} values have other keys than {keys.start}, {keys.start + keys.step}, ... below {keys.stop}")
        self._offsets = np.array([offset for _, offset, _ in found], np.int64)
        self._lengths = np.array([length for _, _, length in found], np.int64)

    def length(self, value: int) -> int:
        """Bytes of a value; values are counted from 0 in the order of their keys."""
        return int(self._lengths[value])

    def read(self, value: int, start: int, end: int) -> bytes:
        """Bytes start to end of a value."""
        if not 0 <= start <= end <= self._lengths[value]:
            raise ValueError(f"bytes {start} to {end} of a value of {self._lengths[value]}")
        return self._read(int(self._offsets[value]) + start, end - start)

    def _read(self, offset: int, length: int) -> bytes:
        if offset + length > self._size:
            raise ValueError(f"the file ends at byte {self._size} (expected {offset + length} at least)")
        return os.pread(self._file.fileno(), length, offset)

    def _values(self) -> list[tuple[int, int, int]]:
        """Key, offset in the file and length of all values."""
        (page_size,) = struct.unpack("<I", self._read(_PAGE_SIZE_AT, 4))
        metas = [_META.unpack(self._read(number * page_size, _META.size)) for number in (0, 1)]
        if any(magic != _MAGIC for magic, _, _ in metas):
            raise ValueError("its first pages are none of LMDB's")
        _, root, _ = max(metas, key=lambda meta: meta[2])
        values, waiting, seen = [], [root], set()
        while waiting:
            number = waiting.pop()
            page = self._read(number * page_size, page_size)
            stated, _, kind, lower, _ = _PAGE.unpack_from(page)
            if stated != number or number in seen or kind not in (_BRANCH, _LEAF):
                raise ValueError(f"page {number} of its tree states number {stated} and flags {kind}")
            seen.add(number)
            for (at,) in struct.iter_unpack("<H", page[_PAGE.size : lower]):
                size, flags, key_length = _NODE.unpack_from(page, at)
                if kind == _BRANCH:
                    waiting.append(size | flags << 32)
                    continue
                data = at + _NODE.size + key_length
                offset = struct.unpack_from("<Q", page, data)[0] * page_size + _PAGE.size if flags & _BIG else number * page_size + data
                if key_length != _KEY.size or offset + size > self._size:
                    raise ValueError(f"page {number} of its tree places {size} bytes at byte {offset} of {self._size}")
                values.append((_KEY.unpack_from(page, at + _NODE.size)[0], offset, size))
        return values
