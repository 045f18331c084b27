"""Samples as torchcell's HeteroData."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, SupportsIndex, overload

import torch
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild.pyg.cell_graph import cell_graph, index_name


class Dataset(torch.utils.data.Dataset[HeteroData]):
    """Samples as in torchcell's LazySubgraphRepresentation: the whole graph, shared by all samples,
    and what is removed from it.

    dataset: a tcbuild.Dataset, a view of one, or its folder

    node types: node_ids, num_nodes; mask bool [N], true where kept; pert_mask, its inverse
    gene: x; ids_pert (names) and perturbation_indices (int64, ascending) of the deleted genes;
        phenotypes in COO form: phenotype_values float32 and, for each, phenotype_type_indices (into
        phenotype_types, the names of `phenotypes`) and phenotype_sample_indices (0). Missing ones
        are omitted; if all are missing, there is one NaN at 0, 0. With statistics also
        phenotype_stat_*
    edge types: edge_index or hyperedge_index, stoichiometry, num_edges (positions); mask bool [E]
    data: sample_id, mask_basis (tcbuild.Dataset.mask_basis)

    phenotypes: the targets. torchcell's trainers use all of phenotype_values, so a dataset with
        several that are no statistics needs them named. [] for none; others that are not in
        statistics are omitted
    statistics: statistics of the targets, such as fitness_se
    """

    def __init__(
        self,
        dataset: tcbuild.Dataset | str | Path,
        phenotypes: Sequence[str] | None = None,
        statistics: Sequence[str] = (),
    ):
        self.stored = dataset if isinstance(dataset, tcbuild.Dataset) else tcbuild.open(dataset)
        path, names = self.stored.path, self.stored.phenotype_names
        if phenotypes is None:
            phenotypes = [name for name in names if not self.stored.phenotypes[name].statistic_of]
            if len(phenotypes) > 1:
                raise ValueError(
                    f"open {path}: which of its {len(phenotypes)} phenotypes are targets?\n"
                    f"hint: pass phenotypes=, some of {phenotypes}"
                )
        for option in (phenotypes, statistics):
            if isinstance(option, str):
                raise TypeError(
                    f"open {path}: phenotypes or statistics {option!r}\n"
                    f"hint: pass a list of names: [{option!r}]"
                )
        self.phenotypes, self.statistics = list(phenotypes), list(statistics)
        chosen = [*self.phenotypes, *self.statistics]
        if wrong := [name for name in chosen if name not in names or chosen.count(name) > 1]:
            raise ValueError(
                f"open {path}: no phenotype {wrong[0]!r}, or it is listed twice\n"
                f"hint: name some of {names}, each once"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset, (self.stored, self.phenotypes, self.statistics)

    @cached_property
    def cell_graph(self) -> HeteroData:
        """The graph that all samples share."""
        return cell_graph(self.stored)

    def __len__(self) -> int:
        return len(self.stored)

    @overload
    def __getitem__(self, index: SupportsIndex) -> HeteroData: ...
    @overload
    def __getitem__(self, index: slice | Iterable[SupportsIndex]) -> Dataset: ...
    def __getitem__(
        self, index: SupportsIndex | slice | Iterable[SupportsIndex]
    ) -> HeteroData | Dataset:
        """A sample, or a view for a slice, indices or a boolean array, as in tcbuild.Dataset."""
        found = self.stored[index]
        if not isinstance(found, tcbuild.Dataset):
            return self._data(found)
        view = Dataset(found, self.phenotypes, self.statistics)
        view.cell_graph = self.cell_graph  # shared by all samples, so by views
        return view

    def __iter__(self) -> Iterator[HeteroData]:
        return (self._data(sample) for sample in self.stored)

    def _data(self, sample: tcbuild.Sample) -> HeteroData:
        graph, data = self.cell_graph, HeteroData()
        masks = {name: torch.from_numpy(mask) for name, mask in sample.masks.items()}
        for node_type in graph.node_types:
            store = data[node_type]
            store.node_ids, store.num_nodes = graph[node_type].node_ids, graph[node_type].num_nodes
            store.mask = masks[node_type]
            store.pert_mask = ~masks[node_type]
        for edge_type in graph.edge_types:
            name = "__".join(edge_type)
            for key in (index_name(name), "stoichiometry"):
                if key in graph[edge_type]:
                    data[edge_type][key] = graph[edge_type][key]
            data[edge_type].mask = masks[name]
            data[edge_type].num_edges = len(masks[name])
        gene = data["gene"]
        gene.x = graph["gene"].x
        gene.ids_pert = sample.genes
        gene.perturbation_indices = torch.from_numpy(sample.perturbation_indices).long()
        self._add_phenotypes(gene, sample)
        data.sample_id, data.mask_basis = sample.id, self.stored.mask_basis
        return data

    def _add_phenotypes(self, gene: Any, sample: tcbuild.Sample) -> None:
        values = dict(zip(self.stored.phenotype_names, sample.phenotypes.tolist()))
        for prefix, names in (("phenotype", self.phenotypes), ("phenotype_stat", self.statistics)):
            there = [
                (values[name], rank)
                for rank, name in enumerate(names)
                if values[name] == values[name]
            ]
            if prefix == "phenotype_stat" and not there:
                continue
            there = there or [(float("nan"), 0)]
            gene[f"{prefix}_values"] = torch.tensor(
                [value for value, _ in there], dtype=torch.float32
            )
            gene[f"{prefix}_type_indices"] = torch.tensor([rank for _, rank in there])
            gene[f"{prefix}_sample_indices"] = torch.zeros(len(there), dtype=torch.int64)
            gene[f"{prefix}_types"] = list(names)
