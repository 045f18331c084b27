"""Loaders of batches, and what joins samples to one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence, Sized
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch_geometric.data
from torch import Tensor
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild._table.rows import is_bool
from tcbuild.torch._attributes import Attributes, perturbed_of
from tcbuild.torchcell._batch import Batch
from tcbuild.torchcell._dataset import Dataset, Rows, Sample, gene_values
from tcbuild.torchcell._deferred import Values
from tcbuild.torchcell._examples import Lengths
from tcbuild.torchcell._shared import Keys

_MANY = 10**7  # indices take torch's shuffle half a minute and 0.5 GB
_SHAPE = {"edge_index", "hyperedge_index", "num_nodes", "num_edges"}  # all samples have the same


class LazyCollater:
    """Joins samples of a tcbuild.torchcell.Dataset into a Batch: a DataLoader's collate_fn.

    follow_batch: keys of node types, such as perturbation_indices, for which the batch has
        KEY_batch and KEY_ptr

    Samples may come from several datasets (ConcatDataset) with the same graph and reaction rule;
    otherwise it is a ValueError. Samples of SubgraphRepresentation and DCellGraphProcessor become a
    Batch of torch_geometric.
    """

    def __init__(self, follow_batch: Sequence[str] | None = None):
        self.follow_batch = list(follow_batch or ())

    def __call__(self, samples: Sequence[Any]) -> HeteroData:
        view = samples.dataset if isinstance(samples, Rows) else samples
        if isinstance(view, Dataset) and view.made_of_columns and len(view):
            return self._of_columns(view)
        samples = list(samples)
        if samples and isinstance(samples[0], HeteroData) and not self._has_graph(samples[0]):
            return torch_geometric.data.Batch.from_data_list(samples, self.follow_batch)
        dataset = _dataset_of(samples)
        parts, keys = [sample.parts() for sample in samples], dataset.of_graph
        if any(found != keys for found, _ in parts):  # a transform used or changed them
            keys, contents = _changed(samples)
        else:
            contents = [values for _, values in parts]
        values, lengths = _joined(contents, self.follow_batch)
        genes = [sample._genes.numpy() for sample in samples]
        ptr = np.cumsum([0, *map(len, genes)])
        return self._batch(
            dataset,
            [sample._dataset.stored.whole for sample in samples],
            np.array([sample._stored.index for sample in samples]),
            (np.concatenate(genes), ptr),
            keys,
            values,
            lengths,
            [sample._stored.id for sample in samples],
        )

    def _of_columns(self, dataset: Dataset) -> Batch:
        """The batch of a view, without an object for each sample."""
        stored, whole, noted = dataset.stored, dataset.stored.whole, dataset._noted
        deleted, ptr, phenotypes = stored.perturbations(slice(None))
        indices = stored.indices
        attributes = [whole._table.attributes(i, noted) for i in indices.tolist() if noted]
        gene: dict[str, Any] = {}
        lengths: dict[str, Any] = {}
        parts = gene_values(dataset, deleted, ptr, phenotypes, attributes)
        for key, (value, counts) in parts.items():
            gene[key] = torch.from_numpy(value) if isinstance(value, np.ndarray) else value
            lengths[key] = counts
            if key in self.follow_batch:
                if isinstance(value, list):
                    counts = counts.copy()
                    counts[counts > 0] = [*map(len, value)]
                gene |= _followed(key, np.maximum(counts, 0))
        values: Values = {"gene": gene}
        of_genes, keys = (deleted, ptr), dataset.of_graph
        return self._batch(dataset, [whole], indices, of_genes, keys, values, {"gene": lengths})

    def _batch(
        self,
        dataset: Dataset,
        stored: list[tcbuild.Dataset],
        indices: npt.NDArray[np.int64],
        deleted: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
        keys: Keys | None,
        values: Values,
        lengths: Lengths,
        ids: list[str] | None = None,
    ) -> Batch:
        """The batch of samples with these indices in the whole datasets stored: one for each, or
        one for all. dataset: the first sample's. deleted: genes and ptr. ids: None for those that
        the dataset has
        """
        every = stored * (len(indices) // len(stored))
        if dataset.graph_processor != "Perturbation":
            values[None] = {"num_graphs": len(indices)}
        gene = values["gene"]
        return Batch(
            dataset._shared,
            torch.from_numpy(deleted[0]),
            keys,
            values,
            _ptr=torch.from_numpy(deleted[1]),
            _size=len(indices),
            _follow=self.follow_batch,
            _deleted=deleted,  # they stay on the host
            _indices=indices,
            _ids=ids,
            _lengths=lengths,
            _targets=len(dataset.phenotypes),
            _perturbed=list(perturbed_of(stored, indices, *deleted)),
            _attributes=Attributes(every, indices.tolist(), dataset.attributes),
            _coo=gene["phenotype_values"].clone(),
            _coo_ranks=(gene["phenotype_type_indices"].numpy(),),
        )

    @staticmethod
    def _has_graph(sample: HeteroData) -> bool:
        if isinstance(sample, Sample) or not sample.node_types:
            return True
        return bool(sample.edge_types) and not any("x_pert" in of for of in sample.node_stores)


class DataLoader(torch.utils.data.DataLoader[HeteroData]):
    """torch's DataLoader whose batches are Batch, with all of its options.

    shuffle=True makes a list of all indices first. Of many samples, such as computed sets, take
    sampler=tcbuild.torch.RandomSampler(dataset), which makes none.

    dataset: a tcbuild.torchcell.Dataset, or a Subset of one
    follow_batch: see LazyCollater
    """

    def __init__(
        self,
        dataset: torch.utils.data.Dataset[HeteroData],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        follow_batch: Sequence[str] | None = None,
        **options: Any,
    ):
        _check_indices(dataset)
        if shuffle and isinstance(dataset, Sized) and len(dataset) >= _MANY:
            warnings.warn(
                f"shuffle {len(dataset):,} samples: torch lists all of them before the first "
                "batch\nhint: sampler=tcbuild.torch.RandomSampler(dataset) in place of "
                "shuffle=True needs neither time nor memory",
                stacklevel=2,
            )
        options.pop("collate_fn", None)  # Lightning passes on the one that it finds
        self.follow_batch = follow_batch  # where Lightning looks for it
        super().__init__(
            dataset, batch_size, shuffle, collate_fn=LazyCollater(follow_batch), **options
        )


def _check_indices(dataset: Any) -> None:
    """Refuses booleans as indices of a Subset, also of one within another or a ConcatDataset. The
    outer one takes them for 0 and 1, so a dataset never sees them.
    """
    if isinstance(dataset, torch.utils.data.ConcatDataset):
        for part in dataset.datasets:
            _check_indices(part)
    if not isinstance(dataset, torch.utils.data.Subset):
        return
    if any(type(index) is not int and is_bool(index) for index in dataset.indices):
        raise TypeError(
            "load samples: found booleans as the indices of a Subset, expected numbers\n"
            "hint: dataset[booleans] is a view of a dataset; Subset takes np.flatnonzero(booleans)"
        )
    _check_indices(dataset.dataset)


def _dataset_of(samples: Sequence[Any]) -> Dataset:
    """The first sample's dataset, after checking that all can be in one batch."""
    if not samples:
        raise ValueError("collate: found no sample, expected at least one")
    for sample in samples:
        if not isinstance(sample, Sample) or "_shared" not in sample.__dict__:
            raise TypeError(
                f"collate: found a {type(sample).__name__}, expected samples of a "
                "tcbuild.torchcell.Dataset\n"
                "hint: a transform may change a sample or copy.copy of it, but not make a new one"
            )
    first: Dataset = samples[0]._dataset
    for dataset in {id(sample._dataset): sample._dataset for sample in samples}.values():
        for what in ("mask_basis", "phenotypes", "statistics", "graph_processor", "attributes"):
            found, expected = getattr(dataset, what), getattr(first, what)
            if found != expected:
                raise ValueError(
                    f"collate: samples of {dataset.stored.path} and {first.stored.path}: {what} "
                    f"{found}, expected {expected}\n"
                    "hint: a batch has one graph, reaction rule and list of phenotypes; give each "
                    "dataset its own loader"
                )
    return first


