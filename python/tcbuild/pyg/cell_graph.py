"""The unperturbed graph as torchcell's HeteroData."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild.graph import GPR, RMR, split_edge_type


def cell_graph(source: tcbuild.Dataset | tcbuild.CellGraph | str | Path) -> HeteroData:
    """The unperturbed graph of a dataset (or its folder), of a graph folder, or of a CellGraph.

    node types: num_nodes, node_ids (list of ids, by index)
    gene: x, float32 [N, 0], to be extended with features
    reaction: gpr (list of rules as written), if the graph has rules; w_growth float32 [N], 1 for
        reactions of the subsystem Growth and 0 for others, if it has subsystems
    gene, RELATION, gene: edge_index int64 [2, E], num_edges
    gene, gpr, reaction: hyperedge_index int64 [2, E], num_edges (hyperedges: reactions with genes)
    reaction, rmr, metabolite: hyperedge_index int64 [2, E], stoichiometry float32 [E], num_edges,
        reaction_to_genes {reaction index: [gene id]},
        reaction_to_genes_indices {reaction index: [gene index]}
    """
    graph = _graph(source)
    data = HeteroData()
    for node_type, ids in graph.nodes.items():
        data[node_type].num_nodes = len(ids)
        data[node_type].node_ids = ids
    data["gene"].x = torch.empty(len(graph.nodes["gene"]), 0)
    if graph.rules:
        data["reaction"].gpr = graph.rules
    if graph.w_growth is not None:
        data["reaction"].w_growth = torch.tensor(graph.w_growth, dtype=torch.float32)
    for name, edges in graph.edges.items():
        store = data[split_edge_type(name)]
        store[index_name(name)] = torch.from_numpy(edges).long()
        store.num_edges = len(np.unique(edges[1])) if name == GPR else edges.shape[1]
        if name == RMR:
            if graph.stoichiometry is not None:
                store.stoichiometry = torch.tensor(graph.stoichiometry, dtype=torch.float32)
            genes = graph.nodes["gene"]
            store.reaction_to_genes_indices = _genes_of_reactions(graph)
            store.reaction_to_genes = {
                reaction: [genes[gene] for gene in members]
                for reaction, members in store.reaction_to_genes_indices.items()
            }
    return data


def index_name(edge_type: str) -> str:
    """The name of an edge type's edges."""
    return "hyperedge_index" if edge_type in (GPR, RMR) else "edge_index"


def _graph(source: tcbuild.Dataset | tcbuild.CellGraph | str | Path) -> tcbuild.CellGraph:
    if isinstance(source, tcbuild.CellGraph):
        return source
    if isinstance(source, tcbuild.Dataset):
        return source.graph
    if os.path.lexists(Path(source) / "manifest.json"):  # a dangling link is damage
        return tcbuild.open(source).graph
    return tcbuild.read_graph_folder(source)


def _genes_of_reactions(graph: tcbuild.CellGraph) -> dict[int, list[int]]:
    members: dict[int, list[int]] = {
        reaction: [] for reaction in range(len(graph.nodes["reaction"]))
    }
    for gene, reaction in graph.edges[GPR].T.tolist() if GPR in graph.edges else []:
        members[reaction].append(gene)
    return members
