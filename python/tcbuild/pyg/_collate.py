"""Joins samples to batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch_geometric.data import HeteroData
from torch_geometric.loader.dataloader import Collater as PyGCollater

from tcbuild.anndata._samples import CellSamples
from tcbuild.errors import SettingsError
from tcbuild.pyg._batch import Batch
from tcbuild.pyg._dataset import Dataset, Rows
from tcbuild.pyg._graph import Keys, Kind, mask_name
from tcbuild.pyg._packed import Lengths, Packed, Small, Values, store_of
from tcbuild.torch._attributes import Attributes, known, perturbed_of

_SHAPE = {"edge_index", "hyperedge_index", "num_nodes", "num_edges"}  # all samples have the same
_JOINED = ("mask_basis", "phenotypes", "statistics", "graph_processor")


class Collater:
    """Joins samples into a Batch: a DataLoader's collate_fn. Samples of several datasets need the
    same graph and reaction rule; otherwise it is a ValueError.

    Args:
        follow_batch: as of DataLoader
        attributes: as of DataLoader

    Examples:
        >>> samples = tcbuild.pyg.Dataset(dataset, ["fitness"])
        >>> batch = tcbuild.pyg.Collater()([samples[0], samples[1]])
    """

    always: tuple[str, ...] = ("deleted",)

    def __init__(
        self, follow_batch: Sequence[str] | str | None = None, attributes: Sequence[str] = ()
    ):
        wanted = [follow_batch] if isinstance(follow_batch, str) else follow_batch or ()
        self.follow_batch, self.attributes = [*wanted], attributes

    def __call__(self, samples: Any) -> Any:
        if isinstance(samples, CellSamples):
            return _with_cells(self(samples.samples), samples.tensors())
        if isinstance(samples, Dataset):
            samples = samples.__getitems__(range(len(samples)))
        if isinstance(samples, Rows) and len(samples):
            return self._batch(samples.dataset._pack(samples.dataset.stored))
        if isinstance(samples, HeteroData):  # of a loader without a batch size
            return samples
        samples = list(samples)
        if not samples:
            raise ValueError("collate: found no sample, expected at least one")
        if not all(isinstance(sample, Small) and sample._packed for sample in samples):
            return self._others(samples)
        first = samples[0]._packed.terms
        for terms in {
            id(sample._packed.terms): sample._packed.terms for sample in samples
        }.values():
            for what in _JOINED:
                found, expected = getattr(terms, what), getattr(first, what)
                if found != expected:
                    raise ValueError(
                        f"collate: samples of {terms.path} and {first.path}: {what} {found}, "
                        f"expected {expected}\n"
                        "hint: a batch has one graph, reaction rule and list of phenotypes; give "
                        "each dataset its own loader"
                    )
        keys, contents = _changed(samples)
        if wrong := _of_another_shape(samples, contents):
            return self._reshaped(samples, wrong)
        values, lengths = self._joined(contents)
        return self._batch(_merged(samples, keys, values, lengths))

    def _others(self, samples: list[Any]) -> Any:
        """What is no sample, as torch_geometric joins it."""
        return PyGCollater(samples, self.follow_batch or None)(samples)

    def _reshaped(self, samples: list[Any], wrong: tuple[Kind, str]) -> Any:
        """Samples of another shape than the graph's, as torch_geometric joins them."""
        for kind, store in (item for sample in samples for item in sample.edge_items()):
            edges, mask = store.get("edge_index"), store.get("mask")
            if edges is not None and mask is not None and edges.size(1) != len(mask):
                raise SettingsError(
                    f"collate: {mask_name(kind)} has {edges.size(1)} edges, a mask of {len(mask)}",
                    "make such changes to the graph before tcbuild.build",
                )
        return self._others([HeteroData.from_dict(sample.to_dict()) for sample in samples])

    def _batch(self, packed: Packed) -> Batch:
        """The batch, with what needs the dataset's files: they are read here, not where it goes."""
        for kind, values in packed.values.items():
            if isinstance(kind, str):
                for key in dict.fromkeys((*self.always, *self.follow_batch)):
                    if key in values:
                        values |= _followed(key, values[key], packed.lengths[kind][key])
        follow = tuple(dict.fromkeys((*self.always, *self.follow_batch)))
        stored, indices = packed.stored, packed.indices
        genes, ptr = packed.genes, packed.ptr
        packed = replace(
            packed,
            follow=follow,
            attributes=Attributes(stored, indices, known(self.attributes, stored[0])),
            perturbed=perturbed_of(stored, indices, genes, ptr),
        )
        if not packed.masked <= {"gene"}:
            packed.with_masks()
        return Batch(packed)

    def _joined(self, contents: list[Values]) -> tuple[Values, Lengths]:
        """Values of samples joined: tensors one after the other, numbers in a tensor, others in a
        list; and the lengths of what is joined.
        """
        joined: Values = {}
        lengths: Lengths = {}
        for kind in dict.fromkeys(kind for content in contents for kind in content):
            of_kind = [content.get(kind, {}) for content in contents]
            joined[kind], lengths[kind] = {}, {}
            for key in dict.fromkeys(key for content in of_kind for key in content):
                values = [content[key] for content in of_kind if key in content]
                joined[kind][key], counts = self._of_key(values)
                there = iter(counts)
                lengths[kind][key] = [next(there) if key in each else -1 for each in of_kind]
        return joined, lengths

    def _of_key(self, values: list[Any]) -> tuple[Any, list[int]]:
        """Some values joined, and how many rows each has."""
        if all(isinstance(value, (Tensor, np.ndarray)) for value in values):
            tensors = [torch.as_tensor(value) for value in values]
            rows = [tensor if tensor.dim() else tensor[None] for tensor in tensors]
            return torch.cat(rows), [*map(len, rows)]
        if all(isinstance(value, (int, float)) for value in values):
            return torch.tensor(values), [1] * len(values)
        return values, [1] * len(values)


