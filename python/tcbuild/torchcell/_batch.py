"""Batches as torchcell's LazyCollater makes them. Only what differs between samples is sent; the
rest is made on the model's device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from tcbuild._graph.graph import split_edge_type
from tcbuild._lazy import lazy_property
from tcbuild._masks.genotypes import Genotypes
from tcbuild._masks.removed import Removed
from tcbuild._table.rows import position, selected, selects_several
from tcbuild.errors import unknown_name
from tcbuild.torch._attributes import Annotated
from tcbuild.torch._filtered import FilteredEdges
from tcbuild.torch._threads import one_thread
from tcbuild.torchcell._deferred import Deferred, Maker, is_same
from tcbuild.torchcell._examples import Lengths, example
from tcbuild.torchcell._shared import Keys, Kind, mask_name


class Batch(Annotated, FilteredEdges, Deferred):
    """B samples as one graph, with the keys and values of torchcell's LazyCollater.

    edge types: edge_index or hyperedge_index of B unconnected copies of the graph, stoichiometry
        and mask, one sample after the other; num_edges, a list
    node types: mask, pert_mask, x, batch (the sample of each node), ptr; num_nodes of all samples;
        lists of what is not a tensor, such as node_ids
    gene: what each sample has of its own, one after the other
    data: num_graphs

    perturbed, perturbed_kinds, perturbed_ptr, attribute() and rows are those of a
    tcbuild.torch.Batch. Batches of Perturbation's samples have genes alone, as those have.

    batch[0], batch[2:5], to_data_list() and iteration give the samples, as in PyG's Batch.

    What is the same in every batch is laid out once per device, for the largest batch, and shared:
    do not change it in place. It is there, and masks are written, as soon as anything is asked for,
    on the device on which the batch is by then. So move it first: `batch = batch.to(device)`. The
    first batch of a size waits for that, 23 ms per sample of a yeast graph on a CPU;
    Dataset.lay_out does it ahead.

    edge_index is that of the whole graph: layers that take no mask pass messages along removed
    edges, too, HeteroConv among them. Give them masked_edge_index_dict().
    """

    _ptr: Tensor
    _size: int
    _follow: list[str]
    _deleted: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]  # genes and ptr, on the host
    _indices: npt.NDArray[np.int64]  # in the whole dataset
    _ids: list[str] | None  # None for those that the dataset has
    _lengths: Lengths
    _targets: int
    _coo: Tensor  # phenotype_values as the loader made them
    _coo_ranks: tuple[npt.NDArray[np.int64]]
    _perturbed: list[Tensor | None]

    def _maker(self, keys: Keys) -> Maker:
        followed = [f"{key}_{what}" for key in self._follow for what in ("batch", "ptr")]
        for kind in keys:
            if isinstance(kind, str):
                more = [key for key in followed if key.rpartition("_")[0] in keys[kind]]
                keys[kind] = list(dict.fromkeys([*keys[kind], "batch", "ptr", *more]))
        return _OfBatch(self, keys)

    @property
    def num_graphs(self) -> int:
        """The number of samples."""
        return len(self)

    @property
    def sample_id(self) -> list[str]:
        """The samples' names."""
        return self._ids or self._shared.stored._table.ids(self._indices)

    @property
    def mask_basis(self) -> str:
        """Graph and reaction rule of the masks (tcbuild.Dataset.mask_basis)."""
        return self._shared.stored.mask_basis

    @property
    def phenotypes(self) -> Tensor:
        """The targets, float32 [B, P], NaN if missing; its columns are the dataset's phenotypes.
        Later changes to phenotype_values are not in it. It is an error if a sample has several
        values of a phenotype, which only the COO form can hold.
        """
        values, count = self._coo, max(self._targets, 1)
        starts = np.arange(len(self)) * count
        places = np.repeat(starts, self._lengths["gene"]["phenotype_values"]) + self._coo_ranks[0]
        if len(places) and np.bincount(places).max() > 1:
            raise ValueError(
                "make targets [B, P]: a sample has several values of a phenotype\n"
                "hint: use phenotype_values with phenotype_type_indices, or build the dataset with "
                "one value per genotype and phenotype (--duplicates)"
            )
        dense = values.new_full((len(self) * count,), torch.nan)
        dense[torch.from_numpy(places).to(dense.device)] = values
        return dense.view(-1, count)[:, : self._targets]

    @property
    def perturbed(self) -> Tensor | None:
        """int64 [P], the genes that each sample perturbs, deleted or not; None without kinds."""
        return self._perturbed[0]

    @property
    def perturbed_kinds(self) -> Tensor | None:
        """int8 [P], the kind of each: an index of tcbuild.Dataset.kinds, -1 if it is not known."""
        return self._perturbed[1]

    @property
    def perturbed_ptr(self) -> Tensor | None:
        """int64 [B + 1], sample b perturbs perturbed[ptr[b]:ptr[b + 1]]."""
        return self._perturbed[2]

    @property
    def genotypes(self) -> Genotypes | None:
        """For a MaskGenerator, which makes the masks of each genotype once."""
        found = Genotypes.of(*self._deleted)
        return found and found.to(self._device())

    def deleted_genes(self) -> tuple[Tensor, Tensor]:
        """perturbation_indices and their ptr, for a MaskGenerator; nothing else is made."""
        return self.parts()[1]["gene"]["perturbation_indices"], self._ptr

    def __len__(self) -> int:
        return int(self._size)

    def __getitem__(self, *args: Any) -> Any:
        index = args[0]
        if isinstance(index, str) or (type(index) is tuple and isinstance(index[0], str)):
            return super().__getitem__(*args)
        if selects_several(index):
            return [example(self, i) for i in selected(range(self._size), index)]
        return example(self, position(index, self._size))

    def __iter__(self) -> Iterator[HeteroData]:
        return (example(self, index) for index in range(self._size))

    def get_example(self, index: int) -> HeteroData:
        """A sample of the batch."""
        return self[index]

    def to_data_list(self) -> list[HeteroData]:
        """The samples of the batch."""
        return list(self)

    def to_homogeneous(self, *_: Any, **__: Any) -> Any:
        raise ValueError(
            "make a batch homogeneous: its edge types have masks, which would be lost\n"
            "hint: use the kept edges of each edge type: batch.edge_index(NAME, filtered=True)"
        )

    def masked_edge_index_dict(self) -> dict[tuple[str, str, str], Tensor]:
        """What is left of edge_index_dict, for layers without masks such as HeteroConv's. Edges are
        in no certain order: where attributes go with them, use edge_index and kept.

        Little is written: in a copy of the edges that the process keeps, the last edges take the
        places of those that are removed. The copy is this batch's until nothing refers to the
        tensors any more. Memory: that of edge_index_dict for each batch that has them at a time.
        """
        graph = self._shared.keys.items()
        kinds = [kind for kind, keys in graph if isinstance(kind, tuple) and "edge_index" in keys]
        removed, parts = self._counted(), self._removed_parts
        positions = {kind: removed.addresses(mask_name(kind), parts) for kind in kinds}
        with one_thread(self._genes.device):
            patched = self._shared.patched(self._genes.device)
            edges: dict[tuple[str, str, str], Tensor] = patched.edges(positions, self._size)
        return edges

    @property
    def _removed_parts(self) -> list[Any]:
        """Per sample its removed positions, ascending."""
        if "_parts" not in self.__dict__:
            self.__dict__["_parts"] = self._shared.removed(*self._deleted)
        parts: list[Any] = self.__dict__["_parts"]
        return parts

    def _device(self) -> torch.device:
        return self._genes.device

    def _block(self, name: str) -> Tensor:
        kind = split_edge_type(name)
        if kind not in self.edge_types:
            raise unknown_name("edge type", name, [*map(mask_name, self.edge_types)])
        return self._shared.edge_index(kind, self._size, self._device())

    def _edges_of_graph(self, name: str) -> npt.NDArray[np.int64]:
        cpu = torch.device("cpu")
        edges: npt.NDArray[np.int64] = self._shared.edge_index(
            split_edge_type(name), 1, cpu
        ).numpy()
        return edges

    def _counted(self) -> Removed:
        stored = self._shared.stored
        return Removed(stored.mask_names, stored.mask_sizes, self._removed_parts)

    def _flat_masks(self) -> dict[str, Tensor]:
        made = {
            mask_name(kind): (self._store(kind)["mask"], self._made.get(kind, {}).get("mask"))
            for kind in (*self.node_types, *self.edge_types)
            if "mask" in self._store(kind)
        }
        on_device = self._genes.device.type != "cpu"
        if changed := [of for of, each in made.items() if on_device and not is_same(*each)]:
            raise ValueError(
                f"filter edges: the mask of {changed[0]} was changed, so only the device knows how "
                "many are kept\nhint: edge_index[:, mask] waits for it"
            )
        return {of: mask for of, (mask, _) in made.items()}

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


class _OfBatch(Maker):
    def __init__(self, batch: Batch, keys: Keys):
        super().__init__(batch._shared, batch._genes, keys)
        self.ptr, self.deleted, self.size = batch._ptr, batch._deleted, batch._size

    @lazy_property
    def masks(self) -> dict[str, Tensor]:
        if self.of_genes:
            return self.shared.gene_masks(self.deleted, self.genes.device)
        return self.shared.masks(self.genes, self.ptr, self.deleted)

    def of_graph(self, kind: Kind, key: str) -> Any:
        return self.shared.of_batch(kind, key, self.size, self.genes.device)
