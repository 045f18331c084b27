"""The unperturbed graph as torchcell's HeteroData."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild._graph.graph import GPR, MRM, RMR, split_edge_type
from tcbuild.pyg._cell_graph import CellGraph, add_columns, kind_of, read_graph
from tcbuild.torchcell._gene_ontology import add_strata
from tcbuild.torchcell._order import graph_order

GENES = "reaction_to_genes"  # a column of reactions: the names of their genes


def cell_graph(source: tcbuild.Dataset | tcbuild.CellGraph | str | Path) -> HeteroData:
    """The intact graph, with the keys, shapes and order of types of torchcell's. x is float32 [N,
    0] if genes have no column x; reaction_to_genes_indices has -1 for genes that the graph lacks.
    Columns become tensors and lists as in tcbuild.pyg.cell_graph.

    Args:
        source: a dataset or its folder, a graph folder, or a CellGraph

    Examples:
        >>> graph = tcbuild.torchcell.cell_graph("cell/graph")
    """
    graph = read_graph(source)
    data = CellGraph()
    for node_type in graph_order(graph.nodes):
        data[node_type].num_nodes = len(graph.nodes[node_type])
        data[node_type].node_ids = graph.nodes[node_type]
    data["gene"].x = torch.empty(len(graph.nodes["gene"]), 0)
    for name in graph_order(graph.edges):
        data[split_edge_type(name)][index_name(name)] = torch.from_numpy(graph.edges[name]).long()
    for name, columns in graph.columns.items():
        own = (GENES, "gpr", "w_growth") if name == "reaction" else ()
        add_columns(data[kind_of(name)], name, columns, own)
    if graph.rules:
        data["reaction"].gpr = graph.rules
    if graph.w_growth is not None:
        data["reaction"].w_growth = torch.tensor(graph.w_growth, dtype=torch.float32)
    for name, edges in graph.edges.items():
        store = data[split_edge_type(name)]
        store.num_edges = edges.shape[1]
        if name in (GPR, MRM):
            # torchcell counts one hyperedge too many in MRM.
            store.num_edges = len(np.unique(edges[1])) + (name == MRM)
        if name in (RMR, MRM):
            if "stoichiometry" in store:
                store.stoichiometry = store.stoichiometry.float()
            _add_genes_of_reactions(store, graph)
    if "gene_ontology" in graph.nodes:
        add_strata(data)
    return data


def index_name(edge_type: str) -> str:
    """The name of an edge type's edges."""
    return "hyperedge_index" if edge_type in (GPR, RMR, MRM) else "edge_index"


def _add_genes_of_reactions(store: Any, graph: tcbuild.CellGraph) -> None:
    """Adds the genes of each reaction that has some: those of the column of reactions, or of the
    edges of gpr.
    """
    genes = graph.nodes["gene"]
    names: dict[int, list[str]] = {}
    if GENES in graph.columns["reaction"]:
        for row, members in enumerate(graph.columns["reaction"][GENES]):
            if members is not None:
                names[row] = list(members)
    else:
        for gene, reaction in graph.edges[GPR].T.tolist() if GPR in graph.edges else []:
            names.setdefault(reaction, []).append(genes[gene])
    indices = {name: index for index, name in enumerate(genes)}
    store.reaction_to_genes = names
    store.reaction_to_genes_indices = {
        reaction: [indices.get(name, -1) for name in members] for reaction, members in names.items()
    }
