"""A message says what was being done and where, what was found and what was expected; a second line
hints at the fix. An index out of range is Python's own IndexError.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import TypeVar

__all__ = [
    "BuildError",
    "DamagedError",
    "DatasetError",
    "FormatVersionError",
    "InputError",
    "SettingsError",
    "UnknownNameError",
    "UnreadableFileError",
]

_Value = TypeVar("_Value")


class DatasetError(Exception):
    """A dataset cannot be read.

    Args:
        message: what was being done and where, what was found and expected
        hint: how to fix it
    """

    def __init__(self, message: str, hint: str):
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}"


class FormatVersionError(DatasetError):
    """The dataset has a format version, or rules of removal, that this package does not know."""


class UnreadableFileError(DatasetError):
    """A file is missing, or the operating system or a server cannot read it."""


class DamagedError(DatasetError):
    """Files or masks differ from what the dataset says of them, or from what the program computes.

    Attributes:
        printed: the differences that the program printed
    """

    printed: list[str] = []


class SettingsError(DatasetError, ValueError):
    """An argument or a setting is wrong."""


class InputError(DatasetError, ValueError):
    """A graph, samples, cells or parts are wrong, or do not fit the dataset."""


class BuildError(DatasetError):
    """The program failed, or cannot be run.

    Attributes:
        code: its exit code; 75: run it again
    """

    code: int | None = None


def missing_package(what: str, error: ModuleNotFoundError, extra: str = "") -> ModuleNotFoundError:
    """The error for something that needs a package, from the one of its import. An extra of tcbuild
    may have all that it needs.
    """
    package = (error.name or "").partition(".")[0]
    hint = f"pip install 'tcbuild[{extra}]'" if extra else f"pip install {package}"
    return ModuleNotFoundError(f"{what} needs the package {package}\nhint: {hint}", name=package)


class UnknownNameError(KeyError):
    """A dataset has no phenotype, attribute, gene or sample with this name."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show it quoted


def unknown_name(what: str, name: str, names: Collection[str], doing: str = "") -> UnknownNameError:
    """The error for a name that is not among these, with the nearest ones."""
    if near := get_close_matches(name[:100], names, 3):
        hint = f"did you mean {' or '.join(f'{other!r:.100}' for other in near)}?"
    elif names:
        hint = f"names are, for example, {', '.join(f'{other!r:.100}' for other in [*names][:5])}"
    else:
        hint = f"there is no {what} at all"
    return UnknownNameError(
        f"{doing}found no {what} {name[:100]!r} among {len(names):,}\nhint: {hint}"
    )


class ByName(dict[str, _Value]):
    """A dict whose KeyError names the nearest keys."""

    def __init__(self, what: str = "name", values: Mapping[str, _Value] | None = None):
        super().__init__(values or {})
        self._what = what

    def __missing__(self, name: str) -> _Value:
        raise unknown_name(self._what, str(name), self)


def __dir__() -> list[str]:
    return __all__
