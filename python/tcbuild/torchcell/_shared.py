"""What all samples and batches of a dataset share."""

from __future__ import annotations

import pickle
import uuid
from typing import Any, ClassVar, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild._graph.graph import ends_of
from tcbuild._lazy import lazy_property
from tcbuild._masks.genotypes import Genotypes, per_genotype
from tcbuild._masks.masks import ascending
from tcbuild.torch import MaskGenerator, MaskLayout
from tcbuild.torch._edges import block_diagonal
from tcbuild.torchcell._cell_graph import cell_graph, index_name
from tcbuild.torchcell._order import sample_order
from tcbuild.torchcell._patched_edges import PatchedEdges

Kind = str | tuple[str, str, str] | None  # a node type, an edge type, or what is of the whole graph
Keys = dict[Kind, list[str]]

_TENSORS = ("x", "w_growth", "edge_index", "hyperedge_index", "stoichiometry")


class Shared:
    """The cell graph; and on each device that was asked for, its tensors laid out for a batch, and
    the generator of its masks.

    In a process there is one for a dataset with all its views and copies. A batch that comes from
    another process finds it by its token.
    """

    _known: ClassVar[WeakValueDictionary[str, Shared]] = WeakValueDictionary()

    def __init__(self, stored: tcbuild.Dataset, token: str = ""):
        self.stored = stored.whole
        self._token = token or uuid.uuid4().hex
        self._known[self._token] = self
        self._laid_out: dict[tuple[torch.device, Kind, str], _LaidOut] = {}
        self._generators: dict[torch.device, MaskGenerator] = {}
        self._patched: dict[torch.device, PatchedEdges] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Shared._find, (self._token, pickle.dumps(self.stored))

    @classmethod
    def _find(cls, token: str, stored: bytes) -> Shared:
        return cls._known.get(token) or cls(pickle.loads(stored), token)

    @lazy_property
    def graph(self) -> HeteroData:
        return cell_graph(self.stored)

    @lazy_property
    def gene_names(self) -> npt.NDArray[np.object_]:
        return np.array(self.stored.genes, object)

    @property
    def keys(self) -> Keys:
        """What a sample has of the graph, and its masks."""
        found: Keys = {}
        stores = {
            mask_name(kind): (kind, store)
            for kind, store in (*self.graph.node_items(), *self.graph.edge_items())
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

    @property
    def sizes(self) -> dict[Kind, int]:
        """The nodes or edges of each type."""
        of_graph: dict[Kind, int] = {kind: s.num_nodes for kind, s in self.graph.node_items()}
        for kind, store in self.graph.edge_items():
            of_graph[kind] = store[index_name(mask_name(kind))].size(1)
        return of_graph

    @lazy_property
    def _reaction_indices(self) -> list[int]:
        return list(range(self.graph["reaction"].num_nodes))

    def of_sample(self, kind: Kind, key: str) -> Any:
        """A value of the graph as a sample has it."""
        if key == "num_edges":  # of the graph's gpr it is the number of reactions
            return self.graph[kind][index_name(mask_name(kind))].size(1)
        if key == "node_ids" and kind == "reaction":
            return self._reaction_indices
        return self.graph[kind][key]

    def of_batch(self, kind: Kind, key: str, size: int, device: torch.device) -> Any:
        """A value of the graph as a batch of some size has it, for all its samples. x_batch and
        x_ptr are those of the nodes.
        """
        if key in ("node_ids", "num_edges"):
            return [self.of_sample(kind, key)] * size
        if key == "num_nodes":
            return self._nodes(kind) * size
        if key.endswith("ptr"):
            return torch.arange(size + 1, device=device) * self._nodes(kind)
        key = "batch" if key.endswith("_batch") else key
        place, source = (device, kind, key), None if key == "batch" else self.graph[kind][key]
        laid_out = self._laid_out.get(place)
        if laid_out is None or not laid_out.serves(source, size):
            self._laid_out.pop(place, None)  # freed before the new one is made
            tensor = self._lay_out(kind, key, size, device)
            version = 0 if source is None else source._version
            laid_out = self._laid_out[place] = _LaidOut(source, version, size, tensor)
        tensor = laid_out.tensor
        dim = 1 if key.endswith("edge_index") else 0
        return tensor.narrow(dim, 0, tensor.size(dim) // laid_out.size * size)

    def _nodes(self, kind: Kind) -> int:
        """The nodes of a type. The dataset's own types need no reading of the graph."""
        masks = self.stored.mask_names
        found: int = self.graph[kind].num_nodes if kind not in masks else 0
        return found or self.stored.mask_sizes[masks.index(str(kind))]

    def _lay_out(self, kind: Kind, key: str, size: int, device: torch.device) -> Tensor:
        if key == "batch":
            return torch.arange(size, device=device).repeat_interleave(self._nodes(kind))
        tensor: Tensor = self.graph[kind][key].to(device)
        if key.endswith("edge_index"):
            assert isinstance(kind, tuple)
            source, target = ends_of(mask_name(kind))
            nodes = self.graph[source].num_nodes, self.graph[target].num_nodes
            return block_diagonal(tensor, nodes, size)
        return tensor.repeat(size, *[1] * (tensor.dim() - 1))

    def patched(self, device: torch.device) -> PatchedEdges:
        """What makes the edges of batches on a device without those that are removed."""
        if device not in self._patched:
            self._patched[device] = PatchedEdges(
                lambda kind, size: self._lay_out(kind, "edge_index", size, device)
            )
        return self._patched[device]

    def removed(
        self, genes: npt.NDArray[np.int64], ptr: npt.NDArray[np.int64]
    ) -> list[npt.NDArray[np.int32]]:
        """Per sample its removed positions, ascending. Sample b deletes genes[ptr[b]:ptr[b+1]]."""
        positions = self.stored.removal.positions
        return per_genotype(genes, ptr, lambda b: ascending(positions(genes[ptr[b] : ptr[b + 1]])))

    def edge_index(self, kind: Kind, size: int, device: torch.device) -> Tensor:
        """The edges of a type in a batch of some size."""
        edge_index: Tensor = self.of_batch(kind, index_name(mask_name(kind)), size, device)
        return edge_index

    def gene_masks(
        self, deleted: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]], device: torch.device
    ) -> dict[str, Tensor]:
        """The masks of genes alone. deleted: genes and ptr"""
        genes, ptr = deleted
        count, size = len(self.gene_names), len(ptr) - 1
        places = np.repeat(np.arange(size) * count, np.diff(ptr)) + genes
        mask = np.ones(size * count, np.bool_)
        mask[places] = False
        return {"gene": torch.from_numpy(mask).to(device)}

    def masks(
        self,
        genes: Tensor,
        ptr: Tensor,
        deleted: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    ) -> dict[str, Tensor]:
        """The masks of a batch that deletes genes[ptr[b]:ptr[b + 1]], on their device. deleted:
        both on the host
        """
        if genes.device.type == "cpu":
            return self._masks_on_cpu(*deleted)
        if genes.device not in self._generators:
            generator = MaskGenerator(self.stored, "concatenated").to(genes.device)
            self._generators[genes.device] = generator
        of_batch: tuple[Any, ...] = genes, ptr
        if genotypes := Genotypes.of(*deleted):
            of_batch = (genotypes.to(genes.device),)
        masks: dict[str, Tensor] = self._generators[genes.device](*of_batch)
        return masks

    def _masks_on_cpu(
        self, genes: npt.NDArray[np.int64], ptr: npt.NDArray[np.int64]
    ) -> dict[str, Tensor]:
        """As a sample's are made: half the time of a generator, which works for a device."""
        stored = self.stored
        layout = MaskLayout(tuple(stored.mask_names), tuple(stored.mask_sizes), "concatenated")
        positions = stored.removal.positions
        removed = per_genotype(genes, ptr, lambda b: positions(genes[ptr[b] : ptr[b + 1]]))
        return layout.masks(len(removed), *layout.removals(removed))


class _LaidOut(NamedTuple):
    source: Tensor | None
    version: int
    size: int
    tensor: Tensor

    def serves(self, source: Tensor | None, size: int) -> bool:
        """Whether it is of this tensor, unchanged, and for batches of at least this size."""
        unchanged = source is None or self.version == source._version
        return self.source is source and unchanged and size <= self.size


def mask_name(kind: Kind) -> str:
    """The name of a type's mask."""
    return kind if isinstance(kind, str) else "__".join(kind or ())
