"""Datasets by their URL, read through fsspec. Only needed ranges of bytes are asked for, and no
listing of a folder: the manifest names all files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tcbuild._files.data_file import Bytes, DataFile, check_range, fill
from tcbuild.errors import UnreadableFileError

STAGE = "copy the dataset to a disk of this machine, and open that"

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")
# fsspec's file system and the path in it, by process and URL. A forked process makes its own, and
# never drops its parent's, as that would close connections that both have.
_opened: dict[tuple[int, str], tuple[Any, str]] = {}


@dataclass(frozen=True)
class Url(os.PathLike[str]):
    """A file (name begins with /) or folder of a dataset at a URL. Pickling stores only the URL."""

    root: str
    name: str = ""

    def __truediv__(self, name: str) -> Url:
        return Url(self.root, f"{self.name}/{name}")

    def __str__(self) -> str:
        return self.root + self.name

    def __fspath__(self) -> str:
        return str(self)

    def read(self, start: int, end: int | None = None) -> bytes:
        """The bytes from start to end, fewer if the file ends before; OSError if that fails."""
        system, root = self._open()
        # A URL of HTTP has no other characters than these.
        name = quote(self.name) if re.search("(^|::)https?:", self.root) else self.name
        try:
            found: bytes = system.cat_file(root + name, start=start, end=end)
        except FileNotFoundError:
            raise
        except Exception as error:  # each file system has its own
            if getattr(error, "status", None) == 416:  # it ends before start
                return b""
            raise OSError(f"{type(error).__name__}: {error}") from error
        if end is not None and len(found) > end - start:
            raise OSError(
                f"found {len(found):,} bytes, expected {end - start:,}: the server ignores "
                "requests for a range"
            )
        return found

    def _open(self) -> tuple[Any, str]:
        key = os.getpid(), self.root
        if key not in _opened:
            try:
                system, path = import_module("fsspec.core").url_to_fs(self.root)
            except (ImportError, ValueError) as error:  # such as: Install s3fs to access S3
                raise UnreadableFileError(
                    f"open {self}: {error}",
                    f"install what fsspec needs for this URL, or {STAGE}",
                ) from error
            _opened[key] = system, path
        return _opened[key]


class RemoteFile:
    """A file of known size at a URL. It is read as a DataFile is."""

    def __init__(self, url: Url, size: int):
        self._url = url
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """length bytes from offset; ValueError if the file has fewer."""
        check_range(offset, length, self.size)
        found = self._url.read(offset, offset + length) if length else b""
        if len(found) < length:
            raise ValueError(
                f"the file ends at byte {offset + len(found)}, expected {offset + length} at least"
            )
        return found

    def read_into(self, offset: int, parts: Sequence[Bytes]) -> None:
        """As DataFile.read_into."""
        fill(parts, self.read(offset, sum(map(len, parts))))


File = DataFile | RemoteFile


def location(path: str | os.PathLike[str]) -> Path | Url:
    """The URL, or the path with links resolved: all files are of one version, come what may."""
    text = os.fspath(path)
    if isinstance(text, str) and _URL.match(text):
        return Url(text.rstrip("/"))
    return Path(os.path.realpath(path))
