"""Batches as torchcell's LazyCollater makes them. Only what differs between samples is sent; the
rest is made on the model's device.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from typing import Any

import numpy as np
import torch
import torch_geometric.data
from torch import Tensor
from torch_geometric.data import HeteroData

from tcbuild.pyg.dataset import Dataset, Sample
from tcbuild.pyg.deferred import Deferred, Values
from tcbuild.pyg.shared import Keys, Kind, Shared
from tcbuild.rows import is_bool

_SHAPE = {"edge_index", "hyperedge_index", "num_nodes", "num_edges"}  # all samples have the same


class Batch(Deferred):
    """B samples as one graph, with the keys and values of torchcell's LazyCollater.

    edge types: edge_index or hyperedge_index of B unconnected copies of the graph, stoichiometry
        and mask, one sample after the other; num_edges, a list
    node types: mask, pert_mask, x, batch (the sample of each node), ptr; num_nodes of all samples;
        lists of what is not a tensor, such as node_ids
    gene: what each sample has of its own, one after the other
    data: num_graphs

    What is the same in every batch is laid out once per device, for the largest batch, and shared:
    do not change it in place. It is there, and masks are written, as soon as anything is asked for,
    on the device on which the batch is by then. So move it first: `batch = batch.to(device)`.
    """

    def _masks(self) -> dict[str, Tensor]:
        masks: dict[str, Tensor] = self._shared.masks(self._genes, self._ptr)
        return masks

    def _of_graph(self, kind: Kind, key: str) -> Any:
        return self._shared.of_batch(kind, key, self._size, self._genes.device)

    def _make(self, kind: Kind, keys: Iterable[str], masks: dict[str, Tensor]) -> dict[str, Any]:
        if isinstance(kind, str):
            followed = [key for key in self._follow if key in keys]
            more = (f"{key}_{what}" for key in followed for what in ("batch", "ptr"))
            keys = dict.fromkeys([*keys, "batch", "ptr", *more])
        return super()._make(kind, keys, masks)

    def to(self, device: Any, *keys: str, non_blocking: bool = False) -> Batch:
        """Moves it to a device. What is the same in every batch is there already, and masks that
        nobody changed are made there.
        """
        if keys:
            super().to(device, *keys, non_blocking=non_blocking)
        else:
            self._move(lambda tensor: tensor.to(device, non_blocking=non_blocking))
        return self

    def cpu(self, *keys: str) -> Batch:
        return self.to("cpu", *keys)

    def cuda(self, device: Any = None, *keys: str, non_blocking: bool = False) -> Batch:
        return self.to("cuda" if device is None else device, *keys, non_blocking=non_blocking)

    def pin_memory(self, *keys: str) -> Batch:
        """Moves what will be sent to a device to page-locked memory."""
        self._move(Tensor.pin_memory)
        return self

    def _move(self, move: Any) -> None:
        fields = self._unmade(move)
        self.__dict__.clear()
        self.__dict__.update(fields)


class LazyCollater:
    """Joins samples of a tcbuild.pyg.Dataset into a Batch: a DataLoader's collate_fn.

    follow_batch: keys of node types, such as perturbation_indices, for which the batch has
        KEY_batch and KEY_ptr

    Samples may come from several datasets (ConcatDataset) with the same graph and reaction rule;
    otherwise it is a ValueError. Samples without the graph become a Batch of torch_geometric.
    """

    def __init__(self, follow_batch: Sequence[str] | None = None):
        self.follow_batch = list(follow_batch or ())

    def __call__(self, samples: Sequence[Any]) -> HeteroData:
        if samples and isinstance(samples[0], HeteroData) and not self._has_graph(samples[0]):
            return torch_geometric.data.Batch.from_data_list(list(samples), self.follow_batch)
        shared = _shared_by(samples)
        parts = [sample.parts() for sample in samples]
        if any(keys is not None for keys, _ in parts):  # a transform used or changed them
            keys, contents = _changed(samples)
        else:
            keys, contents = None, [values for _, values in parts]
        values = _joined(contents, self.follow_batch)
        values[None] = {"num_graphs": len(samples)}
        genes = [sample._genes for sample in samples]
        return Batch(
            shared,
            torch.cat(genes),
            keys,
            values,
            _ptr=_ends(genes),
            _size=len(samples),
            _follow=self.follow_batch,
        )

    @staticmethod
    def _has_graph(sample: HeteroData) -> bool:
        return isinstance(sample, Sample) or not sample.node_types or bool(sample.edge_types)


class DataLoader(torch.utils.data.DataLoader[HeteroData]):
    """torch's DataLoader whose batches are Batch, with all of its options.

    dataset: a tcbuild.pyg.Dataset, or a Subset of one
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


def _shared_by(samples: Sequence[Any]) -> Shared:
    """What the samples' datasets share, after checking that they can be in one batch."""
    if not samples:
        raise ValueError("collate: found no sample, expected at least one")
    for sample in samples:
        if not isinstance(sample, Sample) or "_shared" not in sample.__dict__:
            raise TypeError(
                f"collate: found a {type(sample).__name__}, expected samples of a "
                "tcbuild.pyg.Dataset\n"
                "hint: a transform may change a sample or copy.copy of it, but not make a new one"
            )
    first: Dataset = samples[0]._dataset
    for dataset in {id(sample._dataset): sample._dataset for sample in samples}.values():
        for what in ("mask_basis", "phenotypes", "statistics"):
            found, expected = getattr(dataset, what), getattr(first, what)
            if found != expected:
                raise ValueError(
                    f"collate: samples of {dataset.stored.path} and {first.stored.path}: {what} "
                    f"{found}, expected {expected}\n"
                    "hint: a batch has one graph, reaction rule and list of phenotypes; give each "
                    "dataset its own loader"
                )
    return first._shared


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
                    "that of the dataset's graph\n"
                    "hint: change dataset.cell_graph, which all samples have"
                )
    return keys, contents


def _joined(contents: list[Values], follow_batch: Sequence[str]) -> Values:
    """Values of samples joined as torchcell does: tensors one after the other, others in a list."""
    joined: Values = {}
    for kind in dict.fromkeys(kind for content in contents for kind in content):
        of_kind = [content.get(kind, {}) for content in contents]
        joined[kind] = {}
        for key in dict.fromkeys(key for content in of_kind for key in content):
            values = [content[key] for content in of_kind if key in content]
            tensors = all(isinstance(value, Tensor) for value in values)
            joined[kind][key] = torch.cat(values) if tensors else values
            if key in follow_batch and isinstance(kind, str):
                ptr = _ends([content.get(key, ()) for content in of_kind])
                sample = np.repeat(np.arange(len(of_kind)), np.diff(ptr))
                joined[kind] |= {f"{key}_batch": torch.from_numpy(sample), f"{key}_ptr": ptr}
    return joined


def _ends(parts: Sequence[Sized]) -> Tensor:
    """Where each part begins when they follow each other, and where the last one ends."""
    return torch.from_numpy(np.cumsum([0, *map(len, parts)]))
