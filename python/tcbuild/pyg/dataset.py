"""Samples as torchcell's HeteroData."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild.pyg.cell_graph import cell_graph, index_name


class Dataset(torch.utils.data.Dataset[HeteroData]):
    """Samples as torchcell's LazySubgraphRepresentation gives them: the whole graph, shared by all samples, and what is removed of it.

    node types: node_ids, num_nodes; mask bool [N], true where kept; pert_mask, its inverse
    gene:       x; ids_pert (names) and perturbation_indices (int64, ascending) of the deleted genes; phenotypes in COO form:
                phenotype_values float32 and, for each, phenotype_type_indices (into phenotype_types, list of names) and
                phenotype_sample_indices (0). Missing ones are left out; if all are, one NaN stands at 0, 0. With statistics, phenotype_stat_* likewise
    edge types: edge_index or hyperedge_index, stoichiometry, num_edges (positions); mask bool [E]
    data:       sample_id

    statistics: the phenotypes that are statistics of others, such as fitness_se
    """

    def __init__(self, path: str | Path, statistics: Sequence[str] = ()):
        self.stored = tcbuild.open(path)
        self.statistics = list(statistics)
        unknown = set(statistics) - set(self.stored.phenotype_names)
        if unknown:
            raise ValueError(f"open {path}: no phenotype {sorted(unknown)}\nhint: name some of {self.stored.phenotype_names}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset, (self.stored.path, self.statistics)

    @cached_property
    def cell_graph(self) -> HeteroData:
        """The graph that all samples share."""
        return cell_graph(self.stored)

    def __len__(self) -> int:
        return len(self.stored)

    def __getitem__(self, index: int) -> HeteroData:
        sample, graph, data = self.stored[index], self.cell_graph, HeteroData()
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
        data.sample_id = sample.id
        return data

    def _add_phenotypes(self, gene: Any, sample: tcbuild.Sample) -> None:
        values = dict(zip(self.stored.phenotype_names, sample.phenotypes.tolist()))
        phenotypes = [name for name in values if name not in self.statistics]
        for prefix, names in (("phenotype", phenotypes), ("phenotype_stat", self.statistics)):
            there = [(values[name], rank) for rank, name in enumerate(names) if values[name] == values[name]]
            if prefix == "phenotype_stat" and not there:
                continue
            there = there or [(float("nan"), 0)]
            gene[f"{prefix}_values"] = torch.tensor([value for value, _ in there], dtype=torch.float32)
            gene[f"{prefix}_type_indices"] = torch.tensor([rank for _, rank in there])
            gene[f"{prefix}_sample_indices"] = torch.zeros(len(there), dtype=torch.int64)
            gene[f"{prefix}_types"] = names
