"""torch_geometric's layers on edges that all samples of a batch share."""

from __future__ import annotations

from typing import Any

import torch
import torch_geometric.nn as pyg
from torch import Tensor
from torch_geometric.nn.aggr import MeanAggregation, SumAggregation

from tcbuild._graph.graph import ends_of
from tcbuild.torch._propagate import propagate
from tcbuild.torch._shared import Adjacency, SharedEdges

_REDUCE: dict[type, Any] = {SumAggregation: "sum", MeanAggregation: "mean"}


class _Shared(pyg.MessagePassing):  # type: ignore[misc]
    """A layer that also takes an item of batch.shared_edges() in place of an edge_index."""

    def __init_subclass__(cls) -> None:
        # Otherwise torch_geometric writes a propagate of its own into each class.
        cls.propagate = cls.propagate  # type: ignore[method-assign]

    def propagate(self, edge_index: Any, **messages: Any) -> Tensor:
        """The sums of messages along edges."""
        if not isinstance(edge_index, SharedEdges):
            found: Tensor = super().propagate(edge_index, **messages)
            return found
        reduce = _REDUCE.get(type(self.aggr_module))
        if reduce is None or self.flow != "source_to_target":
            raise ValueError(
                f"add up messages along shared edges: found aggr {self.aggr} and flow {self.flow}, "
                "expected sum or mean and source_to_target\n"
                "hint: any layer takes batch.edge_index(name, filtered=True)"
            )
        x = messages["x"][0] if isinstance(messages["x"], tuple) else messages["x"]
        of_samples = x.reshape(edge_index.batch.keep["gene"].size(0), -1, x.size(-1))
        out = self._added(of_samples, edge_index, messages.get("edge_weight"), reduce)
        return out if x.dim() == 3 else out.flatten(0, 1)

    def _added(self, x: Tensor, edges: SharedEdges, weight: Tensor | None, reduce: Any) -> Tensor:
        """[B, N_target, F] of x [B, N_source, F]."""
        return propagate(x, edges.batch, edges.name, reduce, weight)


class GINConv(_Shared, pyg.GINConv):  # type: ignore[misc]
    """torch_geometric's GINConv, for `aggr` sum or mean. In place of an edge_index it also takes an
    item of batch.shared_edges(), with node features [B, N, F] or [B * N, F]: as fast as propagate.

    Examples:
        >>> import torch
        >>> batch = next(iter(tcbuild.pyg.DataLoader(tcbuild.pyg.Dataset(dataset, []), 4)))
        >>> layer = tcbuild.pyg.GINConv(torch.nn.Linear(16, 16))
        >>> edges = batch.shared_edges()["gene", "physical", "gene"]
        >>> layer(torch.ones(4, 60, 16), edges).shape
        torch.Size([4, 60, 16])
    """


class SAGEConv(_Shared, pyg.SAGEConv):  # type: ignore[misc]
    """torch_geometric's SAGEConv, which also takes shared edges, as GINConv does."""


class GCNConv(_Shared, pyg.GCNConv):  # type: ignore[misc]
    """torch_geometric's GCNConv, which also takes shared edges, as GINConv does, and normalises by
    the degrees left in each sample. edge_weight is [E], shared by all samples.
    """

    def _added(self, x: Tensor, edges: SharedEdges, weight: Tensor | None, reduce: Any) -> Tensor:
        if not self.normalize:
            return super()._added(x, edges, weight, reduce)
        batch, name = edges
        node_type, target = ends_of(name)
        if node_type != target or reduce != "sum":
            raise ValueError(
                f"normalise by degrees: found edges of {name} and aggr {self.aggr}, expected edges "
                "within a node type and sum\nhint: use GINConv or SAGEConv"
            )
        keep, loop = batch.keep[node_type], None
        if self.add_self_loops:
            loop, weight = self._loops(x, edges, weight, keep)
        ones = torch.ones_like(x[..., :1], dtype=torch.promote_types(x.dtype, torch.float32))
        degree = propagate(ones, batch, name, weight=weight)[..., 0]
        degree = degree if loop is None else degree + loop
        factor = degree.masked_fill(degree == 0, torch.inf).pow(-0.5)  # 0, and its gradient, too
        out = propagate(x, batch, name, weight=weight, keep={node_type: keep * factor})
        return out if loop is None else out + (factor.square() * loop)[..., None].to(x.dtype) * x

    def _loops(
        self, x: Tensor, edges: SharedEdges, weight: Tensor | None, keep: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """The weight of each node's one self loop, [B, N], and the weights of the other edges. As
        in torch_geometric, loops of a graph without weights count 1, also if improved.
        """
        shared = Adjacency.of(edges.batch._of_graph(), edges.name, x.device)
        loop, loops = x.new_ones(keep.shape), shared.loops
        if weight is not None:
            fill = weight.new_full(keep.shape[1:], 2 if self.improved else 1)
            loop = torch.where(keep, fill.index_put((shared.looping,), weight[loops]), fill)
        if not loops.size(0):
            return loop, weight
        weight = x.new_ones(shared.by_target.order.shape) if weight is None else weight
        return loop, weight.index_fill(0, loops, 0)
