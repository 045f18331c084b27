"""manifest.json: what a dataset is, and what its files must be."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from tcbuild.errors import DamagedFileError, FormatVersionError, ManifestError, MissingFileError, MissingShardError

FORMAT_VERSION = 2

RESTORE = "restore the dataset from a copy or build it again; `tcbuild verify` lists all damage"


class Manifest(dict[str, Any]):
    """manifest.json's content, as store/FORMAT.md describes it, and the folder in which it lies.

    Reading checks its checksum, its format version, and that what it says of masks, shards and files goes together.
    """

    def __init__(self, folder: Path):
        path = folder / "manifest.json"
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            raise ManifestError(
                f"open {folder}: there is no manifest.json (expected a dataset's folder)",
                "name a folder that `tcbuild incidence` or `tcbuild dataset` made; an unfinished build has none",
            ) from None
        try:
            content = json.loads(text)
            version = content["format_version"]
        except (ValueError, TypeError, KeyError) as error:
            raise ManifestError(f"read {path}: {error!r} (expected JSON with a format_version)", RESTORE) from error
        if version != FORMAT_VERSION:
            raise FormatVersionError(
                f"read {path}: format version {version} (expected {FORMAT_VERSION})",
                "build it again with `tcbuild incidence` or `tcbuild dataset`, or read it with the tcbuild package of the program that built it",
            )
        super().__init__(content)
        self.folder = folder
        try:
            problem = self._problem(text)
        except (TypeError, KeyError) as error:
            problem = repr(error)
        if problem:
            raise ManifestError(f"read {path}: {problem}", RESTORE)

    @property
    def seed(self) -> int:
        """What the checksums of sample 0 start from; sample i has i more."""
        return int(self["identity"][:16], 16)

    def _problem(self, text: bytes) -> str:
        """What does not go together, or nothing."""
        computed = hashlib.sha256(text.replace(self["checksum"].encode(), b"", 1)).hexdigest()
        if computed != self["checksum"]:
            return f"its text has checksum {computed} (expected {self['checksum']})"
        if not re.fullmatch("[0-9a-f]{64}", self["identity"]):
            return f"identity {self['identity']!r} (expected 64 hexadecimal digits)"
        if any(mask["size"] < 0 for mask in self["masks"]):
            return "a mask has a negative size"
        if self["variant"] not in ("incidence", "indices", "full-masks"):
            return f"variant {self['variant']!r} (expected incidence, indices or full-masks)"
        needed = []
        if self["variant"] != "incidence":
            if not self["codec"] or self["samples_per_value"] < 1:
                return "codec or samples_per_value is missing"
            next_sample = 0
            for shard in self["shards"]:
                if shard["first"] != next_sample or shard["samples"] < 1:
                    return f"shard {shard['name']} starts at sample {shard['first']} (expected {next_sample})"
                next_sample += shard["samples"]
                needed.append(f"{shard['name']}/data.mdb")
            if next_sample != self["samples"]:
                return f"{next_sample} samples in shards (expected {self['samples']})"
        elif self["samples"]:
            needed.append("samples.arrow")
        listed = {file["name"] for file in self["files"]}
        return "".join(f"files: {name} is missing" for name in needed if name not in listed)

    def check_file(self, name: str, *, digest: bool) -> Path:
        """The path of a data file, after a look at its size and, where asked for, its SHA-256 (1 s for 1 to 2 GB)."""
        path = self.folder / name
        listed = next((file for file in self["files"] if file["name"] == name), None)
        if listed is None:
            raise ManifestError(f"open {path}: manifest.json does not list it", RESTORE)
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            kind = MissingShardError if name.endswith("data.mdb") else MissingFileError
            raise kind(f"open {path}: it is missing (expected {listed['bytes']:,} bytes)", RESTORE) from None
        if size != listed["bytes"]:
            raise DamagedFileError(f"open {path}: it has {size:,} bytes (expected {listed['bytes']:,})", RESTORE)
        if digest:
            computed = sha256(path)
            if computed != listed["sha256"]:
                raise DamagedFileError(f"read {path}: its SHA-256 is {computed} (expected {listed['sha256']})", RESTORE)
        return path


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
