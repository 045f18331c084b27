"""Public files: missing ones are downloaded, and all are compared with their digests."""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
import shutil
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from tcbuild._files.scratch import scratch_beside
from tcbuild.errors import InputError, missing_package

_LISTED = Path(__file__).with_name("downloads.tsv")
_log = logging.getLogger("tcbuild")


def fetch(preset: str, data: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Downloads the files of a preset that are missing; those that are there are never replaced.
    Returns of each its path, address, bytes and the SHA-256 of its uncompressed content.
    """
    found = []
    listed = pl.read_csv(_LISTED, separator="\t", infer_schema=False)
    for file in listed.filter(preset=preset).to_dicts():
        path = Path(data, file["file"])
        if not path.exists():
            _download(path, file)
        digest = _digest(path)
        if digest != (file["sha256"] or digest):
            message = "%s differs from the release of the recipe: sha256 %s, expected %s"
            _log.warning(message, path, digest, file["sha256"])
        entry = {"file": file["file"], "address": file["address"]}
        found.append(entry | {"bytes": path.stat().st_size, "sha256": digest})
    return found


def _download(path: Path, file: dict[str, Any]) -> None:
    address, expected = file["address"], file["sha256"]
    path.parent.mkdir(parents=True, exist_ok=True)
    by_hand = f"check the network, or save {address} there yourself"
    with scratch_beside(path) as scratch:
        part = scratch / path.name
        pooch = _downloader()
        downloader = pooch.HTTPDownloader(progressbar=True, timeout=60)
        pooch.get_logger().setLevel(logging.WARNING)
        _log.info("downloading %s", address)
        try:
            pooch.retrieve(address, None, part.name, scratch, downloader=downloader)
        except (OSError, ValueError) as error:
            raise InputError(f"download {path}: {error}", by_hand) from error
        if part.suffix == ".gz" and not address.endswith(".gz"):
            plain = part.rename(scratch / "plain")
            with plain.open("rb") as content, gzip.open(part, "wb") as compressed:
                shutil.copyfileobj(content, compressed)
        digest = _digest(part)
        if digest != (expected or digest) and file["changes"] == "no":
            raise InputError(
                f"download {path}: found content with sha256 {digest}, expected {expected}",
                by_hand,
            )
        os.link(part, path)  # unlike a rename, it never replaces a file


def _downloader() -> Any:
    """pooch, which is imported when a file is missing."""
    try:
        with warnings.catch_warnings():  # of tqdm.auto in notebooks without ipywidgets
            warnings.simplefilter("ignore")
            return import_module("pooch")
    except ModuleNotFoundError as error:
        raise missing_package("download", error, "sources") from error


def _digest(path: Path) -> str:
    """The SHA-256 of a file's uncompressed content."""
    digest, opened = hashlib.sha256(), gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rb") as content:
            while chunk := content.read(1 << 20):
                digest.update(chunk)
    except (EOFError, OSError) as error:
        raise InputError(f"read {path}: {error}", "remove it, to download it again") from error
    return digest.hexdigest()
