"""NumPy arrays of all positions, one sample after the other: in memory, and memory-mapped."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from systems import Positions, Record, Source, System

ARRAYS = ("genes", "gene_ends", "phenotypes", "removed", "removed_ends")


class Memory(System):
    """What reading costs where nothing is read: the least that any system can take."""

    name = "in memory"

    def __init__(self, folder: Path, source: Source):
        super().__init__(folder, source)
        self.source = source

    def write(self, source: Source) -> None:
        pass

    def __getitem__(self, index: int) -> Record:
        return self.source[index]


class Memmap(System):
    def write(self, source: Source) -> None:
        for name in ARRAYS:
            np.save(self.folder / f"{name}.npy", getattr(source, name))

    def open(self) -> SimpleNamespace:
        return SimpleNamespace(
            **{name: np.load(self.folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
        )

    def __getitem__(self, index: int) -> Record:
        file = self.file
        first, end = file.gene_ends[index : index + 2]
        start, stop = file.removed_ends[index : index + 2]
        return Positions(
            np.array(file.genes[first:end]),
            np.array(file.phenotypes[index]),
            np.array(file.removed[start:stop]),
        )
