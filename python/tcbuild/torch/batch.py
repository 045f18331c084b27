"""Samples joined to batches. No edge is copied: what all samples share is in the graph, not in a
batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from itertools import cycle, islice
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.data._utils.collate import default_collate_fn_map

import tcbuild
from tcbuild.cell_rows import ROW
from tcbuild.errors import UnknownNameError, unknown_name
from tcbuild.lazy import lazy_property
from tcbuild.torch.attributes import Attributes, Categories
from tcbuild.torch.basis import mark_basis
from tcbuild.torch.dataset import Dataset, Sample
from tcbuild.torch.edges import Edges
from tcbuild.torch.filtered import check_choice, kept_ends, kept_positions, relabelled
from tcbuild.torch.genotypes import per_genotype
from tcbuild.torch.mask_layout import Encoding, Form, MaskLayout
from tcbuild.torch.removed import Removed
from tcbuild.torch.threads import one_thread


@dataclass(frozen=True, eq=False)
class Batch:
    """B samples.

    sample_indices: int64 [B], the index of each sample in its own whole dataset: not in a view or
        Subset, and not in a ConcatDataset, of which two samples in a batch may have the same one
    sample_ids: their names
    perturbation_indices: int64 [K], the deleted genes of all samples, in sample order; not offset
        by sample
    perturbation_indices_ptr: int64 [B + 1], sample b deletes
        perturbation_indices[ptr[b]:ptr[b + 1]]
    perturbation_indices_batch: int64 [K], the sample of each deleted gene
    perturbed_indices, perturbed_kinds, perturbed_ptr: of a set with kinds of perturbations, else
        None: int64 [P], the genes that each sample perturbs, deleted or not; int8 [P], the kind of
        each, an index of tcbuild.Dataset.kinds, -1 if it is not known; int64 [B + 1], sample b
        perturbs perturbed_indices[ptr[b]:ptr[b + 1]]
    phenotypes: float64 [B, P], NaN if missing; the columns are phenotype_names. These are all
        numbers of the perturbation set, including statistics such as p-values and standard errors
        (dataset.stored.phenotypes says which), so select your targets by name:
        batch.phenotype("fitness")
    masks: see below; an error in a batch without masks
    mask_basis: graph and reaction rule of the masks (tcbuild.Dataset.mask_basis)

    A batch is transferred (from a worker, into pinned memory, to a device) as the positions that
    its masks remove, some thousand numbers per sample. The masks are written at their first use.
    Pickling moves a batch to the CPU.
    """

    sample_indices: Tensor
    sample_ids: list[str]
    perturbation_indices: Tensor
    perturbation_indices_ptr: Tensor
    perturbation_indices_batch: Tensor
    phenotypes: Tensor
    phenotype_names: list[str]
    mask_basis: str
    perturbed_indices: Tensor | None = None
    perturbed_kinds: Tensor | None = None
    perturbed_ptr: Tensor | None = None
    _layout: MaskLayout | None = None
    _removals: Tensor | None = None
    _kept_bits: Tensor | None = None
    _removed: Removed | None = None
    _edges: Edges | None = None
    _attributes: Attributes | None = None

    def __post_init__(self) -> None:
        mark_basis(self.perturbation_indices, self.mask_basis)

    def __len__(self) -> int:
        return len(self.sample_indices)

    def phenotype(self, name: str) -> Tensor:
        """A phenotype of all samples, float64 [B], NaN if missing."""
        if name not in self.phenotype_names:
            raise unknown_name("phenotype", name, self.phenotype_names)
        return self.phenotypes[:, self.phenotype_names.index(name)]

    def attribute(self, name: str) -> Tensor | Categories:
        """An attribute of all samples, on the batch's device: of numbers float64 [B], NaN if
        missing; of texts Categories, whose codes are the same in every batch of a dataset. The
        dataset names those that batches have: tcbuild.torch.Dataset(path, attributes=[name]).
        """
        names = self._attributes.names if self._attributes else []
        if self._attributes is None or name not in names:
            raise UnknownNameError(
                f"found attribute {name!r:.100} not among the {len(names)} of the batch\n"
                "hint: name those that batches have: tcbuild.torch.Dataset(path, "
                f"attributes=[{name!r:.100}])"
            )
        return self._attributes.on(self.sample_indices.device, name)

    @property
    def rows(self) -> Tensor:
        """int64 [B], the rows of the samples' cells in their AnnData file: the attribute row that
        tcbuild.anndata.perturbations gives them. tcbuild.anndata.Cells checks the file, too.
        """
        rows = self.attribute(ROW)
        if isinstance(rows, Categories) or bool(rows.isnan().any()):
            raise ValueError(
                "read rows: found samples without a number in the attribute row\n"
                "hint: make the perturbation set with tcbuild.anndata.perturbations"
            )
        return rows.long()

    @lazy_property
    def masks(self) -> dict[str, Tensor]:
        """The masks in collate's form and encoding, by name in canonical order: views of one buffer
        on the batch's device.
        """
        if self._layout is None or self._removals is None:
            raise AttributeError(
                "found a batch collated without masks\n"
                "hint: collate(samples, masks='stacked'), or make them with a MaskGenerator"
            )
        masks = self._layout.masks(len(self), self._removals, self._kept_bits)
        object.__setattr__(self, "_written", _version(masks))
        return masks

    def edge_index(
        self,
        name: str | tuple[str, str, str],
        filtered: bool = False,
        relabel: bool = False,
        edge_weight: bool = False,
    ) -> Any:
        """The edges of a type in all samples, as one graph of B unconnected copies: int64 [2, B *
        E], on the batch's device; node n of sample b is b * N + n. It is shared: do not change it.

        filtered: int64 [2, K], only the edges that are kept, in their order
        relabel: with filtered, nodes are numbered among those that are kept: node features are
            x[batch.kept("gene")]. An edge of gene__gpr__reaction goes with its reaction
        edge_weight: returns (edge_index, weight), all edges and their mask as numbers [B * E]

        A stock layer of PyG takes any of them. On a GPU nothing waits: the host knows the sizes.
        """
        check_choice(filtered, relabel, edge_weight)
        name, masks = "__".join(name) if isinstance(name, tuple) else name, self._flat_masks()
        if self._edges is None or self._removed is None:
            raise AttributeError("found a batch without a dataset\nhint: make it with collate")
        edges, removed = self._edges.of_type(name), self._removed
        edge_index = self._edges.block(name, len(self), masks[name].device)
        if edge_weight:
            return edge_index, masks[name].to(torch.get_default_dtype())
        if not filtered:
            return edge_index
        with one_thread(edge_index.device):
            if not relabel:
                positions = kept_positions(masks[name], lambda: removed.kept(name))
                return edge_index.index_select(1, positions)
            mask = kept_ends(name, edge_index, masks)
            positions = kept_positions(mask, lambda: removed.kept_between_kept(name, edges))
            return relabelled(name, edge_index.index_select(1, positions), masks)

    def kept(self, name: str | tuple[str, str, str]) -> Tensor:
        """int64: which nodes or edges of a type are kept, counted in all samples; x[kept] are their
        features.
        """
        name, masks = "__".join(name) if isinstance(name, tuple) else name, self._flat_masks()
        if name not in masks:
            raise unknown_name("mask", name, masks)
        with one_thread(masks[name].device):
            return kept_positions(masks[name], lambda: self._counted().kept(name))

    def _counted(self) -> Removed:
        assert self._removed is not None  # as it has masks
        return self._removed

    def _flat_masks(self) -> dict[str, Tensor]:
        """The masks as bool [B * E]."""
        masks = self.masks
        layout = self._layout
        assert layout is not None  # as it has masks
        on_device = self.perturbation_indices.device.type != "cpu"
        if on_device and _version(masks) != vars(self)["_written"]:
            raise ValueError(
                "filter edges: masks of the batch were changed, so only the device knows how many "
                "are kept\nhint: edge_index[:, mask] waits for it"
            )
        return {
            name: layout.flat(mask, size) for (name, mask), size in zip(masks.items(), layout.sizes)
        }

    def to(self, device: torch.device | str | int, non_blocking: bool = False) -> Batch:
        """The batch on a device. Masks are made there at their first use; earlier changes to masks
        are not copied.
        """
        return self._map(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> Batch:
        """The batch in page-locked memory, from which `.to(device, non_blocking=True)` copies
        without waiting. A DataLoader calls it.
        """
        return self._map(Tensor.pin_memory)

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
        # than these few bytes.
        return {
            name: value.cpu().numpy() if isinstance(value, Tensor) else value
            for name, value in self._fields().items()
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(
                self, name, torch.from_numpy(value) if isinstance(value, np.ndarray) else value
            )
        self.__post_init__()


def _version(masks: dict[str, Tensor]) -> int:
    """How often the memory that masks share was written."""
    return next(iter(masks.values()))._version


def collate(
    samples: Iterable[Sample] | Sample | Dataset,
    masks: Form | None = "stacked",
    encoding: Encoding = "bool",
) -> Batch:
    """Joins samples of a tcbuild.torch.Dataset into a batch; a DataLoader's collate_fn, also where
    none is given.

    Samples may come from several datasets (ConcatDataset) with the same graph, reaction rule and
    phenotypes; otherwise it is a ValueError. A view, dataset[first:end], gives the batch of its
    samples too, without an object for each.

    masks: `stacked` [B, E] per mask, `concatenated` [B * E] as PyG joins graphs, or None: no mask
        is read (for a MaskGenerator)
    encoding: `bool`, `uint8`, or `bits` (eight positions per byte; see MaskLayout)

    Select other values than the defaults with functools.partial(collate, masks=None). It takes 8
    bytes per removed position.
    """
    if isinstance(samples, Dataset):
        datasets, indices = [samples.stored.whole], samples.stored.indices
        ids = samples.stored._table.ids(indices)
        genes, ptr, phenotypes = samples.stored.perturbations(slice(None))
        names = samples.attributes
    else:
        samples = [samples] if isinstance(samples, Sample) else list(samples)
        datasets = _compatible(samples)
        labels = [sample.stored for sample in samples]
        indices = np.array([label.index for label in labels])
        ids = [label.id for label in labels]
        ptr = np.zeros(len(samples) + 1, np.int64)
        np.cumsum([len(label.perturbation_indices) for label in labels], out=ptr[1:])
        genes = np.concatenate([label.perturbation_indices for label in labels]).astype(np.int64)
        phenotypes = np.stack([label.phenotypes for label in labels])
        names = _attributes_of_all(samples)
    layout = removals = kept_bits = removed = None
    if masks is not None:
        layout = MaskLayout(
            tuple(datasets[0].mask_names), tuple(datasets[0].mask_sizes), masks, encoding
        )
        parts = per_genotype(
            genes, ptr, lambda b: datasets[b % len(datasets)].read_removed(indices[b])
        )
        removals, kept_bits = layout.removals(parts)
        removed = Removed(layout.names, layout.sizes, parts)
    attributes = Attributes([*islice(cycle(datasets), len(indices))], indices.tolist(), names)
    return Batch(
        torch.from_numpy(indices),
        ids,
        torch.from_numpy(genes),
        torch.from_numpy(ptr),
        torch.from_numpy(np.repeat(np.arange(len(indices)), np.diff(ptr))),
        torch.from_numpy(phenotypes),
        datasets[0].phenotype_names,
        datasets[0].mask_basis,
        *_perturbed(datasets, indices, genes, ptr),
        layout,
        removals,
        kept_bits,
        removed,
        Edges.of(datasets[0]),
        attributes,
    )


def _perturbed(
    datasets: list[tcbuild.Dataset],
    indices: npt.NDArray[np.int64],
    genes: npt.NDArray[np.int64],
    ptr: npt.NDArray[np.int64],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The perturbed genes of samples, their kinds, and where those of each sample begin."""
    if not datasets[0].kinds:
        return None, None, None
    found = []
    for b, (dataset, index) in enumerate(zip(cycle(datasets), indices.tolist())):
        kinds = dataset._kinds
        text = dataset._table.attributes(index, [kinds.attribute])[kinds.attribute]
        found.append(kinds.of(genes[ptr[b] : ptr[b + 1]], text))
    ends = np.cumsum([0, *(len(perturbed) for perturbed, _ in found)], dtype=np.int64)
    return (
        torch.from_numpy(np.concatenate([perturbed for perturbed, _ in found]).astype(np.int64)),
        torch.from_numpy(np.concatenate([codes for _, codes in found])),
        torch.from_numpy(ends),
    )


