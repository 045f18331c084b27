"""What joins samples as torchcell does, and the loader that does so."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tcbuild.pyg._batch import Batch
from tcbuild.pyg._collate import Collater
from tcbuild.pyg._graph import Kind
from tcbuild.pyg._loader import DataLoader as PyGDataLoader
from tcbuild.pyg._packed import Packed
from tcbuild.torchcell._dataset import Dataset


class LazyCollater(Collater):
    """Joins samples into a tcbuild.pyg.Batch with the keys and values of torchcell's LazyCollater.
    Batches of Perturbation's samples have only genes; DCellGraphProcessor's become a Batch of
    torch_geometric.

    Args:
        follow_batch: as of tcbuild.pyg.DataLoader
        attributes: as of tcbuild.pyg.DataLoader

    Examples:
        >>> samples = tcbuild.torchcell.Dataset(dataset, phenotypes=["fitness"])
        >>> batch = tcbuild.torchcell.LazyCollater(["perturbation_indices"])(samples[:4])
    """

    always = ()

    def _batch(self, packed: Packed) -> Batch:
        of_data = packed.values.pop(None, {})
        for key in ("sample_id", "mask_basis"):  # batch.sample_id has them
            of_data.pop(key, None)
        if packed.terms.graph_processor != "Perturbation":
            of_data["num_graphs"] = packed.size
        if of_data:
            packed.values[None] = of_data
        return super()._batch(packed)

    def _reshaped(self, samples: list[Any], wrong: tuple[Kind, str]) -> Any:
        kind, what = wrong
        raise ValueError(
            f"collate: found a new or changed {what} of {kind} in a sample, expected the dataset "
            "graph's\nhint: change dataset.cell_graph, which all samples have"
        )

    def _of_key(self, values: list[Any]) -> tuple[Any, list[int]]:
        """Tensors one after the other, others in a list."""
        if all(isinstance(value, (Tensor, np.ndarray)) for value in values):
            return torch.cat([*map(torch.as_tensor, values)]), [*map(len, values)]
        return values, [1] * len(values)


class DataLoader(PyGDataLoader):
    """tcbuild.pyg.DataLoader with LazyCollater.

    Args:
        dataset: as of tcbuild.pyg.DataLoader
        batch_size: samples per batch
        shuffle: torch's order
        follow_batch: as of tcbuild.pyg.DataLoader
        attributes: as of tcbuild.pyg.DataLoader
        **options: torch's, and `device`

    Examples:
        >>> samples = tcbuild.torchcell.Dataset(dataset, phenotypes=["fitness"])
        >>> loader = tcbuild.torchcell.DataLoader(samples, batch_size=28)
    """

    collater = LazyCollater
    dataset_type = Dataset
