"""The errors of datasets, one class per kind.

A message says what was being done and where, and what was found and expected; its second line is a
hint with the fix. An index out of range is Python's own IndexError.
"""

from __future__ import annotations


class DatasetError(Exception):
    """A dataset cannot be read. `hint` says what to do about it."""

    def __init__(self, message: str, hint: str):
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}"


class ManifestError(DatasetError):
    """manifest.json is missing, damaged, or inconsistent."""


class FormatVersionError(ManifestError):
    """The dataset has a format version that this package cannot read."""


class MissingFileError(DatasetError):
    """A file listed in the manifest is missing."""


class MissingShardError(MissingFileError):
    """An LMDB shard listed in the manifest is missing."""


class DamagedFileError(DatasetError):
    """A file has another size or content than the manifest says, or is not a regular file."""


class UnreadableFileError(DatasetError):
    """The operating system cannot read a file: permissions, a loop of links, a failing disk."""


class GraphError(DatasetError, ValueError):
    """A graph folder is not valid input for tcbuild."""


class DamagedRecordError(DatasetError):
    """A sample's record does not match its stored checksum, or cannot be read."""
