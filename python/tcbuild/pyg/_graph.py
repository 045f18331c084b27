"""The cell graph that the samples and batches of a dataset have."""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild._graph.graph import ends_of
from tcbuild._lazy import lazy_property
from tcbuild._masks.layout import MaskLayout
from tcbuild.pyg._cell_graph import cell_graph
from tcbuild.torch._blocks import Blocks, Part

Kind = str | tuple[str, str, str] | None  # a node type, an edge type, or what is of the whole graph
Keys = dict[Kind, list[str]]
EDGES = ("edge_index", "hyperedge_index")


class Graph(Blocks):
    """The cell graph, and what samples have of it. A dataset shares one with all its views."""

    def __init__(self, stored: tcbuild.Dataset, token: str = ""):
        super().__init__(stored, token or uuid.uuid4().hex)
        self._parts: dict[tuple[Kind, str], tuple[Tensor | None, int, Part]] = {}
        sizes = tuple(self.stored.mask_sizes)
        self.layout = MaskLayout(tuple(self.stored.mask_names), sizes, "concatenated")

    @lazy_property
    def data(self) -> HeteroData:
        return cell_graph(self.stored)

    def keys(self) -> Keys:
        """What a sample has of the graph, and its masks: all that has a row per node or edge."""
        found: Keys = {}
        for kind, store in (*self.data.node_items(), *self.data.edge_items()):
            rows = self.rows(kind)
            found[kind] = [
                key
                for key, value in store.items()
                if key in (*EDGES, "num_nodes") or _has_rows(value, rows)
            ]
            found[kind] += ["mask"] if mask_name(kind) in self.stored.mask_names else []
        return found

    def rows(self, kind: Kind) -> int:
        """The nodes or edges of a type."""
        if mask_name(kind) in self.stored.mask_names:
            return self.stored.mask_sizes[self.stored.mask_names.index(mask_name(kind))]
        store = self.data[kind]
        if isinstance(kind, str):
            return int(store.num_nodes)
        return int(store[edges_key(store)].size(1))

    def of_sample(self, kind: Kind, key: str) -> Any:
        """A value of the graph that is no tensor, as a sample has it."""
        return self.data[kind][key]

    def constants(self, kind: Kind, key: str, size: int) -> Any:
        """The same of a batch of so many samples."""
        if key == "num_nodes":
            return self.rows(kind) * size
        return [self.of_sample(kind, key)] * size

    def is_shared(self, kind: Kind, key: str) -> bool:
        """Whether it is a tensor that batches have of the graph."""
        return key in ("batch", "ptr") or torch.is_tensor(self.data[kind].get(key))

    def tensors(self, keys: Keys, size: int, device: torch.device) -> dict[Any, Tensor]:
        """The tensors with these keys in a batch of so many samples."""
        wanted = {
            (kind, key): self._part(kind, key)
            for kind, of_kind in keys.items()
            for key in of_kind
            if self.is_shared(kind, key)
        }
        return self.laid_out(wanted, size, device)

    def _part(self, kind: Kind, key: str) -> Part:
        """A part of the layout; another one after the tensor was changed."""
        source = None if key in ("batch", "ptr") else self.data[kind][key]
        version = version_of(source)
        found = self._parts.get((kind, key))
        if found is None or found[0] is not source or found[1] != version:
            made = self._new_part(kind, key, source)
            found = self._parts[kind, key] = source, version, made
        return found[2]

    def _new_part(self, kind: Kind, key: str, source: Tensor | None) -> Part:
        if key == "ptr":
            return Part(np.zeros((1, 1), np.int64), (self.rows(kind),), 1)
        if source is None:
            return Part(np.zeros((1, self.rows(kind)), np.int64), (1,))
        values = source.detach().cpu().numpy()
        if key in EDGES:
            return Part.edges(values, self.nodes_of_ends(kind))
        return Part(values[None])

    def nodes_of_ends(self, kind: Kind) -> tuple[int, int]:
        """The numbers of nodes of an edge type's sources and targets."""
        source, target = ends_of(mask_name(kind))
        return self.rows(source), self.rows(target)

    @lazy_property
    def gene_names(self) -> npt.NDArray[np.object_]:
        return np.array(self.stored.genes, object)


def mask_name(kind: Kind) -> str:
    """The name of a type's mask."""
    return kind if isinstance(kind, str) else "__".join(kind or ())


def edges_key(store: Any) -> str:
    """Under which key a store has its edges."""
    return next(key for key in EDGES if key in store)


def version_of(value: Any) -> int:
    """How often a tensor was changed in place; inference mode counts nothing."""
    return value._version if isinstance(value, Tensor) and not value.is_inference() else 0


def _has_rows(value: Any, rows: int) -> bool:
    if isinstance(value, Tensor):
        return value.dim() > 0 and len(value) == rows
    return isinstance(value, list) and len(value) == rows
