"""Folders beside an output, in which it is made."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from base64 import b32encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO

from tcbuild.errors import BuildError, DatasetError, SettingsError


@contextmanager
def scratch_beside(out: Path) -> Iterator[Path]:
    """A folder on the disk of an output, removed in the end, or by the next run with this output if
    this process is killed. Its name and lock are as those of the program's own (internal/disk).
    """
    there = Path(os.path.realpath(out.parent))
    beside, lock = next(each for each in (there, *there.parents) if each.is_dir()), None
    try:
        _sweep(beside, out.name)
        while lock is None:  # or another process has removed it at once, as a killed process's
            folder = beside / f"{_prefix(out.name)}{b32encode(os.urandom(20)).decode()[:26]}"
            folder.mkdir()
            lock = _locked(folder)
    except OSError as error:
        raise BuildError(
            f"write {out}: {error.strerror or error}",
            "check the permissions and the free space of its folder",
        ) from error
    with lock:
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


@contextmanager
def new_folder(named: Path, doing: str) -> Iterator[tuple[Path, Path]]:
    """An empty folder, and the path that it gets if nothing goes wrong. doing: for errors."""
    # The folder of the path is resolved once: what is checked is what is written.
    out = Path(os.path.realpath(named.parent)) / named.name
    exists = SettingsError(f"{doing} {named}: it already exists", "remove it, or name another")
    if not named.name or named.name == "..":
        raise exists
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with scratch_beside(out) as scratch:
            if os.path.lexists(out):
                raise exists
            (made := scratch / out.name).mkdir()
            yield made, out
            made.rename(out)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR) and os.path.lexists(out):
            raise exists from error  # another process was first
        raise DatasetError(
            f"{doing} {out}: {error.strerror or error}",
            "check the permissions and the free space of its folder",
        ) from error


def _sweep(beside: Path, name: str) -> None:
    """Removes what killed processes left for an output, if it can be removed."""
    known = re.compile(re.escape(_prefix(name)) + "[A-Z2-7]{26}")
    for left in [path for path in beside.iterdir() if known.fullmatch(path.name)]:
        with suppress(OSError):
            status = left.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                continue
            if lock := _locked(left):
                with lock:
                    shutil.rmtree(left)


def _prefix(name: str) -> str:
    # as the program: it cuts bytes
    return f".{os.fsdecode(os.fsencode(name)[:200])}.tcbuild-"


def _locked(folder: Path) -> IO[bytes] | None:
    """The locked lock of a folder; None if another process has it, or has removed the folder."""
    fcntl = import_module("fcntl")  # Unix has it, and the program
    path = folder / folder.name
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except FileNotFoundError:
        return None
    lock = os.fdopen(descriptor, "r+b")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.lstat(path)):
            return lock
    except (BlockingIOError, FileNotFoundError):
        pass
    lock.close()
    return None
