"""Batches as HeteroData: B unconnected copies of the graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from tcbuild._graph.graph import MRM, split_edge_type
from tcbuild._lazy import uncompiled
from tcbuild._masks.layout import Removals, sent
from tcbuild._table.rows import position, selected, selects_several
from tcbuild.errors import SettingsError, unknown_name
from tcbuild.pyg._graph import EDGES, Kind, edges_key, mask_name, version_of
from tcbuild.pyg._packed import Packed, Small, store_of
from tcbuild.torch._attributes import Annotated, Attributes
from tcbuild.torch._blocks import Edges
from tcbuild.torch._filtered import FilteredEdges, kept_positions, masks_changed
from tcbuild.torch._shared import SharedGraph


class Batch(Annotated, FilteredEdges, SharedGraph, Small):
    """B samples as one graph, as torch_geometric joins them. perturbed, perturbed_kinds,
    perturbed_ptr, edge_index(), kept() and attribute() work as in tcbuild.torch.Batch; `batch[0]`,
    `batch[2:5]` and iteration give samples.

    - edge types: edge_index of B unconnected copies of the graph, mask bool [B * E], true where
      kept
    - node types: mask, num_nodes of all samples, batch (the sample of each node), ptr; the graph's
      columns, once for each sample
    - gene: deleted, deleted_batch and deleted_ptr
    - data: y float32 [B, P], the phenotypes that Dataset names, NaN if missing; sample_id

    edge_index has every edge of the graph, so stock layers also use removed edges: give them
    masked_edge_index_dict(). Tensors are made together, when the first is asked for, on the device
    that `.to(device)` names. Writing to them changes only this batch.
    """

    _is_batch = True
    _packed: Packed

    @property
    def num_graphs(self) -> int:
        """The number of samples."""
        return len(self)

    @property
    def sample_id(self) -> list[str]:
        """The samples' names."""
        stored, indices = self._packed.stored, self._packed.indices
        if len(stored) == 1:
            names: list[str] = stored[0]._table.ids(indices)
            return names
        return [of._table.ids([index])[0] for of, index in zip(stored, indices)]

    @property
    def _mask_basis(self) -> str:
        return self._packed.graph.stored._mask_basis

    @property
    def phenotypes(self) -> Tensor:
        """The targets, float32 [B, P], NaN if missing; columns as Dataset names them: y. Those of
        tcbuild.torchcell are the dataset's, whatever is changed; several values of a phenotype in a
        sample are an error.
        """
        if not self._packed.terms.graph_processor:
            return self._columns_of_y()
        if (values := self._packed.phenotypes) is None:
            raise ValueError(
                "make targets [B, P]: a sample has several values of a phenotype\n"
                "hint: use phenotype_values with phenotype_type_indices, or build the dataset with "
                "one value per genotype and phenotype (--duplicates)"
            )
        return torch.from_numpy(values).to(self._device())

    def _columns_of_y(self) -> Tensor:
        store = self._packed.values.get(None, {}) if self.is_small else self._global_store
        y, names = store.get("y"), self._packed.terms.phenotypes
        if (shape := [*getattr(y, "shape", ())]) != [len(self), len(names)]:
            raise SettingsError(
                f"give phenotypes: found y {shape}, expected {[len(self), len(names)]} of {names}",
                "use batch.y as it is, or keep its columns when changing it",
            )
        return torch.as_tensor(y).float()

    def phenotype(self, name: str) -> Tensor:
        """One of the targets, a column of y: float32 [B], NaN if missing.

        Args:
            name: one that Dataset names
        """
        names = self._packed.terms.phenotypes
        if name not in names:
            raise unknown_name("phenotype", name, names)
        return self.phenotypes[:, names.index(name)]

    @property
    def perturbed(self) -> Tensor | None:
        """int64 [P], the genes that each sample perturbs, deleted or not; None without kinds."""
        return self._perturbed(0)

    @property
    def perturbed_kinds(self) -> Tensor | None:
        """int8 [P], their kinds: indices of tcbuild.Dataset.kinds, -1 if unknown."""
        return self._perturbed(1)

    @property
    def perturbed_ptr(self) -> Tensor | None:
        """int64 [B + 1], sample b perturbs `perturbed[ptr[b]:ptr[b + 1]]`."""
        return self._perturbed(2)

    def _perturbed(self, place: int) -> Tensor | None:
        found = self._packed.perturbed[place]
        return None if found is None else torch.from_numpy(found).to(self._device())

    @property
    def _attributes(self) -> Attributes | None:  # type: ignore[override]
        return self._packed.attributes

    def deleted_genes(self) -> tuple[Tensor, Tensor]:
        """The deleted genes and their ptr, for a MaskGenerator."""
        self._check_masks()
        both = self._packed.genes, self._packed.ptr
        genes, ptr = (sent(each, self._device()) for each in both)
        return genes, ptr

    def _of_graph(self) -> Edges:
        return Edges.of(self._packed.graph.stored)

    def __len__(self) -> int:
        return self._packed.size if self._packed else 0

    def __getitem__(self, *args: Any) -> Any:
        index = args[0]
        if isinstance(index, str) or (type(index) is tuple and isinstance(index[0], str)):
            return super().__getitem__(*args)
        if selects_several(index):
            return [self._example(i) for i in selected(range(len(self)), index)]
        return self._example(position(index, len(self)))

    def __iter__(self) -> Iterator[HeteroData]:
        return map(self._example, range(len(self)))

    def get_example(self, index: int) -> HeteroData:
        """A sample of the batch.

        Args:
            index: from 0
        """
        return self[index]

    def to_data_list(self) -> list[HeteroData]:
        """The samples of the batch."""
        return list(self)

    def to_homogeneous(self, *_: Any, **__: Any) -> Any:
        """Refused, because masks would be lost: use `batch.edge_index(name, filtered=True)`."""
        raise ValueError(
            "make a batch homogeneous: its edge types have masks, which would be lost\n"
            "hint: use the kept edges of each edge type: batch.edge_index(NAME, filtered=True)"
        )

    def masked_edge_index_dict(self) -> dict[tuple[str, str, str], Tensor]:
        """The kept edges by type, for layers without masks such as HeteroConv, in their order:
        `batch[kind].weight[batch[kind].mask]` are the weights of `[kind]`.
        """
        kinds = [
            kind
            for kind in self.edge_types
            if mask_name(kind) != MRM and "mask" in self[kind] and {*EDGES} & {*self[kind].keys()}
        ]
        return {kind: _masked(self[kind][edges_key(self[kind])], self[kind].mask) for kind in kinds}

    @uncompiled
    def _check_masks(self) -> None:
        packed, device = self._packed, self._device()
        if self.is_small and not any("mask" in of for of in packed.values.values()):
            return
        changed = [
            (kind, key)
            for kind in (*self.node_types, *self.edge_types)
            for key in ("mask", *(EDGES if mask_name(kind) != MRM else ()))
            if key in self[kind] and not self._unchanged(kind, key)
        ]
        masks = replace(packed, removals=None).with_masks().masks(device) if changed else {}
        for kind, key in changed:  # or copied, or moved
            name, value = mask_name(kind), self[kind][key]
            want = masks[name] if key == "mask" else self._of_graph().block(name, len(self), device)
            if value.dtype != want.dtype or not torch.equal(value, want):
                raise masks_changed(f"{key} of {name}")
            self.__dict__["_made"] = self._made | {(kind, key): (value, version_of(value))}

    def _device(self) -> torch.device:
        if self.is_small:
            return torch.device("cpu")
        for store in self.node_stores:
            for value in store.values():
                if isinstance(value, Tensor):
                    return value.device
        return torch.device("cpu")

    def _block(self, name: str) -> Tensor:
        kind = split_edge_type(name)
        if kind not in self.edge_types:
            raise unknown_name("edge type", name, [*map(mask_name, self.edge_types)])
        found: Tensor = self[kind][edges_key(self[kind])]
        return found

    def _removed(self) -> Removals:
        return self._packed.with_masks()

    def _flat_masks(self) -> dict[str, Tensor]:
        kinds = [kind for kind in (*self.node_types, *self.edge_types) if "mask" in self[kind]]
        if self._device().type != "cpu":
            self._check_masks()
        return {mask_name(kind): self[kind].mask for kind in kinds}

    def _example(self, index: int) -> HeteroData:
        """Sample number index, on the batch's device, with what was changed in the batch."""
        graph, data = self._packed.graph, HeteroData()
        with torch.inference_mode(False):
            alone = graph.tensors(self._packed.keys, 1, self._device())
        if "num_graphs" in self._global_store:  # as torchcell's batches of the whole graph have it
            data.sample_id, data.mask_basis = self.sample_id[index], self._mask_basis
        for kind in (None, *self.node_types, *self.edge_types):
            own, target = store_of(self, kind), store_of(data, kind)
            for key in own.keys():
                if key in self._packed.of_batches(kind):
                    continue
                if key not in ("mask", "pert_mask") and self._unchanged(kind, key):
                    shared = (kind, key) in alone
                    target[key] = alone[kind, key] if shared else graph.of_sample(kind, key)
                elif (length := self._length(kind, key)) is None or length[index] >= 0:
                    target[key] = _part(own[key], length, index, len(self), f"{kind}/{key}")
        return data

    def _length(self, kind: Kind, key: str) -> Any:
        """Of each sample's part of a value, its number of rows, -1 for none; None if unknown."""
        lengths = self._packed.lengths.get(kind, {}).get(key)
        value, graph = store_of(self, kind)[key], self._packed.graph
        if lengths is not None or not isinstance(value, Tensor) or kind not in self._packed.keys:
            return lengths
        return [graph.rows(kind)] * len(self)


def _masked(edges: Tensor, mask: Tensor) -> Tensor:
    return edges.index_select(1, kept_positions(mask, lambda: int(mask.sum())))


def _part(value: Any, lengths: Any, index: int, size: int, name: str) -> Any:
    """A sample's rows of a value, given each sample's number of rows."""
    lengths = [1] * size if lengths is None else lengths
    there = [max(int(length), 0) for length in lengths]
    if isinstance(value, Tensor) and value.layout == torch.sparse_csr and len(value) == size:
        ends = value.crow_indices()
        some = slice(int(ends[index]), int(ends[index + 1]))
        within = value.col_indices()[some], value.values()[some]
        return torch.sparse_csr_tensor(
            ends[index : index + 2] - ends[index], *within, (1, value.size(1))
        )
    if isinstance(value, Tensor) and value.dim() > 0 and len(value) == sum(there):
        return value.narrow(0, sum(there[:index]), there[index])
    if isinstance(value, list) and len(value) == sum(there):
        return value[sum(there[:index])]
    raise ValueError(
        f"divide a batch: it is unclear which part of {name} belongs to sample {index}\n"
        f"hint: a value that is added to a batch of {size} needs a row per node or edge, or a list "
        "with an item per sample"
    )
