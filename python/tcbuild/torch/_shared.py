"""What the samples of a batch share, the graph's edges, and which nodes each of them keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tcbuild._graph.graph import MRM, ends_of, split_edge_type
from tcbuild._masks.incidence import CSR
from tcbuild.errors import unknown_name
from tcbuild.torch._blocks import Edges
from tcbuild.torch._reaction_rules import ReactionRules

REMOVABLE = ("gene", "reaction")  # all samples keep the nodes of other types


class Rows(NamedTuple):
    """Edges grouped by the nodes at one of their ends, in compressed sparse rows.

    offsets: int32 [N + 1], node n has the entries offsets[n] to offsets[n + 1]
    others: int32 [E], the node at the other end of each entry
    order: int32 [E], the edge of each entry
    """

    offsets: Tensor
    others: Tensor
    order: Tensor

    @classmethod
    def of(
        cls, ends: npt.NDArray[np.int32], others: npt.NDArray[np.int32], count: int, device: Any
    ) -> Rows:
        """Groups edges by ends, which are below count."""
        rows = CSR.of_pairs(ends, np.arange(len(ends), dtype=np.int32), count)
        arrays = rows.offsets, others[rows.positions], rows.positions
        return cls(*(torch.from_numpy(each).to(device) for each in arrays))


class Adjacency(NamedTuple):
    """The edges of a type on a device: 16 bytes per edge.

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
        if key not in edges.adjacencies:
            with torch.inference_mode(False):
                edges.adjacencies.setdefault(key, cls._grouped(edges, name, device))
        found: Adjacency = edges.adjacencies[key]
        return found

    @classmethod
    def _grouped(cls, edges: Edges, name: str, device: torch.device) -> Adjacency:
        sources, targets = edges.of_type(name)
        types = ends_of(name)
        counts = [len(edges.stored.graph.nodes[node_type]) for node_type in types]
        same = (sources == targets) & (types[0] == types[1])
        loops = np.flatnonzero(same)
        return cls(
            Rows.of(targets, sources, counts[1], device),
            Rows.of(sources, targets, counts[0], device),
            torch.from_numpy(loops).to(device),
            torch.from_numpy(sources[loops].astype(np.int64)).to(device),
        )


class Keep(Mapping[str, Tensor]):
    """Which nodes each sample keeps, bool [B, N] by node type, made at their first use."""

    def __init__(self, edges: Edges, genes: Tensor, ptr: Tensor):
        self.device = genes.device
        self.edges_left: dict[str, Tensor] = {}  # float32 [B, N_target] by edge type
        self._edges, self._genes, self._ptr = edges, genes, ptr
        self._made: dict[str, Tensor] = {}

    def __getitem__(self, node_type: str) -> Tensor:
        if node_type not in self._made:
            if node_type not in (nodes := self._edges.stored.graph.nodes):
                raise unknown_name("node type", node_type, nodes)
            with torch.inference_mode(False), torch.no_grad():
                self._made[node_type] = self._make(node_type, len(nodes[node_type]))
        return self._made[node_type]

    def _make(self, node_type: str, count: int) -> Tensor:
        size = len(self._ptr) - 1
        if node_type not in REMOVABLE:
            return torch.ones((), dtype=torch.bool, device=self.device).expand(size, count)
        if node_type == "reaction":
            found: Tensor = self._rules()(self["gene"])
            return found
        keep = torch.ones(size, count, dtype=torch.bool, device=self.device)
        samples = torch.repeat_interleave(self._ptr.diff(), output_size=len(self._genes))
        keep.view(-1).index_fill_(0, samples * count + self._genes, False)
        return keep

    def _rules(self) -> ReactionRules:
        rules, edges = self._edges.rules, self._edges
        if self.device not in rules:
            rule = edges.stored.manifest["options"]["reaction_rule"]
            rules[self.device] = ReactionRules(edges.stored.graph, rule).to(self.device)
        found: ReactionRules = rules[self.device]
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._edges.stored.graph.nodes)

    def __len__(self) -> int:
        return len(self._edges.stored.graph.nodes)


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

    @property
    def keep(self) -> Keep:
        """By node type bool [B, N], true where a sample keeps a node: computed from the deleted
        genes and the reaction rule on the batch's device, which is not waited for. Later changes to
        masks are not in it.

        Examples:
            >>> tcbuild.torch.collate(dataset[:4], masks=None).keep["gene"].sum(1)
            tensor([57, 57, 57, 58])
        """
        found: Keep | None = vars(self).get("_keep")
        if found is None or found.device != self._device():
            found = vars(self)["_keep"] = Keep(self._of_graph(), *self.deleted_genes())
        return found

    def shared_edges(self) -> dict[tuple[str, str, str], SharedEdges]:
        """By edge type, but for hyperedges, what tcbuild.pyg's layers, alone or in a HeteroConv,
        take in place of an edge_index. No edge is copied.
        """
        names = self._of_graph().stored.graph.edges
        return {split_edge_type(name): SharedEdges(self, name) for name in names if name != MRM}
