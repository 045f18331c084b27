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
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tcbuild.errors import AnnDataError, missing_package, unknown_name

_ROWS = 1 << 16  # texts to read at a time: as Python's objects they take some 100 bytes each
_AGAIN = "read the file with anndata, and write it again"


@contextmanager
def open_obs(path: Path) -> Iterator[Obs]:
    """The table obs of a file, which is open until the end of the block."""
    if not path.exists():
        raise FileNotFoundError(f"read {path}: there is no such file")
    try:
        if path.is_dir():
            import zarr

            file: Any = zarr.open_group(str(path), mode="r")
        else:
            import h5py

            file = h5py.File(path, "r")
    except ModuleNotFoundError as error:
        raise missing_package(f"reading {path}", error) from error
    except (OSError, ValueError, KeyError) as error:
        found = f"{error}".partition("\n")[0]
        raise AnnDataError(
            f"read {path}: {found}, expected an HDF5 file or a Zarr folder",
            "give an .h5ad file or .zarr folder that anndata wrote",
        ) from error
    try:
        yield Obs(path, file)
    finally:
        if not path.is_dir():
            file.close()


class Obs:
    """columns: names of all but the cells' ids. rows: the number of cells."""

    def __init__(self, path: Path, file: Any):
        self.path = path
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
            self.rows = int(self._obs.shape[0])
            self._uns = file.get("uns", {})
            return
        attributes = self._obs.attrs
        if "_index" not in attributes or attributes["_index"] not in self._obs:
            raise self._wrong("it has no index", "the cells' ids")
        self.columns = [_decoded(name) for name in attributes.get("column-order", ())]
        index = self._obs[attributes["_index"]]
        self.rows = int((index["values"] if _is_group(index) else index).shape[0])

    def column(self, name: str) -> pa.Array:
        """A column, null where it is missing: dictionary<int32, utf8> of texts and categories, or
        numbers, or booleans.
        """
        if name not in self.columns:
            raise unknown_name("column", name, self.columns, f"read obs of {self.path}: ")
        try:
            found = self._of_compound(name) if self._legacy else self._of_group(name)
        except (ValueError, TypeError, KeyError, OSError, pa.ArrowException) as error:
            raise self._wrong(f"column {name!r}: {error}", "a column that anndata wrote") from error
        if len(found) != self.rows:
            raise self._wrong(f"column {name!r} has {len(found):,} rows", f"{self.rows:,} cells")
        return found

    def _of_group(self, name: str) -> pa.Array:
        column = self._obs[name]
        if _is_group(column) and "codes" in column:
            return _categorical(column["codes"][:], _values(column["categories"]))
        if "categories" in column.attrs:
            return _categorical(column[:], _values(self._obs["__categories"][name]))
        return _encoded(_values(column))

    def _of_compound(self, name: str) -> pa.Array:
        values, categories = self._obs[name], self._uns.get(f"{name}_categories")
        if categories is not None:
            return _categorical(values, _values(categories))
        return _encoded(_array(values))

    def _wrong(self, found: str, expected: str) -> AnnDataError:
        return AnnDataError(f"read obs of {self.path}: {found}, expected {expected}", _AGAIN)


def _is_group(node: Any) -> bool:
    return not hasattr(node, "dtype")


def _values(node: Any) -> pa.Array:
    """What an array holds, or a group of values and the mask of those that are missing."""
    if not _is_group(node):
        starts = range(0, max(1, node.shape[0]), _ROWS)
        parts = [_encoded(_array(node[start : start + _ROWS])) for start in starts]
        return pa.chunked_array(parts).unify_dictionaries().combine_chunks()
    if "values" not in node or "mask" not in node:
        encoding = node.attrs.get("encoding-type", "unknown")
        raise ValueError(f"found the encoding {encoding!r}, expected numbers, texts or categories")
    missing = pa.array(np.asarray(node["mask"][:], bool))
    return pc.if_else(missing, None, _values(node["values"]))


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
