"""What can be wrong with a dataset, each by a name of its own.

A message says what was being done and where, what was found and what was expected; its second line
is a hint with the fix. An index that no sample has is Python's own IndexError.
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
    """manifest.json is missing, damaged, or does not go together with itself."""


class FormatVersionError(ManifestError):
    """The dataset has a format version that this package does not read."""


class MissingFileError(DatasetError):
    """A file that the manifest lists is not there."""


class MissingShardError(MissingFileError):
    """An LMDB shard that the manifest lists is not there."""


class DamagedFileError(DatasetError):
    """A file has another size or other bytes than the manifest says, or is no file at all."""


class UnreadableFileError(DatasetError):
    """The operating system cannot read a file: permissions, a loop of links, a failing disk."""


class GraphError(DatasetError, ValueError):
    """A graph folder is not what tcbuild takes."""


class DamagedRecordError(DatasetError):
    """A sample's record has another checksum than the one stored with it, or cannot be read."""
