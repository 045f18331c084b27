"""What samples have of torchcell's cell graph."""

from __future__ import annotations

from typing import Any

import torch
from torch_geometric.data import HeteroData

from tcbuild._lazy import lazy_property
from tcbuild.pyg import _graph
from tcbuild.pyg._graph import Keys, Kind, mask_name
from tcbuild.torchcell._cell_graph import cell_graph, index_name
from tcbuild.torchcell._order import sample_order

_TENSORS = ("x", "w_growth", "edge_index", "hyperedge_index", "stoichiometry")


class Graph(_graph.Graph):
    """The cell graph with torchcell's names and order of types."""

    @lazy_property
    def data(self) -> HeteroData:
        return cell_graph(self.stored)

    def keys(self) -> Keys:
        found: Keys = {}
        stores = {
            mask_name(kind): (kind, store)
            for kind, store in (*self.data.node_items(), *self.data.edge_items())
        }
        for name in sample_order(stores):
            kind, store = stores[name]
            node = isinstance(kind, str)
            found[kind] = ["node_ids", "num_nodes"] if node else []
            found[kind] += [key for key in _TENSORS if key in store]
            if mask_name(kind) in self.stored.mask_names:
                found[kind] += ["pert_mask", "mask"] if node else ["mask"]
            found[kind] += [] if node else ["num_edges"]
        return found

    def is_shared(self, kind: Kind, key: str) -> bool:
        if key in ("batch", "ptr"):
            return True
        return key in _TENSORS and torch.is_tensor(self.data[kind].get(key))

    def of_sample(self, kind: Kind, key: str) -> Any:
        if key == "num_edges":  # of the graph's gpr it is the number of reactions
            return self.data[kind][index_name(mask_name(kind))].size(1)
        if key == "num_nodes":
            return self.rows(kind)
        if key == "node_ids" and kind == "reaction":
            return self._reaction_indices
        return self.data[kind][key]

    @lazy_property
    def _reaction_indices(self) -> list[int]:
        return list(range(self.data["reaction"].num_nodes))
