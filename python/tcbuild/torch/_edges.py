"""The edges of a graph, laid out for the batches of a process."""

from __future__ import annotations

import pickle
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

import tcbuild
from tcbuild._graph.graph import ends_of
from tcbuild.errors import unknown_name


class Edges:
    """The edges of B unconnected copies of a graph, by edge type and device.

    A process has one for all datasets of a graph and reaction rule. A batch from a worker finds it
    by these.
    """

    _known: ClassVar[WeakValueDictionary[str, Edges]] = WeakValueDictionary()

    def __init__(self, stored: tcbuild.Dataset):
        self.stored = stored.whole
        self._laid_out: dict[tuple[str, torch.device], Tensor] = {}

    @classmethod
    def of(cls, stored: tcbuild.Dataset) -> Edges:
        """That of a dataset's graph."""
        basis = stored.mask_basis
        edges = cls._known.get(basis)
        if edges is None:
            edges = cls._known[basis] = cls(stored)
        return edges

    def __reduce__(self) -> tuple[Any, ...]:
        return Edges._find, (self.stored.mask_basis, pickle.dumps(self.stored))

    @classmethod
    def _find(cls, basis: str, stored: bytes) -> Edges:
        return cls._known.get(basis) or cls.of(pickle.loads(stored))

    def of_type(self, name: str) -> npt.NDArray[np.int32]:
        """int32 [2, E], the edges of a type on the host."""
        edges = self.stored.graph.edges
        if name not in edges:
            raise unknown_name("edge type", name, edges)
        return edges[name]

    def block(self, name: str, batch_size: int, device: torch.device) -> Tensor:
        """int64 [2, B * E]; a view of what was laid out for the largest batch so far."""
        edges = self.of_type(name)
        laid_out = self._laid_out.get((name, device))
        if laid_out is None or laid_out.size(1) < batch_size * edges.shape[1]:
            self._laid_out.pop((name, device), None)  # freed before the new one is made
            nodes = [len(self.stored.graph.nodes[end]) for end in ends_of(name)]
            edge_index = torch.from_numpy(edges).long().to(device)
            laid_out = block_diagonal(edge_index, (nodes[0], nodes[1]), batch_size)
            self._laid_out[name, device] = laid_out
        return laid_out.narrow(1, 0, batch_size * edges.shape[1])


def block_diagonal(edge_index: Tensor, nodes: tuple[int, int], batch_size: int) -> Tensor:
    """edge_index [2, E] of so many unconnected copies of a graph, [2, B * E]. nodes: of the types
    of the sources and of the targets.
    """
    copies = torch.arange(batch_size, device=edge_index.device)
    offsets = torch.tensor(nodes, device=edge_index.device)[:, None] * copies
    if edge_index.device.type != "cpu" or type(edge_index) is not Tensor:
        return (edge_index[:, None, :] + offsets[:, :, None]).view(2, -1)
    # NumPy asks the kernel for huge pages, and takes a third of torch's time.
    blocks = np.empty((2, batch_size, edge_index.size(1)), np.int64)
    np.add(edge_index.numpy()[:, None, :], offsets.numpy()[:, :, None], out=blocks)
    return torch.from_numpy(blocks).view(2, -1)
