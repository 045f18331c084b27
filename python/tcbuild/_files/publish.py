"""Writes files and folders that appear when they are complete."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def published(path: Path, doing: str) -> Iterator[Path]:
    """A path to build at, which becomes path at the end. On failure nothing is left."""
    if path.exists():
        raise FileExistsError(
            f"{doing} {path}: it already exists\nhint: remove it, or choose another name"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as scratch:
        building = Path(scratch) / path.name
        yield building
        os.replace(building, path)
