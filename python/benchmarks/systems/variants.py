"""tcbuild's three variants."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from torch.utils.data import DataLoader

import tcbuild
import tcbuild.torch as tt
from systems import Loading, Record, Source, System


class _Sample:
    """A sample of a dataset as a Record."""

    def __init__(self, stored: tcbuild.Dataset, index: int):
        self._stored, self._sample = stored, stored[index]

    @property
    def genes(self) -> npt.NDArray[np.int32]:
        return self._sample.deleted

    @property
    def phenotypes(self) -> npt.NDArray[np.float64]:
        return self._sample.phenotypes

    @property
    def removed(self) -> npt.NDArray[np.uint32]:
        return self._sample.removed

    def write_masks(self, out: npt.NDArray[np.uint8]) -> None:
        self._stored._fill_masks(self._sample.index, out)


class Variant(System):
    command: ClassVar[tuple[str, ...]]

    def write(self, source: Source) -> None:
        build(
            source.program,
            self.command,
            source.graph,
            source.perturbations,
            self.folder / "dataset",
        )

    def bytes_of_samples(self) -> int:
        """Without the graph, which the other systems do not store, and the incidence of it."""
        files = self.open().manifest["files"]
        return sum(
            file["bytes"] for file in files if not file["name"].startswith(("graph/", "incidence."))
        )

    def open(self) -> tcbuild.Dataset:
        return tcbuild.open(self.folder / "dataset")

    def __getitem__(self, index: int) -> Record:
        return _Sample(self.file, index)

    def positions(self, loading: Loading) -> DataLoader[Any]:
        return DataLoader(
            self.file,
            loading.batch_size,
            shuffle=True,
            num_workers=loading.workers,
            collate_fn=tt.collate,
        )


class Incidence(Variant):
    command = ("incidence",)


class Indices(Variant):
    command = ("dataset", "--mode", "indices")


class FullMasks(Variant):
    command = ("dataset", "--mode", "full-masks")


def build(
    program: Path, command: tuple[str, ...], graph: Path, perturbations: str, dataset: Path
) -> None:
    inputs = ["--graph", str(graph), "--perturbations", perturbations, "--out", str(dataset)]
    subprocess.run([program, *command, "--quiet", *inputs], check=True)
