"""manifest.json: what a dataset is, and what its files must be."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from difflib import get_close_matches
from itertools import accumulate
from pathlib import Path
from typing import Any

from tcbuild._files.data_file import DataFile, File, NoFileError
from tcbuild._files.remote import STAGE, RemoteFile, Url
from tcbuild._lazy import lazy_property
from tcbuild.errors import (
    DamagedError,
    FormatVersionError,
    UnreadableFileError,
)

FORMAT_VERSION = 6

SAMPLE_ID, PERTURBATION_INDICES = "sample_id", "perturbation_indices"  # columns of samples

RESTORE = "restore the dataset from a copy or build it again; `tcbuild verify` lists all damage"

_REACTION_RULES = ("all", "gpr")
_ENDS = (["source"], ["target"], ["source", "target"])  # with whose nodes an edge goes

_BLOCK = 1 << 20  # bytes to read and hash at a time
_LONGEST = 1 << 28  # bytes; a manifest of 100,000 shards has 30 MB


class Manifest(dict[str, Any]):
    """manifest.json's content, as docs/FORMAT.md describes it, and its folder.

    Reading checks its checksum and format version: what it says is what the program wrote.
    """

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
            raise DamagedError(
                f"read {path}: {_brief(error)}, expected a dataset's manifest", RESTORE
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
        self._files = {file["name"]: file for file in self["files"]}
        for name in self._files:
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

    def open_file(self, name: str) -> File:
        """A data file, after checking its size; a URL's is checked when its bytes are read."""
        path, listed = self.folder / name, self._listed(name)
        if isinstance(path, Url):
            return RemoteFile(path, listed["bytes"])
        file = _open(path)
        if file is None and not os.path.lexists(self.folder):
            raise UnreadableFileError(
                f"open {path}: the dataset's folder was removed after it was opened",
                "open the dataset again; if it is a version of `tcbuild rebuild`, open current. "
                "`keep` says how many versions stay",
            )
        if file is None:
            raise _missing(path, f"expected {listed['bytes']:,} bytes")
        if file.size != listed["bytes"]:
            raise DamagedError(
                f"open {path}: it has {file.size:,} bytes, expected {listed['bytes']:,}", RESTORE
            )
        return file

    def size(self, name: str) -> int:
        """A data file's size in bytes."""
        size: int = self._listed(name)["bytes"]
        return size

    def digest(self, name: str) -> str:
        """A data file's SHA-256."""
        digest: str = self._listed(name)["sha256"]
        return digest

    def has_file(self, name: str) -> bool:
        """Whether the dataset has a data file of this name."""
        return name in self._files

    def read_file(self, name: str) -> bytearray:
        """A whole data file. The bytes returned are those whose SHA-256 was compared (1 s per 1 to
        2 GB).
        """
        content = bytearray()
        self._check_digest(name, content)
        return content

    def check_digests(self) -> None:
        """Compares each data file's SHA-256, several at a time; DatasetError names the first that
        differs.
        """
        with ThreadPoolExecutor() as pool:
            for _ in pool.map(self._check_digest, self._files):
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
        digest = hashlib.sha256()
        for block in self._blocks(name):
            digest.update(block)
            if content is not None:
                content += block
        expected = self._listed(name)["sha256"]
        if digest.hexdigest() != expected:
            raise DamagedError(
                f"read {self.folder / name}: its SHA-256 is {digest.hexdigest()}, expected "
                f"{expected}",
                RESTORE,
            )

    def _blocks(self, name: str) -> Iterator[bytes]:
        file = self.open_file(name)
        try:
            for start in range(0, file.size, _BLOCK):
                yield file.read(start, min(_BLOCK, file.size - start))
        except ValueError as error:
            raise DamagedError(f"read {self.folder / name}: {error}", RESTORE) from error
        except OSError as error:
            raise unreadable(self.folder / name, error) from error

    def _listed(self, name: str) -> dict[str, Any]:
        if name not in self._files:
            raise DamagedError(
                f"open {self.folder / name}: manifest.json does not list it", RESTORE
            )
        listed: dict[str, Any] = self._files[name]
        return listed


def _check_sum(text: bytes, expected: str) -> None:
    computed = hashlib.sha256(text.replace(expected.encode(), b"", 1)).hexdigest()
    if computed != expected:
        raise ValueError(f"its text has checksum {computed}, expected {expected:.64}")


def _check_counts(content: dict[str, Any]) -> None:
    """ValueError for counts that files of the listed sizes cannot have, before anything is made of
    them. A row of an Arrow file takes 4 bytes or more.
    """
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


def unreadable(path: Path | Url, error: OSError) -> UnreadableFileError:
    """The error for a file that the operating system, or a server, cannot read."""
    if isinstance(error, FileNotFoundError):
        return _missing(path, "expected what manifest.json lists")
    remote = isinstance(path, Url)
    hint = f"check the network and your rights, or {STAGE}"
    return UnreadableFileError(
        f"read {path}: {error.strerror or error}",
        hint if remote else "check its permissions and its disk",
    )


def _missing(path: Path | Url, expected: str) -> UnreadableFileError:
    return UnreadableFileError(f"open {path}: it is missing, {expected}", RESTORE)


def _open(path: Path) -> DataFile | None:
    """An open file, or None if it does not exist."""
    try:
        return DataFile(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except NoFileError as error:
        raise DamagedError(f"open {path}: {error}", RESTORE) from error
    except OSError as error:
        raise unreadable(path, error) from error


def _read_text(folder: Path | Url) -> bytes:
    path = folder / "manifest.json"
    try:
        if isinstance(path, Url):
            text = path.read(0, _LONGEST + 1)
        else:
            file = DataFile(path)
            text = file.read(0, min(file.size, _LONGEST + 1))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UnreadableFileError(*_no_manifest(folder)) from error
    except ValueError as error:
        raise DamagedError(f"read {path}: {error}", RESTORE) from error
    except OSError as error:
        raise unreadable(path, error) from error
    if len(text) > _LONGEST:
        raise DamagedError(
            f"read {path}: it has more than {_LONGEST:,} bytes, expected that at most", RESTORE
        )
    return text


def _no_manifest(folder: Path | Url) -> tuple[str, str]:
    """What is wrong with a folder without manifest.json, and what to open instead."""
    hint = (
        "name a folder that `tcbuild incidence` or `tcbuild dataset` made; an unfinished build "
        "has none"
    )
    found = "there is no manifest.json"
    made = "tcbuild.build makes a dataset of a graph and samples"
    if isinstance(folder, Path) and folder.is_file():
        found, hint = "it is a file", made
    elif isinstance(folder, Path) and (folder / "nodes").is_dir():
        found, hint = "it is a cell graph", made
    elif isinstance(folder, Path) and not folder.exists():
        found = "there is no such folder"
        if folder.parent.is_dir():
            near = get_close_matches(folder.name, [path.name for path in folder.parent.iterdir()])
            if near:
                hint = f"did you mean {folder.parent / near[0]}?"
    elif isinstance(folder, Path):
        inside = [*folder.glob("*/manifest.json"), *folder.glob("current/*/manifest.json")]
        if inside:  # such as a dataset of `tcbuild rebuild`
            hint = f"open a dataset in it: {', '.join(sorted({str(p.parent) for p in inside})[:5])}"
    return f"open {folder}: {found}, expected a dataset's folder", hint


def _brief(error: Exception) -> str:
    return f"{type(error).__name__} {error!s:.200}"
