"""manifest.json: what a dataset is, and what its files must be."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from difflib import get_close_matches
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa

from tcbuild._files.data_file import DataFile
from tcbuild._files.remote import STAGE, File, RemoteFile, Url
from tcbuild._lazy import lazy_property
from tcbuild.errors import DamagedError, FormatVersionError, UnreadableFileError

FORMAT_VERSION = 6

SAMPLE_ID, PERTURBATION_INDICES = "sample_id", "perturbation_indices"  # columns of samples

RESTORE = "restore the dataset from a copy or build it again; `tcbuild verify` lists all damage"

_REACTION_RULES = ("all", "gpr")
_ENDS = (["source"], ["target"], ["source", "target"])  # with whose nodes an edge goes

_BLOCK = 1 << 20  # bytes to read and hash at a time
_LONGEST = 1 << 28  # bytes; a manifest of 100,000 shards has 30 MB

_REMOVED = (
    "a rebuild may have removed this version: open current; `keep` says how many versions stay"
)


class Manifest(dict[str, Any]):
    """manifest.json, as docs/FORMAT.md describes it, after checking its checksum and version."""

    def __init__(self, folder: Path | Url):
        path = folder / "manifest.json"
        text = _read_text(folder)
        try:
            content = json.loads(text)
            version = content["format_version"]
            if version == FORMAT_VERSION and version is not True:
                _check_sum(text, content["checksum"])
                _check_counts(content)
        except (ValueError, TypeError, KeyError, RecursionError, AttributeError) as error:
            found = f"{type(error).__name__} {error!s:.200}"
            raise DamagedError(
                f"read {path}: {found}, expected a dataset's manifest", RESTORE
            ) from error
        if version != FORMAT_VERSION:
            raise FormatVersionError(
                f"read {path}: format version {version!s:.20}, expected {FORMAT_VERSION}",
                "build it again with `tcbuild incidence` or `tcbuild dataset`, or read it with "
                "the tcbuild package of the program that built it",
            )
        _check_rules(path, content)
        super().__init__(content)
        self.folder = folder
        self.files: dict[str, dict[str, Any]] = {file["name"]: file for file in self["files"]}
        for name in self.files:
            if name.startswith("graph/"):  # whose sizes bound the masks', see _check_counts
                self.open_file(name)

    @property
    def seed(self) -> int:
        """The seed of sample 0's checksums; sample i has i more."""
        return int(self["identity"][:16], 16)

    @lazy_property
    def parts(self) -> list[str]:
        """The names of the files of the sample table, in order."""
        count = -(-self["samples"] // self["samples_per_part"]) if self["samples"] else 0
        return [f"samples/part-{number:05}.arrow" for number in range(count)]

    def file(self, name: str) -> dict[str, Any]:
        """What it says of a data file: bytes and sha256."""
        if name not in self.files:
            raise DamagedError(
                f"open {self.folder / name}: manifest.json does not list it", RESTORE
            )
        return self.files[name]

    def open_file(self, name: str) -> File:
        """A data file, after checking its size; a URL's is checked when its bytes are read."""
        path, size = self.folder / name, self.file(name)["bytes"]
        if isinstance(path, Url):
            return RemoteFile(path, size)
        if not os.path.lexists(self.folder):
            raise UnreadableFileError(
                f"open {path}: the dataset's folder was removed after it was opened",
                f"open the dataset again; {_REMOVED}",
            )
        with reading(path):
            file = DataFile(path)
        if file.size != size:
            raise DamagedError(
                f"open {path}: it has {file.size:,} bytes, expected {size:,}", RESTORE
            )
        return file

    def read_file(self, name: str) -> bytearray:
        """A whole data file, after comparing its SHA-256: 1 s per 1 to 2 GB."""
        content = bytearray()
        self._check_digest(name, content)
        return content

    def check_digests(self) -> None:
        """Compares each data file's SHA-256, several at a time."""
        with ThreadPoolExecutor() as pool:
            for _ in pool.map(self._check_digest, self.files):
                pass

    def check_incidence(self, digest: str) -> None:
        """FormatVersionError if the SHA-256 of what goes with each node is not the program's."""
        if digest != self["incidence_digest"]:
            raise FormatVersionError(
                f"find the incidence of {self.folder}: its SHA-256 is {digest}, but the program "
                f"that built the dataset had {self['incidence_digest']:.64}",
                "read it with the tcbuild package of that program; `tcbuild verify` checks which "
                "is right",
            )

    def _check_digest(self, name: str, content: bytearray | None = None) -> None:
        """Compares a file's SHA-256, and appends what was read to content."""
        digest, expected, file = hashlib.sha256(), self.file(name)["sha256"], self.open_file(name)
        with reading(self.folder / name):
            for start in range(0, file.size, _BLOCK):
                block = file.read(start, min(_BLOCK, file.size - start))
                digest.update(block)
                if content is not None:
                    content += block
            if digest.hexdigest() != expected:
                raise ValueError(f"its SHA-256 is {digest.hexdigest()}, expected {expected}")


def _check_sum(text: bytes, expected: str) -> None:
    computed = hashlib.sha256(text.replace(expected.encode(), b"", 1)).hexdigest()
    if computed != expected:
        raise ValueError(f"its text has checksum {computed}, expected {expected:.64}")


def _check_counts(content: dict[str, Any]) -> None:
    """ValueError for counts that no files of the listed sizes have, before anything trusts them."""
    files = {file["name"]: file["bytes"] for file in content["files"]}
    masks = [mask["size"] for mask in content["masks"]]
    samples, shards = content["samples"], content.get("shards") or []
    steps = [content["samples_per_part"], content["samples_per_batch"]] if samples else []
    steps += [content["samples_per_value"]] if shards else []
    for count in (samples, *files.values(), *masks, *(shard["samples"] for shard in shards)):
        if type(count) is not int or count < 0:
            raise ValueError(f"found the count {count!r:.40}, which is not a whole number")
    for step in steps:
        if type(step) is not int or step < 1:
            raise ValueError(f"found {step!r:.40} samples per part, batch or value")
    if samples and steps[0] % steps[1]:
        raise ValueError(f"found parts of {steps[0]} samples in batches of {steps[1]}")

    def rows(folder: str) -> int:
        sizes: list[int] = [size for name, size in files.items() if name.startswith(folder)]
        return sum(sizes) // 4

    if samples and samples > (most := min(rows("samples/"), len(files) * steps[0])):
        raise ValueError(f"found {samples:,} samples, at most {most:,} in files of this size")
    if sum(masks) > (most := min(rows("graph/"), 2**31 - 1)):
        raise ValueError(f"found {sum(masks):,} positions, at most {most:,} in files of this size")
    ends = list(accumulate((shard["samples"] for shard in shards), initial=0))
    if shards and [*(shard["first"] for shard in shards), samples] != ends:
        raise ValueError(f"found other samples in its shards than 0 to {samples - 1:,}")


def _check_rules(path: Path | Url, content: dict[str, Any]) -> None:
    """An error for a rule of removal that this package does not know: its masks would be others."""
    rule = content["options"]["reaction_rule"]
    unknown = [] if rule in _REACTION_RULES else [f"the reaction rule {rule!r:.40}"]
    unknown += [
        f"edges of {mask['name']} that go with {mask.get('ends')!r:.40}"
        for mask in content["masks"]
        if mask.get("ends") not in (_ENDS if "__" in mask["name"] else (None,))
    ]
    if unknown:
        raise FormatVersionError(
            f"read {path}: found {unknown[0]}, which this package does not know",
            "read it with the tcbuild package of the program that built it",
        )


class reading(AbstractContextManager[Any]):
    """Errors of reading a file as errors that name it, and what of it was read. No generator: from
    Python 3.12 on, contextlib's leave a cycle, which keeps the file open.
    """

    def __init__(self, path: Path | Url, what: str = ""):
        self._path, self._what = path, what

    def __exit__(self, _: Any, error: BaseException | None, traceback: Any) -> None:
        path = self._path
        if isinstance(error, (ValueError, struct.error)):
            raise DamagedError(f"read {path}: {self._what}{error}", RESTORE) from error
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise UnreadableFileError(
                f"open {path}: it is missing, expected what manifest.json lists", RESTORE
            ) from error
        if isinstance(error, OSError):
            hint = "check its permissions and its disk"
            if isinstance(path, Url):
                hint = f"check the network and your rights, or {STAGE}"
            raise UnreadableFileError(f"read {path}: {error.strerror or error}", hint) from error


class decoding(AbstractContextManager[Any]):
    """What is wrong with a file's content, whatever Arrow raises, as an error that names it."""

    def __init__(self, path: Path | Url):
        self._path = path

    def __exit__(self, _: Any, error: BaseException | None, traceback: Any) -> None:
        kinds = ValueError, LookupError, TypeError, OSError, pa.ArrowException
        if isinstance(error, kinds):
            found = f"{error}".partition("\n")[0]
            raise DamagedError(f"read {self._path}: {found:.300}", RESTORE) from error


def _read_text(folder: Path | Url) -> bytes:
    path = folder / "manifest.json"
    with reading(path):
        try:
            if isinstance(path, Url):
                text = path.read(0, _LONGEST + 1)
            else:
                file = DataFile(path)
                text = file.read(0, min(file.size, _LONGEST + 1))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise UnreadableFileError(*_no_manifest(folder)) from error
        if len(text) > _LONGEST:
            raise ValueError(f"it has more than {_LONGEST:,} bytes, expected that at most")
    return text


def _no_manifest(folder: Path | Url) -> tuple[str, str]:
    """What is wrong with a folder without manifest.json, and what to open instead."""
    made = "tcbuild.build makes one of a graph and samples"
    found, hint = "there is no manifest.json", f"{made}; an unfinished build has none"
    if isinstance(folder, Path):
        inside = [*folder.glob("*/manifest.json"), *folder.glob("current/*/manifest.json")]
        if folder.is_file():
            found, hint = "it is a file", made
        elif (folder / "nodes").is_dir():
            found, hint = "it is a cell graph", made
        elif not folder.exists():
            found = "there is no such folder"
            hint = f"check the path; {_REMOVED}"
            beside = [path.name for path in folder.parent.glob("*")]
            for near in get_close_matches(folder.name, beside, 1):
                hint = f"did you mean {folder.parent / near}?"
        elif inside:  # such as datasets of `tcbuild rebuild`
            hint = f"open a dataset in it: {', '.join(sorted({str(p.parent) for p in inside})[:5])}"
    return f"open {folder}: {found}, expected a dataset's folder", hint
