"""The unperturbed graph as a HeteroData."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild._build import read_graph_folder
from tcbuild._files.remote import Url, location
from tcbuild._graph.columns import GraphColumns
from tcbuild._graph.graph import MRM, is_node_type, split_edge_type


def cell_graph(source: tcbuild.Dataset | tcbuild.CellGraph | str | Path) -> HeteroData:
    """The intact graph: num_nodes and node_ids of node types; edge_index int64 [2, E] of edge
    types, hyperedge_index of metabolite, reaction, metabolite. Columns of numbers, or of fixed-size
    lists of them, become tensors; texts of nodes become lists.

    Args:
        source: a dataset or its folder, a graph folder, or a CellGraph

    Examples:
        >>> graph = tcbuild.pyg.cell_graph("cell/graph")
        >>> graph["gene", "physical", "gene"].edge_index.shape
        torch.Size([2, 210])
    """
    graph = read_graph(source)
    data = CellGraph()
    for node_type, ids in graph.nodes.items():
        data[node_type].num_nodes, data[node_type].node_ids = len(ids), ids
    for name, edges in graph.edges.items():
        key = "hyperedge_index" if name == MRM else "edge_index"
        data[split_edge_type(name)][key] = torch.from_numpy(edges).long()
    for name, columns in graph.columns.items():
        add_columns(data[kind_of(name)], name, columns)
    return data


def kind_of(name: str) -> str | tuple[str, str, str]:
    """PyG's key of a node or edge type."""
    return name if is_node_type(name) else split_edge_type(name)


class CellGraph(HeteroData):  # type: ignore[misc]
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


def add_columns(
    store: Any, name: str, columns: GraphColumns, without: Collection[str] = ()
) -> None:
    """Adds the columns of a node or edge type: tensors of numbers, and lists of nodes' texts."""
    for column in columns:
        if column in without:
            continue
        values = columns[column]
        texts = is_node_type(name) and all(isinstance(value, str) for value in values)
        if values.dtype == object and not texts:
            continue
        if column in ("num_nodes", "num_edges", "node_ids", "edge_index", "hyperedge_index"):
            raise ValueError(
                f"make the cell graph: {name} has a column {column!r}, which is another value in "
                "PyG\n"
                "hint: rename the column"
            )
        tensor = values.dtype != object
        store[column] = torch.from_numpy(values.copy()) if tensor else values.tolist()


def read_graph(source: tcbuild.Dataset | tcbuild.CellGraph | str | Path) -> tcbuild.CellGraph:
    """The graph of what cell_graph takes."""
    if isinstance(source, tcbuild.CellGraph):
        return source
    if isinstance(source, tcbuild.Dataset):
        return source.graph
    folder = location(source)
    # A dangling link is damage.
    if isinstance(folder, Url) or os.path.lexists(folder / "manifest.json"):
        return tcbuild.open(source).graph
    return read_graph_folder(source)