def _changed(samples: Sequence[Sample]) -> tuple[Keys, list[Values]]:
    """The keys that no sample has changed, and each sample's values of the others."""
    kinds = [(*sample.node_types, *sample.edge_types) for sample in samples]
    made = [sample.parts()[0] or {} for sample in samples]
    of_graph = samples[0]._shared.keys
    keys = {
        kind: [key for key in made[0][kind] if all(key in other.get(kind, ()) for other in made)]
        for kind in kinds[0]
        if kind in of_graph
    }
    contents: list[Values] = []
    for sample, its_kinds in zip(samples, kinds):
        contents.append({})
        for kind in its_kinds:
            store = sample._store(kind)
            changed = {key: store[key] for key in store.keys() if key not in keys.get(kind, ())}
            contents[-1][kind] = changed
            if wrong := _SHAPE & changed.keys() if kind in keys else {"type"}:
                raise ValueError(
                    f"collate: found a new or changed {min(wrong)} of {kind} in a sample, expected "
                    "the dataset graph's\n"
                    "hint: change dataset.cell_graph, which all samples have"
                )
    return keys, contents


def _joined(contents: list[Values], follow_batch: Sequence[str]) -> tuple[Values, Lengths]:
    """Values of samples joined as torchcell does: tensors one after the other, others in a list;
    and the lengths of what is joined.
    """
    joined: Values = {}
    lengths: Lengths = {}
    for kind in dict.fromkeys(kind for content in contents for kind in content):
        of_kind = [content.get(kind, {}) for content in contents]
        joined[kind], lengths[kind] = {}, {}
        for key in dict.fromkeys(key for content in of_kind for key in content):
            values = [content[key] for content in of_kind if key in content]
            tensors = all(isinstance(value, Tensor) for value in values)
            joined[kind][key] = torch.cat(values) if tensors else values
            lengths[kind][key] = [
                (len(content[key]) if tensors else 1) if key in content else -1
                for content in of_kind
            ]
            if key in follow_batch and isinstance(kind, str):
                joined[kind] |= _followed(key, [len(content.get(key, ())) for content in of_kind])
    return joined, lengths


def _followed(key: str, counts: Sequence[int] | npt.NDArray[np.int64]) -> dict[str, Tensor]:
    """KEY_batch and KEY_ptr of a value, given each sample's number of rows."""
    samples = np.repeat(np.arange(len(counts)), counts)
    ptr = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=ptr[1:])
    return {f"{key}_batch": torch.from_numpy(samples), f"{key}_ptr": torch.from_numpy(ptr)}
