"""Batches of Perturbation's samples, made of columns of the sample table, without the samples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch_geometric.data import Batch, HeteroData

if TYPE_CHECKING:
    from tcbuild.pyg.dataset import Dataset


def perturbation_batch(dataset: Dataset, follow_batch: Sequence[str]) -> HeteroData:
    """What torch_geometric's Batch.from_data_list makes of a view's samples. Batches of one size
    share batch and ptr of their nodes: do not change these in place.
    """
    size, genes = len(dataset), len(dataset.stored.genes)
    deleted, ptr, phenotypes = dataset.stored.perturbations(slice(None))
    names = dataset._gene_names[deleted].tolist()
    ends = ptr.tolist()
    masks = np.ones((2, size, genes), np.bool_)
    masks[1] = False
    places = np.repeat(np.arange(size), np.diff(ptr)) * genes + deleted
    masks[0].reshape(-1)[places] = False
    masks[1].reshape(-1)[places] = True
    values: dict[str, tuple[Any, npt.NDArray[np.int64]]] = {}
    values["perturbation_indices"] = deleted, ptr
    for prefix, of in (("phenotype", dataset.phenotypes), ("phenotype_stat", dataset.statistics)):
        found, ranks, starts = _coo(phenotypes, dataset, prefix)
        values[f"{prefix}_values"] = found, starts
        values[f"{prefix}_type_indices"] = ranks, starts
        values[f"{prefix}_sample_indices"] = np.zeros_like(ranks), starts
        values[f"{prefix}_types"] = [list(of) for _ in range(size)], np.arange(size + 1)
    values["perturbed_genes"] = [names[a:b] for a, b in zip(ends, ends[1:])], np.arange(size + 1)
    every = np.arange(size + 1) * genes
    values["pert_mask"], values["mask"] = (masks[1].ravel(), every), (masks[0].ravel(), every)

    batch = Batch(_base_cls=HeteroData)
    store = batch["gene"]
    for key, (value, starts) in values.items():
        store[key] = torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        if key in follow_batch and isinstance(value, np.ndarray):
            of_sample = np.repeat(np.arange(size), np.diff(starts))
            store[f"{key}_batch"] = torch.from_numpy(of_sample)
            store[f"{key}_ptr"] = torch.from_numpy(starts)
    store._num_nodes, store.num_nodes = [genes] * size, genes * size
    store.batch, store.ptr = _of_nodes(size, genes)
    batch._num_graphs = size
    slices = {key: torch.from_numpy(starts) for key, (_, starts) in values.items()}
    batch._slice_dict = {"gene": slices}
    batch._inc_dict = {"gene": dict.fromkeys(slices)}
    return batch


@lru_cache(maxsize=2)  # a loader's batches, and its last one
def _of_nodes(size: int, genes: int) -> tuple[torch.Tensor, torch.Tensor]:
    """batch and ptr of a batch's nodes, which batches of a size share."""
    ptr = np.arange(size + 1) * genes
    return torch.from_numpy(np.repeat(np.arange(size), genes)), torch.from_numpy(ptr)


def _coo(
    phenotypes: npt.NDArray[np.float64], dataset: Dataset, prefix: str
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Values, ranks of their phenotypes, and where those of each sample begin."""
    measured = dataset._measured[prefix]
    values = phenotypes[:, measured.columns]
    there = ~np.isnan(values)
    if prefix == "phenotype":
        missing = ~there.any(axis=1)
        if not values.shape[1]:
            values, there = np.full((len(values), 1), np.nan), np.ones((len(values), 1), bool)
        else:
            there[missing, 0] = True  # one NaN of the first phenotype
    ranks = measured.ranks if len(measured.ranks) else np.zeros(1, np.int64)
    starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
    of = np.broadcast_to(ranks[: values.shape[1]], values.shape)
    return values[there].astype(np.float32), of[there], starts
