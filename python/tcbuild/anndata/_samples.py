"""Samples with their cells, before they are a batch."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from tcbuild._sample import Sample


class CellSamples(Sequence[Any]):
    """Samples with their cells, which collate joins to a batch.

    Args:
        samples: of Cells' dataset
        expression: an array or a CSR matrix with a row per sample
        control: the same of each sample's control, or None
    """

    def __init__(self, samples: Any, expression: Any, control: Any):
        self.samples, self.expression, self.control = samples, expression, control

    def __repr__(self) -> str:
        return (
            f"<tcbuild.anndata.CellSamples: {len(self):,} of {self.expression.shape[1]:,} columns>"
        )

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: Any) -> Any:
        """One sample of PyG with expression and control."""
        if isinstance(self.samples[index], Sample):
            raise TypeError(
                f"join cells: found {len(self):,} CellSamples, which only tcbuild.torch.collate "
                "joins\n"
                "hint: pass collate_fn=tcbuild.torch.collate, or use tcbuild.torch.DataLoader"
            )
        return self.sample(index)

    def sample(self, index: int) -> Any:
        """One sample: of PyG with expression and control, otherwise CellSamples.

        Args:
            index: of the sample, from 0
        """
        sample = self.samples[index]
        rows = np.arange(len(self))[index : index + 1 or None]
        control = None if self.control is None else self.control[rows]
        one = CellSamples([sample], self.expression[rows], control)
        if isinstance(sample, Sample):
            return one
        for name, value in one.tensors().items():
            setattr(sample, name, value)
        return sample

    def tensors(self) -> dict[str, Any]:
        """expression and control as tensors."""
        both = {"expression": self.expression, "control": self.control}
        return {name: _tensor(found) for name, found in both.items() if found is not None}


def cells_of(samples: Any) -> CellSamples | None:
    """What a DataLoader gives collate for Cells: CellSamples, or a list of them, such as those of a
    ConcatDataset, joined.
    """
    if isinstance(samples, CellSamples):
        return samples
    if not isinstance(samples, list) or not samples or not isinstance(samples[0], CellSamples):
        return None
    columns = {(part.expression.shape[1], part.control is None) for part in samples}
    if len(columns) > 1:
        raise ValueError(
            f"join cells: found cells of {len(columns)} numbers of columns, or with and without "
            "controls\nhint: give each Cells its own loader"
        )
    control = None if samples[0].control is None else _stacked([part.control for part in samples])
    expression = _stacked([part.expression for part in samples])
    return CellSamples([one for part in samples for one in part.samples], expression, control)


def _stacked(parts: list[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return import_module("scipy.sparse").vstack(parts, format="csr")


def _tensor(found: Any) -> Any:
    torch = import_module("torch")
    if isinstance(found, np.ndarray):
        return torch.from_numpy(found)
    return torch.sparse_csr_tensor(found.indptr, found.indices, found.data, found.shape)
