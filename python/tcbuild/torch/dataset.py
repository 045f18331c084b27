"""Samples as tensors, one by one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import SupportsIndex, overload

import torch
from torch import Tensor

import tcbuild


class Dataset(torch.utils.data.Dataset["Sample"]):
    """A tcbuild dataset as a map-style torch Dataset.

    Workers may be forked or spawned: pickling stores only its path. `stored` is the
    tcbuild.Dataset.
    """

    def __init__(self, path: str | Path):
        self.stored = tcbuild.open(path)

    def __len__(self) -> int:
        return len(self.stored)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Sample: ...
    @overload
    def __getitem__(self, index: slice | Iterable[SupportsIndex]) -> list[Sample]: ...
    def __getitem__(
        self, index: SupportsIndex | slice | Iterable[SupportsIndex]
    ) -> Sample | list[Sample]:
        """A sample, or a list of samples for a slice or indices, as in tcbuild.Dataset."""
        found = self.stored[index]
        return (
            [Sample(self.stored, sample) for sample in found]
            if isinstance(found, list)
            else Sample(self.stored, found)
        )


class Sample:
    """A sample as tensors on the CPU, made at their first use. `stored` has its id, genes and NumPy
    arrays.
    """

    def __init__(self, dataset: tcbuild.Dataset, stored: tcbuild.Sample):
        self.dataset = dataset
        self.stored = stored

    @cached_property
    def perturbation_indices(self) -> Tensor:
        """int64 [g], ascending."""
        return torch.from_numpy(self.stored.perturbation_indices).long()

    @cached_property
    def phenotypes(self) -> Tensor:
        """float64 [P], NaN if missing, in the order of dataset.phenotype_names, including
        statistics (Batch says how to select).
        """
        return torch.from_numpy(self.stored.phenotypes)

    @cached_property
    def masks(self) -> dict[str, Tensor]:
        """Per node and edge type bool [E], true where kept; views of one buffer."""
        return dict(
            zip(
                self.dataset.mask_names,
                torch.from_numpy(self.stored.all_masks).split_with_sizes(self.dataset.mask_sizes),
            )
        )


def stored_dataset(dataset: Dataset | tcbuild.Dataset | str | Path) -> tcbuild.Dataset:
    """The tcbuild.Dataset."""
    if isinstance(dataset, Dataset):
        return dataset.stored
    return dataset if isinstance(dataset, tcbuild.Dataset) else tcbuild.open(dataset)
