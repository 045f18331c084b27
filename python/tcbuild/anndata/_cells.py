"""The cells of an AnnData file beside the samples of a dataset."""

from __future__ import annotations

import copy
import operator
import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, SupportsIndex, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._anndata_file import named, open_matrix, read_names
from tcbuild._dataset import Dataset, as_dataset, opened
from tcbuild._files.manifest import SAMPLE_ID
from tcbuild._lazy import lazy_property
from tcbuild._table.columns import ranks
from tcbuild._table.controls import Controls, match, random_numbers
from tcbuild._table.rows import positions, selected, selects_several
from tcbuild.anndata._samples import CellSamples
from tcbuild.errors import InputError, SettingsError


class Cells:
    """Samples with the expression of their cells and of matched controls: a dataset for loaders of
    tcbuild.torch, or of tcbuild.pyg if it has one of their datasets. sample_id is obs_names of the
    file. A batch is one read.

    Controls are drawn again in each epoch, by seed, epoch and sample. An Order sets the epoch; with
    other samplers, call set_epoch.

    Args:
        dataset: a tcbuild.Dataset, its folder, a tcbuild.pyg.Dataset, or a view, such as a part
        file: an .h5ad file or a .zarr folder
        controls_by: attributes in which a cell and its control agree, or are both missing; [] for
            any wild type, None for no controls
        layer: a layer to read in place of X
        obsm: a matrix in obsm to read in place of X
        sparse: CSR tensors in place of dense ones
        seed: of the draws
        controls: what to draw controls from, such as the whole dataset (default: dataset)

    Raises:
        InputError: the file is damaged, lacks a cell or a matrix, or stores the matrix by columns
        ValueError: a group of cells has no control
        UnknownNameError: the dataset has no such attribute

    Examples:
        >>> cells = tcbuild.anndata.Cells("screen", "screen.h5ad", controls_by=["medium"])
        >>> order = tcbuild.torch.Order(cells, seed=1)
        >>> for batch in tcbuild.torch.DataLoader(cells, 4, sampler=order):
        ...     effect = batch.expression - batch.control
    """

    def __init__(
        self,
        dataset: Any,
        file: str | os.PathLike[str],
        controls_by: Sequence[str] | None = None,
        *,
        layer: str | None = None,
        obsm: str | None = None,
        sparse: bool = False,
        seed: int = 0,
        controls: Any = None,
    ):
        if layer is not None and obsm is not None:
            raise ValueError(f"read {file}: found layer and obsm\nhint: pass one of them")
        self.dataset = opened(dataset)
        if not isinstance(self.stored, Dataset):
            raise TypeError(
                f"read cells: found {type(dataset).__name__}, expected a tcbuild.Dataset or a "
                "tcbuild.pyg.Dataset"
            )
        self.path, self.sparse, self.seed = Path(file), sparse, operator.index(seed)
        self.place = f"layers/{layer}" if layer else f"obsm/{obsm}" if obsm else "X"
        self._controls: Controls | None
        self._opened: tuple[int, Any] | None = None  # by which process, as children share nothing
        self._epoch = _shared(0)
        names = _names(self.path)
        self._rows, self._numbers = self._rows_of(self.stored, names), self.stored.indices
        self._shape = open_matrix(self.path, self.place).shape
        if self._shape[0] != len(names):
            raise InputError(
                f"read {self.place} of {self.path}: found {self._shape[0]:,} rows, expected "
                f"{len(names):,}, as obs has",
                "write the file again",
            )
        self._groups, self._controls = self._numbers, None
        if controls_by is not None:
            given = self.stored if controls is None else controls
            pool = as_dataset(getattr(given, "stored", given))  # of PyG, or Cells
            if pool.path != self.stored.path:
                raise ValueError(
                    f"match controls: found controls of {pool.path}, expected a view of "
                    f"{self.stored.path}\nhint: dataset.whole has all its controls"
                )
            self._groups, self._controls = match(self.stored, pool, controls_by)
            same = pool is self.stored
            self._control_rows = self._rows if same else self._rows_of(pool, names)

    @property
    def stored(self) -> Dataset:
        """The tcbuild.Dataset of the samples."""
        found = self.dataset
        stored = found if isinstance(found, Dataset) else getattr(found, "stored", None)
        return cast(Dataset, stored)  # __init__ checks it

    @property
    def columns(self) -> int:
        """How many values a cell has."""
        return int(self._shape[1])

    @lazy_property
    def var_names(self) -> list[str]:
        """The names of the columns, which are in the file's order, not that of dataset.genes."""
        if self.place.startswith("obsm/"):
            raise SettingsError(f"name columns: {self.place} has no names", "read X or a layer")
        return [str(name) for name in read_names(self.path, "var")]

    def __len__(self) -> int:
        return len(self.dataset)

    def __repr__(self) -> str:
        return f"<tcbuild.anndata.Cells {self.place} of {self.path}: {self.dataset!r}>"

    def set_epoch(self, epoch: int) -> None:
        """Chooses the controls of an epoch. An Order calls it.

        Args:
            epoch: its number
        """
        self._epoch[0] = epoch

    def __getitem__(self, index: Any) -> Any:
        """A sample with its cell, or a view.

        Returns:
            CellSamples of one sample, or a sample of PyG with expression [1, columns] and control;
            for a slice, indices or a boolean array, Cells.
        """
        if not selects_several(index):
            return self.__getitems__([index]).sample(0)
        places = np.asarray(selected(range(len(self)), index))
        view = copy.copy(self)
        view.dataset, view._epoch = self.dataset[places], _shared(int(self._epoch[0]))
        view._rows, view._numbers = self._rows[places], self._numbers[places]
        view._groups = self._groups[places]
        return view

    def __getitems__(self, indices: Iterable[SupportsIndex]) -> CellSamples:
        """A batch's samples with their cells; for DataLoaders."""
        places = positions(indices, len(self))
        samples, rows = self.dataset.__getitems__(places.tolist()), self._rows[places]
        if self._controls is None:
            return CellSamples(samples, self._read(rows), None)
        (seed,) = random_numbers(self.seed, np.array([int(self._epoch[0])])).tolist()
        drawn = self._controls.draw(self._groups[places], self._numbers[places], seed)
        found = self._read(np.concatenate([rows, self._control_rows[drawn]]))
        return CellSamples(samples, found[: len(rows)], found[len(rows) :])

    def _read(self, rows: npt.NDArray[np.int64]) -> Any:
        """Some rows of the matrix, in any order: an array, or a CSR matrix."""
        wanted, order = np.unique(rows, return_inverse=True)
        matrix = self._matrix()
        with named(f"read {len(wanted):,} rows of {self.place}", self.path):
            if hasattr(matrix, "to_memory"):  # sparse
                found = matrix[wanted]
                found.data = self._signed(found.data)
                found.check_format(full_check=True)  # damaged indices would write anywhere
                found.sum_duplicates()
                return found[order] if self.sparse else found[order].toarray()
            found = (matrix.oindex if hasattr(matrix, "oindex") else matrix)[wanted][order]
            found = self._signed(found)
            return import_module("scipy.sparse").csr_matrix(found) if self.sparse else found

    def _signed(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values whose differences do not wrap, in the byte order that torch has."""
        if values.dtype.kind != "u" or values.dtype.itemsize < 8:
            return values.astype(np.promote_types(values.dtype, np.int8), copy=False)
        if values.size and int(values.max()) > np.iinfo(np.int64).max:
            raise InputError(
                f"read {self.place} of {self.path}: found {int(values.max()):,} of type uint64, "
                "expected numbers that fit into int64",
                "write the matrix with another type",
            )
        return values.astype(np.int64)

    def _matrix(self) -> Any:
        if self._opened is None or self._opened[0] != os.getpid():
            self._opened = os.getpid(), open_matrix(self.path, self.place)
        return self._opened[1]

    def _rows_of(self, samples: Dataset, names: pa.Array) -> npt.NDArray[np.int64]:
        """The row of each sample's cell."""
        ids = samples.to_arrow([SAMPLE_ID]).column(0)
        rows = ranks(ids, names.cast(ids.type)).astype(np.int64)
        if (without := np.flatnonzero(rows < 0)).size:
            raise InputError(
                f"find cells in {self.path}: {len(without):,} of {len(rows):,} samples have none "
                f"of its {len(names):,}, the first is {ids[int(without[0])].as_py()!r:.100}",
                "give the file that the dataset was built from: a sample's id is its cell's name "
                "in obs_names; build from the AnnData, or with the names' column as id_column=",
            )
        return rows

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_opened": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._epoch.share_memory_()


def _names(path: Path) -> pa.Array:
    """The names of a file's cells."""
    found = pa.array([str(name) for name in read_names(path)], pa.string())
    if (repeated := len(found) - len(found.unique())) > 0:
        raise InputError(
            f"read obs of {path}: {repeated:,} names of cells repeat others, so a sample could be "
            "any of several cells",
            "adata.obs_names_make_unique(), write the file, and build the dataset from it",
        )
    return found


def _shared(epoch: int) -> Any:
    """A number that workers see change, forked or spawned."""
    return import_module("torch").tensor([epoch]).share_memory_()
