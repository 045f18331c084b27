"""The unperturbed graph as torchcell's HeteroData."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild.graph import GPR, MRM, RMR, is_node_type, split_edge_type
from tcbuild.pyg.gene_ontology import add_strata
from tcbuild.pyg.order import graph_order
from tcbuild.remote import Url, location

GENES = "reaction_to_genes"  # a column of reactions: the names of their genes


def cell_graph(source: tcbuild.Dataset | tcbuild.CellGraph | str | Path) -> HeteroData:
    """The unperturbed graph of a dataset (or its folder), of a graph folder of Arrow tables,
    or of a CellGraph.

    node types: num_nodes, node_ids (list of ids, by index)
    gene: x; float32 [N, 0] without a column x, so that features can be concatenated
    reaction: gpr (list of rules as written), if the graph has rules; w_growth float32 [N], 1 for
        reactions of the subsystem Growth and 0 for others, if it has subsystems
    gene, gpr, reaction: hyperedge_index int64 [2, E], num_edges (hyperedges: reactions with genes)
    reaction, rmr, metabolite and metabolite, reaction, metabolite: hyperedge_index int64 [2, E],
        stoichiometry float32 [E], num_edges, reaction_to_genes {reaction index: [gene id]},
        reaction_to_genes_indices {reaction index: [gene index]}, -1 for a gene that the graph lacks
    other edge types: edge_index int64 [2, E], num_edges
    gene_ontology: what torchcell derives of its edges and of its columns strata and
        stratum_to_terms, if it has these

    Types are in torchcell's order: gene, metabolite, reaction; edges between genes by name, rmr,
    gpr. Samples and batches have them in the order of torchcell's samples.

    A column is a tensor of its name and type if it has numbers or fixed-size lists of numbers, such
    as x, edge_attr and scores. A node's text is a list. Other columns are in CellGraph.columns.
    """
    graph = _graph(source)
    data = _CellGraph()
    for node_type in graph_order(graph.nodes):
        data[node_type].num_nodes = len(graph.nodes[node_type])
        data[node_type].node_ids = graph.nodes[node_type]
    data["gene"].x = torch.empty(len(graph.nodes["gene"]), 0)
    for name in graph_order(graph.edges):
        data[split_edge_type(name)][index_name(name)] = torch.from_numpy(graph.edges[name]).long()
    for name, columns in graph.columns.items():
        kind = name if is_node_type(name) else split_edge_type(name)
        _add_columns(data[kind], name, columns)
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


class _CellGraph(HeteroData):  # type: ignore[misc]
    """A HeteroData that prints the sizes of its dicts, which have an entry per reaction."""

    def __repr__(self) -> str:
        lines = []
        for kind, store in (*self.node_items(), *self.edge_items()):
            sizes = ", ".join(_size(key, value) for key, value in store.items())
            name = kind if isinstance(kind, str) else f"({', '.join(kind)})"
            lines.append(f"  {name}={{ {sizes} }},\n")
        return f"HeteroData(\n{''.join(lines)})"


def _size(key: str, value: Any) -> str:
    if isinstance(value, dict):
        return f"{key}=dict(len={len(value)})"
    if isinstance(value, torch.Tensor):
        return f"{key}={list(value.shape)}"
    return f"{key}={[len(value)] if isinstance(value, list) else value}"


def index_name(edge_type: str) -> str:
    """The name of an edge type's edges."""
    return "hyperedge_index" if edge_type in (GPR, RMR, MRM) else "edge_index"


def _add_columns(store: Any, name: str, columns: tcbuild.GraphColumns) -> None:
    for column in columns:
        if name == "reaction" and column in (GENES, "gpr", "w_growth"):
            continue
        values = columns[column]
        if values.dtype == object and (not is_node_type(name) or not _all_text(values)):
            continue
        if column in ("num_nodes", "num_edges", "node_ids", "edge_index", "hyperedge_index"):
            raise ValueError(
                f"make the cell graph: {name} has a column {column!r}, which is another value in "
                "PyG\n"
                "hint: rename the column"
            )
        tensor = values.dtype != object
        store[column] = torch.from_numpy(values.copy()) if tensor else values.tolist()


def _all_text(values: npt.NDArray[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


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


def _graph(source: tcbuild.Dataset | tcbuild.CellGraph | str | Path) -> tcbuild.CellGraph:
    if isinstance(source, tcbuild.CellGraph):
        return source
    if isinstance(source, tcbuild.Dataset):
        return source.graph
    folder = location(source)
    # A dangling link is damage.
    if isinstance(folder, Url) or os.path.lexists(folder / "manifest.json"):
        return tcbuild.open(source).graph
    return tcbuild.read_graph_folder(source)
