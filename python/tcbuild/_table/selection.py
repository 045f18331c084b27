"""Selections: numbers of samples of a dataset, which `tcbuild select` and `split` write."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._files.data_file import DataFile, NoFileError
from tcbuild._files.manifest import unreadable
from tcbuild._files.remote import Url, location
from tcbuild.errors import SelectionError

_VERSION = b"1"
_SCHEMA = pa.schema([pa.field("sample", pa.int64(), nullable=False)])
_AGAIN = "make it again with 'tcbuild select' or 'tcbuild split'"


def read_selection(
    path: str | os.PathLike[str], logical_content: str, samples: int
) -> npt.NDArray[np.int64]:
    """The numbers of the selected samples, ascending. A selection of a dataset with another logical
    content is refused: its numbers would be other samples here.
    """
    path = location(path)
    table = _read(path)
    metadata = table.schema.metadata or {}
    if b"tcbuild_selection" not in metadata:
        raise SelectionError(f"read {path}: it is not a selection of samples", _AGAIN)
    if (version := metadata[b"tcbuild_selection"]) != _VERSION:
        raise SelectionError(
            f"read {path}: found version {version.decode(errors='replace'):.20} of selections, "
            f"expected {_VERSION.decode()}",
            _AGAIN,
        )
    if (content := metadata.get(b"logical_content", b"")) != logical_content.encode():
        raise SelectionError(
            f"read {path}: found a selection of a dataset with logical content "
            f"{content.decode(errors='replace'):.12}…, expected {logical_content:.12}…",
            "give a selection that was made from this dataset, or another variant of it",
        )
    if not table.schema.equals(_SCHEMA) or table.column(0).null_count:
        raise SelectionError(f"read {path}: it has columns of other names or types", _AGAIN)
    numbers: npt.NDArray[np.int64] = table.column(0).to_numpy()
    digest = hashlib.sha256(numbers.astype("<i8").tobytes()).hexdigest()
    if digest.encode() != metadata.get(b"sha256"):
        raise SelectionError(f"read {path}: its numbers do not match its digest", _AGAIN)
    if (
        len(numbers) == 0
        or numbers[0] < 0
        or numbers[-1] >= samples
        or np.any(np.diff(numbers) < 1)
    ):
        raise SelectionError(
            f"read {path}: found {len(numbers):,} numbers, expected at least one, ascending, "
            f"from 0 to {samples - 1:,}",
            _AGAIN,
        )
    return numbers


def _read(path: Path | Url) -> pa.Table:
    try:
        if isinstance(path, Url):
            content = path.read(0)
        else:
            file = DataFile(path)
            content = file.read(0, file.size)
    except NoFileError as error:
        raise SelectionError(f"read {path}: {error}", "give a file of selected samples") from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        return pa.ipc.open_file(pa.py_buffer(content)).read_all()
    except (pa.ArrowException, ValueError, OSError) as error:
        raise SelectionError(f"read {path}: it is not an Arrow file, or damaged", _AGAIN) from error
