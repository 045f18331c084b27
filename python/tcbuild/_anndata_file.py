"""AnnData files, .h5ad and .zarr, read by anndata."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from tcbuild.errors import DatasetError, InputError, missing_package


@contextmanager
def named(doing: str, path: Path) -> Iterator[None]:
    """Errors of anndata, h5py and zarr as errors that say what was being done, and where."""
    doing = f"{doing} of {path}"
    if not path.exists():
        raise FileNotFoundError(f"{doing}: there is no such file")
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_package(doing, error) from error
    except DatasetError:
        raise
    except Exception as error:  # h5py and zarr raise any kind for a damaged file
        lines = f"{error.args[0] if isinstance(error, KeyError) else error}".strip().splitlines()
        found = lines[0] if lines else type(error).__name__
        raise InputError(
            f"{doing}: {found}, expected what anndata writes",
            "give an undamaged .h5ad file or .zarr folder that anndata 0.7 or later wrote",
        ) from error


def _open(path: Path) -> Any:
    """A file's root."""
    if path.is_dir():
        return import_module("zarr").open_group(str(path), mode="r")
    return import_module("h5py").File(path, "r")


@contextmanager
def _table(path: Path, name: str = "obs") -> Iterator[Any]:
    """Where the table obs or var is."""
    with named(f"read {name}", path):
        root = _open(path)
        try:
            if "_index" not in root[name].attrs:
                raise ValueError("an old format")
            yield root[name]
        finally:
            getattr(root, "close", int)()  # zarr has nothing to close


def read_obs(path: Path) -> Any:
    """The table obs, and nothing else."""
    with _table(path) as obs:
        return import_module("anndata.io").read_elem(obs)


def read_names(path: Path, table: str = "obs") -> Any:
    """The names of cells, obs_names, or of columns, var_names."""
    with _table(path, table) as found:
        return import_module("anndata.io").read_elem(found[found.attrs["_index"]])


def open_matrix(path: Path, place: str) -> Any:
    """A matrix by its place, such as X or layers/counts, that reads some of its rows at a time."""
    doing = f"read {place} of {path}"
    with named(f"read {place}", path):
        root = _open(path)
        if place not in root:
            group, _, name = place.rpartition("/")
            there = [*root[group]] if group in root else []
            raise InputError(
                f"{doing}: there is none", f"it has {', '.join(there) or 'no ' + (group or place)}"
            )
        node = root[place]
        encoding = node.attrs.get("encoding-type", "array")
        if hasattr(node, "dtype") and node.ndim == 2:
            return node
        if encoding == "csr_matrix":
            return import_module("anndata.io").sparse_dataset(node)
        raise InputError(
            f"{doing}: found {encoding}, expected a dense matrix or csr_matrix, which keep the "
            "values of a cell together",
            "write it by rows, such as adata.X = scipy.sparse.csr_matrix(adata.X)",
        )
