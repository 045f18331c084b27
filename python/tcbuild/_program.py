"""Runs the program tcbuild: its log, progress, results and errors become Python's."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tcbuild._files.manifest import FORMAT_VERSION
from tcbuild.errors import BuildError, DamagedError, DatasetError, InputError, SettingsError

VERSION = "0.1.0"  # of the package and of its program

_KINDS: dict[int, type[DatasetError]] = {2: SettingsError, 3: InputError, 4: DamagedError}
_ENDING = 6  # seconds: the program ends itself 5 s after a signal
_FIXED = {"time", "level", "msg"}
# A flag is a keyword here, and its value a text, unless it is quoted.
_FLAG = re.compile(r"(?<!\S)--(?!help\b)([a-z]+(?:-[a-z]+)*)(?:=([\w,-]+))?")

_log = logging.getLogger("tcbuild")


def run(
    *command: str | os.PathLike[str],
    settings: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> list[str]:
    """Runs a command of the program, and returns the lines that it prints.

    settings: as in YAML; those that are None are left out, and config names a file of more
    names: what messages call a path, for example of a temporary file
    timeout: seconds after which the program is asked to end
    """
    given = [
        f"--config={os.fspath(value)}"
        if key == "config"
        else f"{key}={json.dumps(value, ensure_ascii=False, default=_plain)}"
        for key, value in (settings or {}).items()
        if value is not None
    ]
    words = [*(os.fspath(word) for word in command), *given, "--log-format=json"]
    return _Run([_checked_program(), *words], names or {}, timeout).lines()


class _Run:
    """The program as a child, in a process group of its own: Ctrl-C reaches it only from here."""

    def __init__(self, command: Sequence[str], names: Mapping[str, str], timeout: float | None):
        self._command, self._names, self._timeout = command, names, timeout
        self._others: list[str] = []  # lines of stderr that are no records
        self._error: DatasetError | None = None
        self._bar: Any = None

    def lines(self) -> list[str]:
        streams: dict[str, Any] = {"encoding": "utf-8", "errors": "replace"}
        with (
            tempfile.TemporaryFile("w+", **streams) as printed,
            subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.PIPE,
                start_new_session=True,
                **streams,
            ) as child,
        ):
            timer = threading.Timer(self._timeout or 0, child.send_signal, [signal.SIGTERM])
            if self._timeout is not None:
                timer.start()
            try:
                for line in child.stderr or ():
                    self._said(self._named(line.rstrip("\n")))
                child.wait()
            except BaseException:  # Ctrl-C, or whatever else ends a call in the middle
                child.send_signal(signal.SIGINT)
                raise
            finally:
                timer.cancel()
                _wait(child)
                if self._bar is not None:
                    self._bar.close()
            printed.seek(0)
            lines = [self._named(line.rstrip("\n")) for line in printed]
        if child.returncode:
            error = self._error or self._untold(child.returncode)
            if isinstance(error, DamagedError):
                error.printed = lines
            if isinstance(error, BuildError):
                error.code = child.returncode
            raise error
        return [*self._others, *lines]

    def _named(self, text: str) -> str:
        for path, name in self._names.items():
            text = text.replace(path, name)
        return text

    def _said(self, line: str) -> None:
        """Takes a line of the log."""
        try:
            record = json.loads(line)
            message, level = record["msg"], getattr(logging, record["level"])
        except (ValueError, TypeError, LookupError, AttributeError):
            self._others.append(line)
            return
        message = _as_keywords(message)
        if "code" in record:
            kind = _KINDS.get(record["code"], BuildError)
            self._error = kind(message, _as_keywords(record.get("hint", "see the log")))
        elif "done" in record:
            self._show(message, record["done"], record["total"])
        else:
            more = " ".join(f"{key}={record[key]}" for key in record if key not in _FIXED)
            _log.log(level, "%s", f"{message}  {more}".rstrip())

    def _show(self, stage: str, done: int, total: int) -> None:
        if self._bar is None or self._bar.desc != stage:
            if self._bar is not None:
                self._bar.close()
            bars = import_module("tqdm")  # its text needs no widgets in notebooks
            self._bar = bars.tqdm(
                total=total or None,
                unit=" samples",
                leave=False,
                disable=False if _shell() else None,
            )
            self._bar.desc = stage
        self._bar.update(done - self._bar.n)

    def _untold(self, code: int) -> BuildError:
        """The error of a program that ended without a record of its own."""
        text = "\n".join(self._others[-20:]).removeprefix("tcbuild: ")
        message, _, hint = text.partition("\nhint: ")
        ended = f"signal {-code}" if code < 0 else f"exit code {code}"
        return BuildError(
            message or f"run {' '.join(self._command)[:200]}: it ended with {ended}",
            hint
            or "run it again; if it has too little memory, set GOMEMLIMIT or use fewer workers",
        )


def _as_keywords(text: str) -> str:
    """Returns a message with keywords instead of flags."""

    def keyword(flag: re.Match[str]) -> str:
        return flag[1].replace("-", "_") + (f'="{flag[2]}"' if flag[2] else "")

    return re.sub(r"\b([a-z_]+)=true\b", r"\1=True", _FLAG.sub(keyword, text))


def _wait(child: subprocess.Popen[str]) -> None:
    try:
        child.wait(_ENDING)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):  # NumPy's and pandas'
        return value.tolist()
    raise TypeError(
        f"write settings: found {type(value).__name__}, expected texts, numbers, lists and dicts"
    )


def _checked_program() -> str:
    """The program of this environment, else of PATH, after a check of its version."""
    scripts = Path(sysconfig.get_path("scripts")) / "tcbuild"
    found = str(scripts) if scripts.exists() else shutil.which("tcbuild")
    if found is None:
        raise BuildError(
            "find the program tcbuild: it is neither in this environment nor in PATH",
            "pip install --force-reinstall tcbuild from a wheel that has the program"
            if sys.platform == "linux"
            else "build on Linux, and copy the dataset",
        )
    _check_version(found)
    return found


@lru_cache(maxsize=8)
def _check_version(program: str) -> None:
    printed = _Run([program, "version", "--json"], {}, 60).lines()
    build = json.loads("".join(printed))
    for what, expected in (("version", VERSION), ("format_version", FORMAT_VERSION)):
        if (found := build.get(what)) != expected:
            raise BuildError(
                f"run {program}: found {what} {found}, expected {expected}, which this package has",
                "install the program and the package from one wheel",
            )


def _shell() -> Any:
    """IPython's shell in a notebook; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if shell is not None and hasattr(shell, "kernel") else None


def show(lines: Sequence[str]) -> None:
    """Shows what the program printed: in a notebook below the cell, in the log elsewhere."""
    for line in lines:
        if _shell() is not None:
            print(line)
        else:
            _log.info("%s", line)


def warn(message: str, names: Sequence[str]) -> None:
    """Logs a warning about these names."""
    shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    _log.warning("%s: %s", message, shown)