# What a DataLoader without a collate_fn calls.
default_collate_fn_map[Sample] = lambda samples, *, collate_fn_map=None: collate(samples)


def _compatible(samples: list[Sample]) -> list[tcbuild.Dataset]:
    """The dataset of each sample, after checking that they can be in one batch."""
    if not samples:
        raise ValueError(
            "collate: found no sample, expected at least one, which says what its masks are\n"
            "hint: leave empty batches out of the batch sampler; the view dataset[:0] gives one"
        )
    for sample in samples:
        if not isinstance(sample, Sample):
            raise TypeError(
                f"collate: found a {type(sample).__name__}, expected samples of a "
                "tcbuild.torch.Dataset\n"
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


def _attributes_of_all(samples: list[Sample]) -> tuple[str, ...]:
    """The attributes that batches of the samples have."""
    expected = samples[0].attributes
    if other := next((sample for sample in samples if sample.attributes != expected), None):
        raise ValueError(
            f"collate: samples of {other.dataset.path} and {samples[0].dataset.path}: attributes "
            f"{list(other.attributes)}, expected {list(expected)}\n"
            "hint: give the datasets of a batch the same attributes"
        )
    return expected


def _difference(found: tcbuild.Dataset, expected: tcbuild.Dataset) -> str:
    """Why samples of two datasets cannot be in one batch, or ""."""
    sizes, others = (dict(zip(each.mask_names, each.mask_sizes)) for each in (found, expected))
    for name in {**others, **sizes}:
        if sizes.get(name) != others.get(name):
            counts = [f"{of[name]:,} positions" if name in of else "none" for of in (sizes, others)]
            return f"mask {name}: {counts[0]}, expected {counts[1]}"
    for what in ("mask_basis", "phenotype_names", "kinds"):
        values = getattr(found, what), getattr(expected, what)
        if values[0] != values[1]:
            return f"{what} {values[0]}, expected {values[1]}"
    return ""
