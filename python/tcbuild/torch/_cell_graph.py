"""What a model needs of the graph: the same for every sample, so no batch carries it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

import tcbuild
from tcbuild._dataset import as_dataset
from tcbuild.torch._blocks import Edges


class CellGraph(nn.Module):
    """The cell graph's edges on the model's device, for either form of a batch of B samples.

    The static form, for masks `stacked` [B, E], has node features [B, N, F] and edge_index [2, E],
    which all samples share: PyG's static graph. edge_index takes 16 bytes per edge, 39 MB for a
    yeast graph.

    The block-diagonal form, for masks `concatenated` [B * E], has node features [B * N, F] and
    edge_index [2, B * E], of B unconnected copies: how PyG's batches look to a layer. edge_index
    takes 16 * B bytes per edge, 1.1 GB for a yeast graph and B = 28; on a CPU once for all batches.

    Neither copies an edge per batch.

    Args:
        dataset: whose graph it is, or its folder
        edge_types: those that the model uses, by default all

    Attributes:
        num_nodes: nodes by node type
        stoichiometry: float32 [E of reaction__rmr__metabolite], or None

    Examples:
        >>> graph = tcbuild.torch.CellGraph(dataset, ["gene__physical__gene"])
        >>> graph.edge_index["gene__physical__gene"].shape
        torch.Size([2, 210])
    """

    edges: Tensor
    stoichiometry: Tensor | None

    def __init__(
        self,
        dataset: tcbuild.Dataset | str | Path,
        edge_types: Sequence[str] | None = None,
    ):
        super().__init__()
        stored = as_dataset(dataset)
        self._laid_out, graph = Edges.of(stored), stored.graph
        unknown = set(edge_types or ()) - set(graph.edges)
        if unknown:
            raise ValueError(
                f"make a cell graph: no edge type {sorted(unknown)}\n"
                f"hint: name some of {list(graph.edges)}"
            )
        edges = {name: torch.from_numpy(graph.edges[name]) for name in edge_types or graph.edges}
        self.num_nodes = {node_type: len(ids) for node_type, ids in graph.nodes.items()}
        self.sizes = {name: edge_index.size(1) for name, edge_index in edges.items()}
        joined = torch.cat([*edges.values(), torch.empty(2, 0, dtype=torch.int32)], dim=1).long()
        stoichiometry = (
            None
            if graph.stoichiometry is None
            else torch.tensor(graph.stoichiometry, dtype=torch.float32)
        )
        self.register_buffer("edges", joined, persistent=False)
        self.register_buffer("stoichiometry", stoichiometry, persistent=False)

    @property
    def edge_index(self) -> dict[str, Tensor]:
        """The static form: per edge type int64 [2, E], source and target indices; views of one
        buffer.
        """
        return dict(zip(self.sizes, self.edges.split_with_sizes(list(self.sizes.values()), dim=1)))

    def block_diagonal(self, batch_size: int) -> dict[str, Tensor]:
        """The block-diagonal form. On a CPU it is laid out once, for the largest batch so far, and
        mapped by each call: writing to it changes only this one.

        Args:
            batch_size: B

        Returns:
            Per edge type int64 [2, B * E]; sample b's nodes are offset by b * N of their type.
        """
        device = self.edges.device
        return {name: self._laid_out.block(name, batch_size, device) for name in self.sizes}
