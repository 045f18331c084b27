"""Samples as torchcell's SubgraphRepresentation makes them: what a deletion leaves of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild._graph.graph import GPR, RMR, split_edge_type
from tcbuild.pyg._graph import mask_name
from tcbuild.torchcell._order import sample_order


def subgraph(graph: HeteroData, stored: tcbuild.Sample, gene: dict[str, Any]) -> HeteroData:
    """A sample with these values of its genes. Its nodes are numbered among those that are left."""
    masks = stored.masks
    left = {name: torch.from_numpy(mask.nonzero()[0]) for name, mask in masks.items()}
    numbers = {name: torch.from_numpy(masks[name].cumsum() - 1) for name in graph.node_types}
    data = HeteroData()
    names, x = graph["gene"].node_ids, graph["gene"].x
    kept = {
        "node_ids": [names[i] for i in left["gene"].tolist()],
        "num_nodes": len(left["gene"]),
        "ids_pert": stored.deleted_genes,
        "x": x[left["gene"]],
        "x_pert": x[gene["perturbation_indices"]],
    }
    data["gene"].update(kept | gene | {"pert_mask": _gone(masks["gene"])})
    for name in sample_order(map(mask_name, graph.edge_types)):
        kind = split_edge_type(name)
        if kind[0] == kind[2] == "gene":
            edges, positions = graph[kind].edge_index, left[name]
            edge_index = numbers["gene"][edges[:, positions]]
            gone = _gone(masks[name])
            data[kind].update(edge_index=edge_index, num_edges=len(positions), pert_mask=gone)
    if "reaction" in masks:
        _add_reactions(data, graph, masks, left["reaction"], numbers)
    return data


def _add_reactions(
    data: HeteroData,
    graph: HeteroData,
    masks: dict[str, Any],
    left: Tensor,
    numbers: dict[str, Tensor],
) -> None:
    """Adds reactions, their genes and their metabolites."""
    if GPR in masks:
        kind = split_edge_type(GPR)
        edges = graph[kind].hyperedge_index
        both = masks["gene"][edges[0].numpy()] & masks["reaction"][edges[1].numpy()]
        edges = edges[:, torch.from_numpy(both.nonzero()[0])]
        ends = numbers["gene"][edges[0]], numbers["reaction"][edges[1]]
        data[kind].hyperedge_index = torch.stack(ends)
        data[kind].update(num_edges=edges.size(1), pert_mask=_gone(both))
    reactions = data["reaction"]
    reactions.update(num_nodes=len(left), node_ids=left.tolist())
    if "w_growth" in graph["reaction"]:
        reactions.w_growth = graph["reaction"].w_growth[left]
    reactions.pert_mask = _gone(masks["reaction"])
    if "metabolite" in masks:
        if RMR in masks:
            kind = split_edge_type(RMR)
            positions = torch.from_numpy(masks[RMR].nonzero()[0])
            edges = graph[kind].hyperedge_index[:, positions]
            ends = numbers["reaction"][edges[0]], edges[1]
            data[kind].hyperedge_index = torch.stack(ends)
            data[kind].stoichiometry = graph[kind].stoichiometry[positions]
            data[kind].num_edges = len(positions)
            nodes = graph["metabolite"]
            data["metabolite"].update(node_ids=nodes.node_ids, num_nodes=nodes.num_nodes)
        data["metabolite"].pert_mask = _gone(masks["metabolite"])


def _gone(mask: np.ndarray[Any, np.dtype[np.bool_]]) -> Tensor:
    return torch.from_numpy(~mask)
