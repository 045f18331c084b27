"""What the benchmark asks of a system that stores samples: a class per system, a file per class."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

import tcbuild
from tcbuild._masks.layout import MaskLayout, Removals
from tcbuild._masks.masks import write_masks


class Record(Protocol):
    """What is read of a sample; a system may read it when it is asked for.

    genes: int32 [g], rows of the deleted genes in the gene table, ascending
    phenotypes: float64 [P]
    removed: int [R], the removed positions among those of all masks, in any order
    """

    @property
    def genes(self) -> npt.NDArray[Any]: ...
    @property
    def phenotypes(self) -> npt.NDArray[np.float64]: ...
    @property
    def removed(self) -> npt.NDArray[Any]: ...
    def write_masks(self, out: npt.NDArray[np.uint8]) -> None:
        """Writes all masks, one byte per position."""


@dataclass(frozen=True)
class Positions:
    """A Record of which the system stores the removed positions."""

    genes: npt.NDArray[np.int32]
    phenotypes: npt.NDArray[np.float64]
    removed: npt.NDArray[Any]

    def write_masks(self, out: npt.NDArray[np.uint8]) -> None:
        write_masks(self.removed, out)


@dataclass(frozen=True)
class Source:
    """The samples to store, in memory. Row i of an array is values[ends[i] : ends[i + 1]].

    graph, perturbations, program: of which and with which tcbuild builds its datasets
    stored: a dataset of the samples, for names and the graph
    """

    graph: Path
    perturbations: str
    program: Path
    stored: tcbuild.Dataset
    genes: npt.NDArray[np.int32]
    gene_ends: npt.NDArray[np.int64]
    phenotypes: npt.NDArray[np.float64]
    removed: npt.NDArray[np.int32]
    removed_ends: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.phenotypes)

    def __getitem__(self, index: int) -> Positions:
        first, end = self.gene_ends[index : index + 2]
        start, stop = self.removed_ends[index : index + 2]
        return Positions(self.genes[first:end], self.phenotypes[index], self.removed[start:stop])

    def __iter__(self) -> Iterator[Positions]:
        return (self[index] for index in range(len(self)))


@dataclass(frozen=True)
class Loading:
    batch_size: int
    workers: int


class System(Dataset[Record]):
    """The samples in a folder, as a system stores them."""

    def __init__(self, folder: Path, source: Source):
        self.folder, self.stored, self.samples = folder, source.stored, len(source)
        self._file: Any = None
        self._process = 0

    def write(self, source: Source) -> None:
        """Stores all samples in the folder, which is empty."""
        raise NotImplementedError

    def bytes_of_samples(self) -> int:
        """The bytes of the files that grow with the samples."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def open(self) -> Any:
        """What `file` is."""
        raise NotImplementedError

    @property
    def file(self) -> Any:
        """What the system reads from. Each process opens its own, as most must not be forked."""
        if self._process != os.getpid():
            self._file, self._process = self.open(), os.getpid()
        return self._file

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> Record:
        raise NotImplementedError

    def loader(self, loading: Loading, collate: Any) -> DataLoader[Any]:
        """The system's own loader of all samples in random order."""
        return DataLoader(
            self,
            loading.batch_size,
            shuffle=True,
            num_workers=loading.workers,
            collate_fn=collate,
        )

    def whole_masks(self, loading: Loading) -> DataLoader[WholeMasks]:
        """A loader whose workers make whole masks."""
        return self.loader(loading, self._whole_masks)

    def positions(self, loading: Loading) -> DataLoader[Any]:
        """A loader whose workers send removed positions, as tcbuild's do."""
        return self.loader(loading, self._positions)

    def _whole_masks(self, records: Sequence[Record]) -> WholeMasks:
        masks = torch.empty(len(records), int(self.stored._mask_offsets[-1]), dtype=torch.uint8)
        for record, row in zip(records, masks.numpy()):
            record.write_masks(row)
        return WholeMasks(
            [record.genes for record in records],
            np.stack([record.phenotypes for record in records]),
            masks.view(torch.bool),
        )

    def _positions(self, records: Sequence[Record]) -> RemovedPositions:
        layout = MaskLayout(tuple(self.stored.mask_names), tuple(self.stored.mask_sizes))
        removals = layout.removals([record.removed for record in records])
        return RemovedPositions(
            [record.genes for record in records],
            np.stack([record.phenotypes for record in records]),
            removals,
        )


@dataclass(frozen=True)
class WholeMasks:
    """A batch with bool masks [B, positions of all masks]."""

    genes: list[npt.NDArray[Any]]
    phenotypes: npt.NDArray[np.float64]
    masks: Tensor


@dataclass(frozen=True)
class RemovedPositions:
    """A batch whose masks are written when they are asked for, as those of tcbuild.torch.Batch."""

    genes: list[npt.NDArray[Any]]
    phenotypes: npt.NDArray[np.float64]
    removals: Removals

    @property
    def masks(self) -> dict[str, Tensor]:
        return self.removals.masks(torch.device("cpu"))
