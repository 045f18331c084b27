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
    """A folder on the disk of an output, removed in the end. A killed process leaves it; the next
    run with the same output removes it. Its name and its lock are those of the
    program's own temporary folders (internal/disk). Like theirs, its permissions follow the umask,
    so that colleagues may remove it.
    """
    try:
        folder, lock = _new(out)
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


def _new(out: Path) -> tuple[Path, IO[bytes]]:
    """A new folder and its lock."""
    there = Path(os.path.realpath(out.parent))
    beside = next(folder for folder in (there, *there.parents) if folder.is_dir())
    _sweep(beside, out.name)
    while True:
        folder = beside / f"{_prefix(out.name)}{b32encode(os.urandom(20)).decode()[:26]}"
        folder.mkdir()
        if lock := _locked(folder):
            return folder, lock
        # another process has just removed it, as a killed process's


@contextmanager
def new_folder(named: Path, doing: str) -> Iterator[tuple[Path, Path]]:
    """An empty folder, and the path that it gets if nothing goes wrong.

    doing: what errors say, such as "publish"
    """
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
    """Removes folders for an output that killed processes left. What cannot be removed stays: it
    does no harm.
    """
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
