"""What the samples of a batch share, the graph's edges, and which nodes each of them keeps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from tcbuild._graph.graph import MRM, ends_of, split_edge_type
from tcbuild._masks.incidence import CSR
from tcbuild.errors import ByName
from tcbuild.torch._blocks import Edges
from tcbuild.torch._reaction_rules import ReactionRules


class Rows(NamedTuple):
    """Edges grouped by the nodes at one end, in compressed sparse rows.

    offsets: int32 [N + 1], node n has the entries offsets[n] to offsets[n + 1]
    others: int32 [E], the node at the other end of each entry
    order: int32 [E], the edge of each entry
    """

    offsets: Tensor
    others: Tensor
    order: Tensor

    @property
    def nodes(self) -> int:
        return self.offsets.size(0) - 1


class Adjacency(NamedTuple):
    """The edges of a type on a device, 16 bytes per edge.

    loops: int64 [L], the self loops among them; looping: int64 [L], their nodes
    """

    by_target: Rows
    by_source: Rows
    loops: Tensor
    looping: Tensor

    @classmethod
    def of(cls, edges: Edges, name: str, device: torch.device) -> Adjacency:
        """Groups the edges of a type, once for all batches."""
        key = name, device
        if key not in edges.shared:
            both, types = edges.of_type(name), ends_of(name)
            loops = np.flatnonzero(both[0] == both[1]) if types[0] == types[1] else np.arange(0)
            arrays = [loops, both[0, loops].astype(np.int64)]
            for end in (1, 0):
                nodes = len(edges.stored.graph.nodes[types[end]])
                rows = CSR.of_pairs(both[end], np.arange(both.shape[1], dtype=np.int32), nodes)
                arrays += [rows.offsets, both[1 - end][rows.positions], rows.positions]
            with torch.inference_mode(False):
                tensors = [torch.from_numpy(each).to(device) for each in arrays]
            edges.shared[key] = cls(Rows(*tensors[2:5]), Rows(*tensors[5:]), *tensors[:2])
        found: Adjacency = edges.shared[key]
        return found


def _kept_nodes(edges: Edges, genes: Tensor, ptr: Tensor) -> dict[str, Tensor]:
    """Which nodes the samples keep that delete genes[ptr[b]:ptr[b + 1]]."""
    counts = {node_type: len(ids) for node_type, ids in edges.stored.graph.nodes.items()}
    size, device = len(ptr) - 1, genes.device
    every = torch.ones((), dtype=torch.bool, device=device)
    keep = {node_type: every.expand(size, count) for node_type, count in counts.items()}
    keep["gene"] = keep["gene"].contiguous()
    samples = torch.repeat_interleave(ptr.diff(), output_size=len(genes))
    keep["gene"].view(-1).index_fill_(0, samples * counts["gene"] + genes, False)
    if "reaction" in keep:
        if (key := ("reaction", device)) not in edges.shared:
            rule = edges.stored.manifest["options"]["reaction_rule"]
            edges.shared[key] = ReactionRules(edges.stored.graph, rule).to(device)
        keep["reaction"] = edges.shared[key](keep["gene"])
    return ByName("node type", keep)


class SharedEdges(NamedTuple):
    """The edges of a type that a batch keeps, as tcbuild.pyg's layers take them."""

    batch: SharedGraph
    name: str


class SharedGraph:
    """What batches of tcbuild.torch and tcbuild.pyg have in common."""

    def _of_graph(self) -> Edges:
        raise NotImplementedError

    def _device(self) -> torch.device:
        raise NotImplementedError

    def deleted_genes(self) -> tuple[Tensor, Tensor]:
        """The deleted genes and their ptr, for a MaskGenerator."""
        raise NotImplementedError

    def _check_masks(self) -> None:
        raise NotImplementedError

    @property
    def keep(self) -> dict[str, Tensor]:
        """Nodes that samples keep: bool [B, N] by node type, computed on the batch's device without
        waiting for it. Changed masks are an error.

        Examples:
            >>> tcbuild.torch.collate(dataset[:4], masks=None).keep["gene"].sum(1)
            tensor([57, 57, 57, 58])
        """
        self._check_masks()
        device, keep = vars(self).get("_keep", (None, None))
        if device != self._device():
            with torch.inference_mode(False), torch.no_grad():
                keep = _kept_nodes(self._of_graph(), *self.deleted_genes())
            vars(self)["_keep"] = self._device(), keep
        found: dict[str, Tensor] = keep
        return found

    def shared_edges(self) -> dict[Any, SharedEdges]:
        """Edges that layers of tcbuild.pyg take in place of an edge_index, by type such as ("gene",
        "physical", "gene"). Nothing is copied. Layers refuse changed masks.
        """
        names = self._of_graph().stored.graph.edges
        return {split_edge_type(name): SharedEdges(self, name) for name in names if name != MRM}
