"""Where the cells of a batch are in their AnnData file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tcbuild._table.cell_rows import FILE, FILE_ROWS
from tcbuild.anndata._obs import open_obs
from tcbuild.errors import AnnDataError


class _Batch(Protocol):
    """A tcbuild.torch.Batch."""

    @property
    def rows(self) -> Any: ...
    def attribute(self, name: str) -> Any: ...


class Cells:
    """The cells of an AnnData file, whose rows a batch names.

        cells = tcbuild.anndata.Cells("norman.h5ad")
        expression = h5py.File(cells.path)["X"]

        def collate(samples):
            batch = tcbuild.torch.collate(samples, masks=None)
            rows, order = np.unique(cells.rows(batch), return_inverse=True)
            return batch, torch.from_numpy(expression[rows][order])

    path: the file. count: its number of cells
    """

    def __init__(self, file: str | os.PathLike[str]):
        self.path = Path(file)
        with open_obs(self.path) as obs:
            self.count = obs.rows

    def __len__(self) -> int:
        return self.count

    def rows(self, batch: _Batch) -> npt.NDArray[np.int64]:
        """The rows of a batch's cells, int64 [B], after checking that they are rows of this file:
        its name and number of cells are those that the perturbation set was made from.
        """
        rows: npt.NDArray[np.int64] = batch.rows.cpu().numpy()
        codes, files = batch.attribute(FILE)
        names = {files[code] if code >= 0 else "an unknown file" for code in codes.tolist()}
        if other := sorted(names - {self.path.name}):
            raise AnnDataError(
                f"fetch cells of {self.path}: found cells of {other[0]} in the batch",
                "open each file by its own Cells, and select its samples: "
                "dataset[dataset.attribute('file') == name]",
            )
        counts = batch.attribute(FILE_ROWS).cpu().numpy()
        if np.any(wrong := counts != self.count):
            raise AnnDataError(
                f"fetch cells of {self.path}: it has {self.count:,} cells, expected "
                f"{counts[wrong][0]:,.0f}, as when the perturbation set was made",
                "open the file that the set was made from, or make the set again",
            )
        return rows
