"""The values of a shard's data.mdb, read by its pages, which internal/lmdbfile describes. LMDB's
library would map the file, and a damaged page would end the process.
"""

from __future__ import annotations

import struct

import numpy as np

from tcbuild._files.remote import File

# Magic, version, page size, database flags, entries, root page, transaction.
_META = struct.Struct("<16xII16xI48xH26xQQ8xQ")
_MAGIC, _VERSION = 0xBEEFC0DE, 1
_PAGE_SIZE_AT = 40
_PAGE = struct.Struct("<QHHHH")  # number, pad, flags, lower, upper
_BRANCH, _LEAF, _META_PAGE = 1, 2, 8
# Data size, flags, key size; in a branch the child's page in place of size and flags.
_NODE = struct.Struct("<IHH")
_KEY = struct.Struct(">Q")
_BIG = 1  # flag: the data is in its own pages, after a header
_DEEPEST = 32  # levels of a tree; LMDB's own limit


class ShardFile:
    """A data.mdb whose values have these keys; ValueError or struct.error if it is damaged."""

    def __init__(self, file: File, keys: range):
        self.file = file
        (self._page_size,) = struct.unpack("<I", file.read(_PAGE_SIZE_AT, 4))
        if self._page_size not in (1 << bits for bits in range(9, 17)):
            raise ValueError(
                f"its pages have {self._page_size} bytes, expected a power of two from 512 to "
                "65,536"
            )
        found = self._values()
        if [key for key, _, _ in found] != [*keys]:
            raise ValueError(
                f"its {len(found)} values have other keys than {keys.start}, "
                f"{keys.start + keys.step}, ... below {keys.stop}"
            )
        # As memoryviews, whose items are ints.
        self._offsets = np.array([offset for _, offset, _ in found], np.int64).data
        self._lengths = np.array([length for _, _, length in found], np.int64).data

    def length(self, value: int) -> int:
        """Length of a value in bytes; values are counted from 0 in the order of their keys."""
        return self._lengths[value]

    def read(self, value: int, start: int, end: int) -> bytes:
        """Bytes start to end of a value."""
        return self.file.read(self.place(value, start, end), end - start)

    def place(self, value: int, start: int, end: int) -> int:
        """Where in the file bytes start to end of a value begin."""
        if not 0 <= start <= end <= self._lengths[value]:
            raise ValueError(f"bytes {start} to {end} of a value of {self._lengths[value]}")
        return self._offsets[value] + start

    def _root(self) -> tuple[int, int]:
        """The number of the root page, and the number of keys in the tree."""
        metas = []
        for number in (0, 1):
            page = self._page(number, (_META_PAGE,))
            magic, version, _, flags, entries, root, transaction = _META.unpack_from(page)
            if (magic, version, flags) != (_MAGIC, _VERSION, 0):
                raise ValueError(
                    f"meta page {number} has magic {magic:08x}, version {version}, flags {flags}"
                    f", expected {_MAGIC:08x}, {_VERSION}, 0"
                )
            metas.append((transaction, root, entries))
        return max(metas, key=lambda meta: meta[0])[1:]

    def _page(self, number: int, kinds: tuple[int, ...]) -> bytes:
        page = self.file.read(number * self._page_size, self._page_size)
        stated, _, kind, _, _ = _PAGE.unpack_from(page)
        if stated != number or kind not in kinds:
            raise ValueError(
                f"page {number} states number {stated} and flags {kind}, expected flags "
                f"{' or '.join(map(str, kinds))}"
            )
        return page

    def _values(self) -> list[tuple[int, int, int]]:
        """Key, offset in the file and length of all values, in tree order."""
        root, entries = self._root()
        values = []
        waiting, seen = [(root, 1)], set()
        while waiting:
            number, depth = waiting.pop()
            if number in seen or depth > _DEEPEST:
                raise ValueError(
                    f"page {number} of its tree appears twice, or lies {depth} levels deep"
                )
            seen.add(number)
            page = self._page(number, (_BRANCH, _LEAF))
            _, _, kind, lower, upper = _PAGE.unpack_from(page)
            if not _PAGE.size < lower <= upper <= self._page_size:
                raise ValueError(
                    f"page {number} of its tree has free space from {lower} to {upper}"
                )
            children = []
            for (at,) in struct.iter_unpack("<H", page[_PAGE.size : lower]):
                size, flags, key_length = _NODE.unpack_from(page, at)
                if kind == _BRANCH:
                    children.append((size | flags << 32, depth + 1))
                    continue
                data = at + _NODE.size + key_length
                offset, end = number * self._page_size + data, (number + 1) * self._page_size
                if flags == _BIG:
                    (page_of_data,) = struct.unpack_from("<Q", page, data)
                    offset, end = page_of_data * self._page_size + _PAGE.size, self.file.size
                if (
                    flags not in (0, _BIG)
                    or key_length != _KEY.size
                    or at < upper
                    or offset + size > end
                ):
                    raise ValueError(
                        f"page {number} of its tree places {size} bytes with flags {flags} at byte "
                        f"{offset}, expected an end by {end}"
                    )
                values.append((_KEY.unpack_from(page, at + _NODE.size)[0], offset, size))
            waiting += reversed(children)
        if len(values) != entries:
            raise ValueError(f"its tree has {len(values)} values, expected {entries}")
        return values