def _with_cells(batch: Any, cells: dict[str, Tensor]) -> Any:
    """The batch, as small as it was, with tensors that have a row per sample."""
    if isinstance(batch, Small) and batch.is_small and batch._packed:
        packed, counts = batch._packed, [1] * batch._packed.size
        values = packed.values | {None: packed.values.get(None, {}) | cells}
        lengths = packed.lengths | {
            None: packed.lengths.get(None, {}) | dict.fromkeys(cells, counts)
        }
        return type(batch)(replace(packed, values=values, lengths=lengths))
    for name, value in cells.items():
        setattr(batch, name, value)
    return batch


def _followed(
    key: str, value: Any, counts: Sequence[int] | npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[np.int64]]:
    """KEY_batch and KEY_ptr of a value, given each sample's number of rows; of lists, of items."""
    counts = np.array(counts)
    if isinstance(value, list):
        counts[counts > 0] = [*map(len, value)]
    counts = np.maximum(counts, 0)
    samples = np.repeat(np.arange(len(counts)), counts)
    return {f"{key}_batch": samples, f"{key}_ptr": np.append(0, np.cumsum(counts))}


def _changed(samples: Sequence[Small]) -> tuple[Keys, list[Values]]:
    """The keys that no sample has changed, and each sample's values of the others."""
    if all(sample.is_small for sample in samples):
        packs = [sample._packed for sample in samples if sample._packed]
        return packs[0].keys, [packed.values for packed in packs]
    kinds = [(None, *sample.node_types, *sample.edge_types) for sample in samples]
    same = [
        {
            kind: [key for key in store_of(sample, kind).keys() if sample._unchanged(kind, key)]
            for kind in of_sample
        }
        for sample, of_sample in zip(samples, kinds)
    ]
    keys: Keys = {
        kind: [key for key in of if all(key in other.get(kind, ()) for other in same)]
        for kind, of in same[0].items()
        if kind is not None
    }
    contents: list[Values] = []
    for sample, of_sample in zip(samples, kinds):
        stores = {kind: store_of(sample, kind) for kind in of_sample}
        contents.append(
            {
                kind: {key: store[key] for key in store.keys() if key not in keys.get(kind, ())}
                for kind, store in stores.items()
            }
        )
    return keys, contents


def _of_another_shape(samples: Sequence[Small], contents: list[Values]) -> tuple[Kind, str] | None:
    """What a sample has of another shape than the graph's, or has beside it."""
    for sample, values in zip(samples, contents):
        assert sample._packed
        known = sample._packed.keys
        for kind, of in values.items():
            if kind is not None and kind not in known and kind not in sample._packed.values:
                return kind, "type"
            if wrong := _SHAPE & of.keys() if kind in known else set():
                return kind, min(wrong)
    return None


def _merged(samples: Sequence[Small], keys: Keys, values: Values, lengths: Lengths) -> Packed:
    """Samples as one."""
    packs = [sample._packed for sample in samples if sample._packed]
    stored = [packed.stored[0] for packed in packs]
    dense = [packed.phenotypes for packed in packs if packed.phenotypes is not None]
    return replace(
        packs[0],
        stored=stored[:1] if len({*map(id, stored)}) == 1 else stored,
        indices=np.concatenate([packed.indices for packed in packs]),
        genes=np.concatenate([packed.genes for packed in packs]),
        ptr=np.cumsum([0, *(len(packed.genes) for packed in packs)]),
        keys=keys,
        values=values,
        lengths=lengths,
        removals=None,
        phenotypes=np.concatenate(dense) if len(dense) == len(packs) else None,
    )
