"""Samples as tensors, one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import SupportsIndex, overload

import torch
from torch import Tensor

import tcbuild
from tcbuild._lazy import lazy_property
from tcbuild._table.rows import positions
from tcbuild.errors import ByName
from tcbuild.torch._attributes import with_cells
from tcbuild.torch._basis import mark_basis
from tcbuild.torch._edges import Edges
from tcbuild.torch._resume import Resumable


class Dataset(Resumable, torch.utils.data.Dataset["Sample"]):
    """A tcbuild dataset, its folder, or a view of one as a map-style torch Dataset.

        stored = tcbuild.open("cell/indices")
        train = tcbuild.torch.Dataset(stored[~np.isnan(stored.phenotype("fitness"))])

    Workers may be forked or spawned: pickling stores only its path, and the indices of a view.
    `stored` is the tcbuild.Dataset.

    attributes: names of those that batches have, for batch.attribute(name); of cells also row, file
        and file_rows. Of each text attribute a process reads the categories once
    """

    def __init__(self, dataset: tcbuild.Dataset | str | Path, attributes: Sequence[str] = ()):
        self.stored = dataset if isinstance(dataset, tcbuild.Dataset) else tcbuild.open(dataset)
        self._edges = Edges.of(self.stored)  # which batches from workers find
        self.attributes = with_cells(attributes, self.stored)

    def __len__(self) -> int:
        return len(self.stored)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Sample: ...
    @overload
    def __getitem__(self, index: slice | Iterable[SupportsIndex]) -> Dataset: ...
    def __getitem__(
        self, index: SupportsIndex | slice | Iterable[SupportsIndex]
    ) -> Sample | Dataset:
        """A sample, or a view for a slice, indices or a boolean array, as in tcbuild.Dataset."""
        found = self.stored[index]
        if isinstance(found, tcbuild.Dataset):
            return Dataset(found, self.attributes)
        return Sample(self.stored.whole, found, self.attributes)

    def __getitems__(self, indices: Iterable[SupportsIndex]) -> Dataset:
        """The view of a batch's samples. A DataLoader, and a Subset in it, calls it; collate then
        reads all of them at once.
        """
        return Dataset(self.stored[positions(indices, len(self))], self.attributes)

    def __iter__(self) -> Iterator[Sample]:
        return (Sample(self.stored.whole, sample, self.attributes) for sample in self.stored)


class Sample:
    """A sample as tensors on the CPU, made at their first use. `stored` has its id, genes and NumPy
    arrays, `dataset` is the whole dataset, `attributes` the names of those that batches have.
    """

    def __init__(
        self, dataset: tcbuild.Dataset, stored: tcbuild.Sample, attributes: tuple[str, ...] = ()
    ):
        self.dataset = dataset
        self.stored = stored
        self.attributes = attributes

    @lazy_property
    def deleted(self) -> Tensor:
        """int64 [g], ascending."""
        genes = torch.from_numpy(self.stored.deleted).long()
        mark_basis(genes, self.dataset.mask_basis)
        return genes

    @lazy_property
    def phenotypes(self) -> Tensor:
        """float64 [P], NaN if missing, in the order of dataset.phenotype_names, including
        statistics (Batch says how to select).
        """
        return torch.from_numpy(self.stored.phenotypes)

    @lazy_property
    def masks(self) -> dict[str, Tensor]:
        """Per node and edge type bool [E], true where kept; views of one buffer."""
        masks = torch.from_numpy(self.stored.all_masks).split_with_sizes(self.dataset.mask_sizes)
        return ByName("mask", dict(zip(self.dataset.mask_names, masks)))


def stored_dataset(dataset: Dataset | tcbuild.Dataset | str | Path) -> tcbuild.Dataset:
    """The tcbuild.Dataset."""
    return (dataset if isinstance(dataset, Dataset) else Dataset(dataset)).stored
