"""Folders beside an output, in which it is made."""

from __future__ import annotations

import os
import shutil
from base64 import b32encode
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path


@contextmanager
def scratch_beside(out: Path) -> Iterator[Path]:
    """A folder on the disk of an output, removed in the end. A killed process leaves it; the next
    build of the output, or `tcbuild clean`, removes it. Its name and its lock are those of the
    program's own temporary folders (internal/disk). Like theirs, its permissions follow the umask,
    so that colleagues may remove it.
    """
    fcntl = import_module("fcntl")  # Unix has it, and the program
    beside = next(folder for folder in Path(os.path.abspath(out)).parents if folder.is_dir())
    random = b32encode(os.urandom(20)).decode()[:26]
    folder = beside / f".{out.name[:200]}.tcbuild-{random}"
    folder.mkdir()
    with (folder / folder.name).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            shutil.rmtree(folder)
