"""The table obs of an AnnData file, .h5ad or .zarr, as all versions of anndata write it.

    obs                 a group of columns; before version 0.7, one compound dataset
    obs/COLUMN          numbers or texts, or a group:
      codes, categories   values by their index in categories, -1 if missing
      values, mask        values that are missing where the mask is true
    obs/__categories    0.7: the categories of columns that have the attribute categories
    uns/COLUMN_categories  before 0.7: the categories of columns of codes

The group's attribute _index names the column with the cells' ids, column-order the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tcbuild.errors import (
    AnnDataError,
    DatasetError,
    UnknownNameError,
    missing_package,
    unknown_name,
)

_ROWS = 1 << 16  # texts to read at a time: as Python's objects they take some 100 bytes each
# More rows than a byte of a file can hold: compressed, the ids of a million cells that are numbered
# from 0 take 300 kB.
_ROWS_PER_BYTE = 64
_AGAIN = "read the file with anndata, and write it again"


@contextmanager
def open_obs(path: Path) -> Iterator[Obs]:
    """The table obs of a file, which is open until the end of the block."""
    if not path.exists():
        raise FileNotFoundError(f"read {path}: there is no such file")
    try:
        with _opened(path) as file:
            yield Obs(path, file)
    except ModuleNotFoundError as error:
        raise missing_package(f"reading {path}", error) from error
    except (DatasetError, UnknownNameError):
        raise
    except Exception as error:  # h5py and zarr raise any kind for a damaged file
        raise AnnDataError(
            f"read {path}: {_first_line(error)}, expected an HDF5 file or a Zarr folder",
            "give an .h5ad file or .zarr folder that anndata wrote",
        ) from error


def _first_line(error: Exception) -> str:
    """The first line of an error's message."""
    message = error.args[0] if isinstance(error, KeyError) and error.args else error
    return f"{message}".partition("\n")[0] or type(error).__name__


def _opened(path: Path) -> Any:
    if path.is_dir():
        import zarr

        return nullcontext(zarr.open_group(str(path), mode="r"))
    import h5py

    return h5py.File(path, "r")


class Obs:
    """columns: names of all but the cells' ids. rows: the number of cells."""

    def __init__(self, path: Path, file: Any):
        self.path = path
        self._bytes = _size(path)
        if "obs" not in file:
            raise AnnDataError(
                f"read {path}: found {', '.join(file) or 'nothing'} in it, expected a table obs",
                "give a file that anndata wrote",
            )
        self._obs = file["obs"]
        self._legacy = not _is_group(self._obs)
        if self._legacy:
            if self._obs.dtype.names is None:
                raise self._wrong(f"obs holds {self._obs.dtype}", "columns")
            self.columns = list(self._obs.dtype.names[1:])  # the first has the cells' ids
            self.rows = int(self._sized(self._obs, "obs").shape[0])
            self._uns = file.get("uns", {})
            return
        attributes = self._obs.attrs
        if "_index" not in attributes or attributes["_index"] not in self._obs:
            raise self._wrong("it has no index", "the cells' ids")
        self.columns = [_decoded(name) for name in attributes.get("column-order", ())]
        index = self._obs[attributes["_index"]]
        ids = index["values"] if _is_group(index) else index
        self.rows = int(self._sized(ids, "the index").shape[0])

    def column(self, name: str) -> pa.Array:
        """A column, null where it is missing: dictionary<int32, utf8> of texts and categories, or
        numbers, or booleans.
        """
        if name not in self.columns:
            raise unknown_name("column", name, self.columns, f"read obs of {self.path}: ")
        try:
            found = self._of_compound(name) if self._legacy else self._of_group(name)
        except AnnDataError:
            raise
        except Exception as error:
            problem = f"column {name!r}: {_first_line(error)}"
            raise self._wrong(problem, "a column that anndata wrote") from error
        return found

    def _of_group(self, name: str) -> pa.Array:
        column, of = self._obs[name], f"column {name!r}"
        if _is_group(column) and "codes" in column:
            codes = self._sized(column["codes"], of, self.rows)
            return _categorical(codes[:], self._values(column["categories"], f"{of}, categories"))
        if "categories" in column.attrs:
            categories = self._values(self._obs["__categories"][name], f"{of}, categories")
            return _categorical(self._sized(column, of, self.rows)[:], categories)
        return _encoded(self._values(column, of, self.rows))

    def _of_compound(self, name: str) -> pa.Array:
        values, categories = self._obs[name], self._uns.get(f"{name}_categories")
        if categories is not None:
            return _categorical(values, self._values(categories, f"column {name!r}, categories"))
        return _encoded(_array(values))

    def _values(self, node: Any, what: str, rows: int | None = None) -> pa.Array:
        """What an array holds, or a group of values and the mask of those that are missing."""
        if not _is_group(node):
            self._sized(node, what, rows)
            starts = range(0, max(1, node.shape[0]), _ROWS)
            parts = [_encoded(_array(node[start : start + _ROWS])) for start in starts]
            return pa.chunked_array(parts).unify_dictionaries().combine_chunks()
        if "values" not in node or "mask" not in node:
            encoding = node.attrs.get("encoding-type", "unknown")
            raise ValueError(
                f"found the encoding {encoding!r}, expected numbers, texts or categories"
            )
        missing = pa.array(np.asarray(self._sized(node["mask"], what, rows)[:], bool))
        return pc.if_else(missing, None, self._values(node["values"], what, rows))

    def _sized(self, node: Any, what: str, rows: int | None = None) -> Any:
        """The array, unless it declares more rows than its file can hold, which would take forever
        to read, or a number of rows other than the expected one.
        """
        found = int(node.shape[0])
        if rows is not None and found != rows:
            raise self._wrong(f"{what} has {found:,} rows", f"{rows:,} cells")
        if max(found, node.dtype.itemsize) > _ROWS_PER_BYTE * self._bytes:
            raise self._wrong(
                f"{what} declares {found:,} rows of {node.dtype}",
                f"fewer in {self._bytes:,} bytes",
            )
        return node

    def _wrong(self, found: str, expected: str) -> AnnDataError:
        return AnnDataError(f"read obs of {self.path}: {found}, expected {expected}", _AGAIN)


def _is_group(node: Any) -> bool:
    return not hasattr(node, "dtype")


def _size(path: Path) -> int:
    """The bytes of a file, or of all files of a Zarr folder's obs."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.glob("obs/**/*") if file.is_file())


def _array(values: npt.NDArray[Any]) -> pa.Array:
    """A NumPy array of numbers, booleans or texts; NaN is missing."""
    values = np.asarray(values)
    if values.ndim != 1 or values.dtype.kind not in "biufSUOT":
        raise ValueError(f"found {values.dtype} {list(values.shape)}, expected numbers or texts")
    if values.dtype.kind in "biuf":
        return pa.array(values, from_pandas=True)
    items = values.tolist()
    if any(isinstance(item, bytes) for item in items):
        return pa.array(items, pa.binary()).cast(pa.string())
    return pa.array(items, pa.string())


def _encoded(values: pa.Array) -> pa.Array:
    """Texts with a dictionary; anything else as it is."""
    return values.dictionary_encode() if pa.types.is_string(values.type) else values


def _categorical(codes: npt.NDArray[Any], categories: pa.Array) -> pa.Array:
    if len(codes) and not -1 <= codes.min() <= codes.max() < len(categories):
        raise ValueError(
            f"found codes from {codes.min()} to {codes.max()} for {len(categories):,} categories"
        )
    words = [None if word is None else str(word) for word in categories.to_pylist()]
    indices = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(words, pa.string()))


def _decoded(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)
