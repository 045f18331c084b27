"""Samples joined to batches. No edge is copied: what all samples share is in the graph, not in a
batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

import tcbuild
from tcbuild._lazy import lazy_property
from tcbuild._masks.layout import (
    Form,
    MaskLayout,
    Removals,
    array,
    pinned,
    read_removals,
)
from tcbuild.anndata._samples import CellSamples, cells_of
from tcbuild.errors import ByName, unknown_name
from tcbuild.torch._attributes import Annotated, Attributes, known, perturbed_of
from tcbuild.torch._basis import mark_basis
from tcbuild.torch._blocks import Edges
from tcbuild.torch._filtered import FilteredEdges, masks_changed
from tcbuild.torch._shared import SharedGraph

_MATRICES = ("expression", "control")


@dataclass(frozen=True, eq=False, repr=False)
class Batch(Annotated, FilteredEdges, SharedGraph):
    """B samples. Masks are written at their first use, on the batch's device.

    Attributes:
        sample_indices: int64 [B], in each sample's whole dataset
        sample_ids: names of the samples
        deleted: int64 [K], the deleted genes of all samples, in sample order
        deleted_ptr: int64 [B + 1], sample b deletes `deleted[ptr[b]:ptr[b + 1]]`
        deleted_batch: int64 [K], the sample of each deleted gene
        phenotypes: float64 [B, P], NaN if missing: all numbers of the perturbation set, also
            p-values
        phenotype_names: of the columns of phenotypes
        perturbed: int64 [Q], the genes that samples perturb, deleted or not; None without kinds
        perturbed_kinds: int8 [Q], indices of tcbuild.Dataset.kinds, -1 if unknown
        perturbed_ptr: int64 [B + 1], as deleted_ptr
        expression: [B, columns] of tcbuild.anndata.Cells, dense or CSR
        control: the same of matched controls

    Examples:
        >>> batch = tcbuild.torch.collate(dataset[:4])
        >>> batch.deleted_ptr
        tensor([ 0,  3,  6,  9, 11])
    """

    sample_indices: Tensor
    sample_ids: list[str]
    deleted: Tensor
    deleted_ptr: Tensor
    deleted_batch: Tensor
    phenotypes: Tensor
    phenotype_names: list[str]
    _mask_basis: str
    perturbed: Tensor | None = None
    perturbed_kinds: Tensor | None = None
    perturbed_ptr: Tensor | None = None
    expression: Tensor | None = None
    control: Tensor | None = None
    _removals: Removals | None = None
    _edges: Edges | None = None
    _attributes: Attributes | None = None

    def __post_init__(self) -> None:
        mark_basis(self.deleted, self._mask_basis)

    def __len__(self) -> int:
        return len(self.sample_indices)

    def __repr__(self) -> str:
        size = f"{len(self)} samples, {len(self.deleted)} deleted genes, {self._device()}"
        return f"<Batch: {size}, masks: {', '.join(vars(self).get('masks', ['none made']))}>"

    def phenotype(self, name: str) -> Tensor:
        """A phenotype of all samples: float64 [B], NaN if missing.

        Args:
            name: one of phenotype_names
        """
        if name not in self.phenotype_names:
            raise unknown_name("phenotype", name, self.phenotype_names)
        return self.phenotypes[:, self.phenotype_names.index(name)]

    @lazy_property
    def masks(self) -> dict[str, Tensor]:
        """The masks in the loader's form, by name, in canonical order: views of one buffer."""
        with torch.inference_mode(False):
            masks = ByName("mask", self._removed().masks(self._device()))
        object.__setattr__(self, "_written", _version(masks))
        return masks

    def deleted_genes(self) -> tuple[Tensor, Tensor]:
        """The deleted genes and their ptr, for a MaskGenerator."""
        self._check_masks()
        return self.deleted, self.deleted_ptr

    def _device(self) -> torch.device:
        return self.sample_indices.device

    def _block(self, name: str) -> Tensor:
        return self._of_graph().block(name, len(self), self._device())

    def _of_graph(self) -> Edges:
        if self._edges is None:
            raise AttributeError("found a batch without a dataset\nhint: make it with collate")
        return self._edges

    def _removed(self) -> Removals:
        if self._removals is None:
            raise AttributeError(
                "found a batch collated without masks\n"
                "hint: collate(samples, masks='stacked'), or make them with a MaskGenerator"
            )
        return self._removals

    def _check_masks(self) -> None:
        if "masks" in vars(self) and _version(self.masks) != vars(self)["_written"]:
            raise masks_changed("a mask of the batch")

    def _flat_masks(self) -> dict[str, Tensor]:
        """The masks as bool [B * E]."""
        if self._device().type != "cpu":
            self._check_masks()
        return {name: mask.view(-1) for name, mask in self.masks.items()}

    def to(self, device: torch.device | str | int, non_blocking: bool = False) -> Batch:
        """The batch on a device, where masks are made at their first use. Changed masks are not
        copied.

        Args:
            device: as torch names it
            non_blocking: whether a copy from pinned memory waits for nothing
        """
        batch = self._map(lambda tensor: tensor.to(device, non_blocking=non_blocking))
        if self._removals is not None and self._removals.buffer is not None:
            # It becomes the masks of this batch, so the other one has its own.
            removals = self._removals.map(lambda numbers: array(numbers).copy())
            return replace(batch, _removals=removals)
        return batch

    def pin_memory(self) -> Batch:
        """The batch in page-locked memory. A DataLoader calls it."""
        batch = self._map(Tensor.pin_memory)
        if batch._removals is None:
            return batch
        return replace(batch, _removals=batch._removals.map(pinned))

    def _map(self, function: Callable[[Tensor], Tensor]) -> Batch:
        tensors: dict[str, Any] = {
            name: function(value)
            for name, value in self._fields().items()
            if isinstance(value, Tensor)
        }
        return replace(self, **tensors)

    def _fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __getstate__(self) -> dict[str, Any]:
        # As arrays: between processes a tensor is passed as a file descriptor, which costs more
        # than these few bytes. A matrix is large.
        fields = self._map(Tensor.cpu)._fields()
        if self._removals is not None:
            fields["_removals"] = self._removals.map(array)
        return {
            name: value.numpy() if isinstance(value, Tensor) and name not in _MATRICES else value
            for name, value in fields.items()
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(
                self, name, torch.from_numpy(value) if isinstance(value, np.ndarray) else value
            )
        self.__post_init__()


def _version(masks: dict[str, Tensor]) -> tuple[int, ...]:
    """How often the memory that masks share was written, and which they are."""
    return next(iter(masks.values()))._version, *map(id, masks.values())


def collate(
    samples: Iterable[tcbuild.Sample] | tcbuild.Sample | tcbuild.Dataset | CellSamples,
    masks: Form | None = "stacked",
    attributes: Sequence[str] = (),
) -> Batch:
    """Joins samples into a batch: a DataLoader's collate_fn.

    Args:
        samples: a view such as `dataset[:4]`, or samples of datasets with the same graph, reaction
            rule and phenotypes
        masks: as of DataLoader
        attributes: as of DataLoader

    Raises:
        ValueError: graphs, reaction rules or phenotypes differ

    Examples:
        >>> batch = tcbuild.torch.collate(dataset[:4], masks="concatenated")
        >>> batch.masks["gene"].shape
        torch.Size([240])
    """
    if (cells := cells_of(samples)) is not None:
        return replace(collate(cells.samples, masks, attributes), **cells.tensors())
    if isinstance(samples, tcbuild.Dataset):
        datasets, indices = [samples.whole], samples.indices
        ids = samples._table.ids(indices)
        genes, ptr, phenotypes = samples.perturbations(slice(None))
    else:
        samples = [samples] if isinstance(samples, tcbuild.Sample) else list(samples)
        datasets = _compatible(samples)
        indices = np.array([sample.index for sample in samples])
        ids = [sample.id for sample in samples]
        ptr = np.zeros(len(samples) + 1, np.int64)
        np.cumsum([len(sample.deleted) for sample in samples], out=ptr[1:])
        genes = np.concatenate([sample.deleted for sample in samples]).astype(np.int64)
        phenotypes = np.stack([sample.phenotypes for sample in samples])
        if len({*map(id, datasets)}) == 1:
            datasets = datasets[:1]
    names, removals = known(attributes, datasets[0]), None
    found = perturbed_of(datasets, indices, genes, ptr)
    every, kinds, ends = (None if each is None else torch.from_numpy(each) for each in found)
    if masks is not None:
        sizes = tuple(datasets[0].mask_sizes)
        layout = MaskLayout(tuple(datasets[0].mask_names), sizes, masks)
        removals = read_removals(layout, datasets, indices, genes, ptr)
    return Batch(
        torch.from_numpy(indices),
        ids,
        torch.from_numpy(genes),
        torch.from_numpy(ptr),
        torch.from_numpy(np.repeat(np.arange(len(indices)), np.diff(ptr))),
        torch.from_numpy(phenotypes),
        datasets[0].phenotype_names,
        datasets[0]._mask_basis,
        every,
        kinds,
        ends,
        None,
        None,
        removals,
        Edges.of(datasets[0]),
        Attributes(datasets, indices, names),
    )


def _compatible(samples: list[tcbuild.Sample]) -> list[tcbuild.Dataset]:
    """The dataset of each sample, after checking that they can be in one batch."""
    if not samples:
        raise ValueError(
            "collate: found no sample, expected at least one, because samples determine the masks\n"
            "hint: remove empty batches from the batch sampler; collate(dataset[:0]) makes one"
        )
    for sample in samples:
        if not isinstance(sample, tcbuild.Sample):
            raise TypeError(
                f"collate: found a {type(sample).__name__}, expected samples of a tcbuild.Dataset\n"
                "hint: pass a list of them, or a view: dataset[first:end]"
            )
    datasets = [sample.dataset for sample in samples]
    for dataset in {id(dataset): dataset for dataset in datasets}.values():
        if difference := _difference(dataset, datasets[0]):
            raise ValueError(
                f"collate: samples of {dataset.path} and {datasets[0].path}: {difference}\n"
                "hint: a batch has one graph, reaction rule and list of phenotypes; give each "
                "dataset its own DataLoader"
            )
    return datasets


def _difference(found: tcbuild.Dataset, expected: tcbuild.Dataset) -> str:
    """Why samples of two datasets cannot be in one batch, or ""."""
    sizes, others = (dict(zip(each.mask_names, each.mask_sizes)) for each in (found, expected))
    for name in {**others, **sizes}:
        if sizes.get(name) != others.get(name):
            counts = [f"{of[name]:,} positions" if name in of else "none" for of in (sizes, others)]
            return f"mask {name}: {counts[0]}, expected {counts[1]}"
    for what in ("_mask_basis", "phenotype_names", "kinds"):
        values = getattr(found, what), getattr(expected, what)
        if values[0] != values[1]:
            return f"{what.lstrip('_')} {values[0]}, expected {values[1]}"
    return ""
