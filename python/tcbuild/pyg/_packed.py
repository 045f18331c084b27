"""HeteroData that is small until anything is asked for, and then plain: expanded once, whole."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from tcbuild._lazy import uncompiled
from tcbuild._masks.layout import Removals, array, pinned, read_removals, sent
from tcbuild.pyg._graph import Graph, Keys, Kind, mask_name, version_of
from tcbuild.torch._attributes import Attributes
from tcbuild.torch._basis import mark_basis

Values = dict[Kind, dict[str, Any]]
Lengths = dict[Kind, dict[str, Any]]  # of each sample's part of a joined value; -1 for none
_STORES = ("_global_store", "_node_store_dict", "_edge_store_dict")


class Terms(NamedTuple):
    """What the samples of a batch agree in."""

    path: Any
    mask_basis: str
    phenotypes: list[str]
    statistics: list[str]
    graph_processor: str


@dataclass(eq=False)
class Packed:
    """The compact form of samples or of a batch.

    stored: the whole tcbuild.Dataset of each sample, or one of all; indices: of samples in it
    genes, ptr: sample b deletes genes[ptr[b]:ptr[b + 1]]
    keys: what is taken from the graph, and masks. values: all else; tensors, arrays, lists
    removals: None until masks are needed. lengths: of each sample's part of a joined value
    terms: what samples of one batch agree in. follow: keys that have KEY_batch and KEY_ptr, too
    """

    graph: Graph
    stored: list[Any]
    indices: npt.NDArray[np.int64]
    genes: npt.NDArray[np.int64]
    ptr: npt.NDArray[np.int64]
    keys: Keys
    values: Values
    terms: Terms
    removals: Removals | None = None
    lengths: Lengths = field(default_factory=dict)
    phenotypes: npt.NDArray[np.float32] | None = None  # [B, P]; None if a sample has several of one
    follow: tuple[str, ...] = ()
    attributes: Attributes | None = None
    perturbed: tuple[npt.NDArray[Any] | None, ...] = (None, None, None)

    @property
    def size(self) -> int:
        return len(self.indices)

    @property
    def masked(self) -> set[Kind]:
        """The types that have masks."""
        return {kind for kind, keys in self.keys.items() if {"mask", "pert_mask"} & {*keys}}

    def with_masks(self) -> Removals:
        """What is removed; read once."""
        if self.removals is None:
            layout = self.graph.layout
            self.removals = read_removals(layout, self.stored, self.indices, self.genes, self.ptr)
        return self.removals

    def __deepcopy__(self, memo: object) -> Packed:
        """Itself, as nothing changes it but masks that are used as they were read."""
        if self.removals is None or self.removals.buffer is None:
            return self
        return replace(self, removals=self.removals.map(np.copy))

    def map(self, function: Callable[[Any], Any]) -> Packed:
        """With another form of its numbers."""
        values = {
            kind: {key: _changed(value, function) for key, value in of.items()}
            for kind, of in self.values.items()
        }
        removals = self.removals and self.removals.map(function)
        return replace(self, values=values, removals=removals)

    def masks(self, device: torch.device) -> dict[str, Tensor]:
        """The masks that it needs, on a device."""
        if self.masked <= {"gene"}:
            count = self.graph.rows("gene")
            mask = np.ones(self.size * count, np.bool_)
            mask[np.repeat(np.arange(self.size) * count, np.diff(self.ptr)) + self.genes] = False
            return {"gene": torch.from_numpy(mask).to(device)}
        return self.with_masks().masks(device)

    def contents(self, data: HeteroData, device: torch.device, is_batch: bool) -> dict[Any, Tensor]:
        """Fills a HeteroData; what it shares with others, and masks, by kind and key."""
        keys: Keys = {
            kind: [*of, *(("batch", "ptr") if is_batch and isinstance(kind, str) else ())]
            for kind, of in self.keys.items()
        }
        made = self.graph.tensors(keys, self.size, device)
        masks = self.masks(device)
        for kind in (*keys, *(kind for kind in self.values if kind not in keys)):
            store = store_of(data, kind)
            for key in keys.get(kind, ()):
                if key in ("mask", "pert_mask"):
                    mask = masks[mask_name(kind)]
                    made[kind, key] = mask if key == "mask" else ~mask
                if (kind, key) not in made:
                    graph, size = self.graph, self.size
                    constant = graph.constants(kind, key, size) if is_batch else None
                    store[key] = constant if is_batch else graph.of_sample(kind, key)
                else:
                    store[key] = made[kind, key]
            for key, value in self.values.get(kind, {}).items():
                is_number = isinstance(value, (np.ndarray, Tensor))
                store[key] = sent(value, device) if is_number else value
            for key in self.follow if isinstance(kind, str) else ():
                if key in keys.get(kind, ()):
                    for suffix in ("batch", "ptr"):
                        store[f"{key}_{suffix}"] = store[suffix]
        return made

    def of_batches(self, kind: Kind) -> set[str]:
        """The keys that no sample has."""
        followed = {f"{key}_{what}" for key in self.follow for what in ("batch", "ptr")}
        return {"batch", "ptr", *followed} if isinstance(kind, str) else {"num_graphs"}


class Small(HeteroData):  # type: ignore[misc]
    """A HeteroData of a Packed. Whatever is asked of it expands it: once, whole, under a lock. From
    then on it is a HeteroData like any other, and nothing in it changes by itself.
    """

    _packed: Packed | None
    _made: dict[Any, tuple[Tensor, int]]  # what was made of the graph, and its version
    _is_batch = False

    def __init__(self, packed: Packed | None = None):
        if packed is None:  # PyG makes empty ones, to fill them itself
            super().__init__()
            self.__dict__["_packed"] = None
        else:
            self.__dict__["_packed"] = packed

    def __getattr__(self, name: str) -> Any:
        if name == "_packed" or name.startswith("__"):
            raise AttributeError(name)
        if name in _STORES:
            self._expand(torch.device("cpu"))
            return self.__dict__[name]
        return super().__getattr__(name)

    @property
    def is_small(self) -> bool:
        """Whether nothing was made yet."""
        return self.__dict__["_packed"] is not None and _STORES[-1] not in self.__dict__

    @uncompiled
    def _expand(self, device: torch.device) -> None:
        packed = self.__dict__["_packed"]
        if packed is None:
            raise AttributeError("found an empty batch, expected one of a loader")
        with packed.graph.lock:
            if not self.is_small:
                return
            data = HeteroData()
            with torch.inference_mode(False), torch.no_grad():
                made = packed.contents(data, device, self._is_batch)
                _finish(data, packed)
            for store in data.stores:
                store._parent = self
            self.__dict__["_made"] = {key: (of, version_of(of)) for key, of in made.items()}
            self.__dict__.update({name: data.__dict__[name] for name in _STORES})

    def _unchanged(self, kind: Kind, key: str) -> bool:
        """Whether a value is what was made. Writes through NumPy or .data are not seen."""
        made, value = self._made.get((kind, key)), store_of(self, kind).get(key)
        packed = self.__dict__["_packed"]
        if made is not None:
            return value is made[0] and version_of(value) == made[1]
        if not packed or torch.is_tensor(value) or key not in packed.keys.get(kind, ()):
            return False
        graph, size = packed.graph, packed.size
        constant = graph.constants(kind, key, size) if self._is_batch else None
        found = constant if self._is_batch else graph.of_sample(kind, key)
        return bool(value is found or value == found)

    def __copy__(self) -> Any:
        if self.is_small:
            return type(self)(copy.deepcopy(self.__dict__["_packed"]))
        return super().__copy__()

    def __getstate__(self) -> dict[str, Any]:
        state = {
            key: value for key, value in self.__dict__.items() if key not in ("_made", "_keep")
        }
        if self.is_small:
            state["_packed"] = state["_packed"].map(_sent)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _made={})

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Moves all tensors, as in PyG, but casts only floating-point ones."""
        if any(isinstance(each, torch.dtype) for each in (*args, *kwargs.values())):
            return self.apply(
                lambda tensor: tensor.to(*args, **kwargs) if tensor.is_floating_point() else tensor
            )
        if self.is_small and len(args) == 1 and kwargs.keys() <= {"non_blocking"}:
            self._expand(torch.empty(0, device=args[0]).device)
            return self
        return super().to(*args, **kwargs)

    def cpu(self, *args: str) -> Any:
        """All tensors on the CPU."""
        return self.to("cpu", *args)

    def cuda(self, device: Any = None, *args: str, non_blocking: bool = False) -> Any:
        """All tensors on a GPU."""
        device = "cuda" if device is None else device
        return self.to(device, *args, non_blocking=non_blocking)

    def pin_memory(self, *args: str) -> Any:
        """It in page-locked memory; a DataLoader calls it."""
        if not self.is_small:
            return super().pin_memory(*args)
        return type(self)(self.__dict__["_packed"].map(pinned))


def _finish(data: HeteroData, packed: Packed) -> None:
    """Marks the deleted genes with the graph that they belong to."""
    for key in ("deleted", "perturbation_indices"):
        if torch.is_tensor(genes := data["gene"].get(key)):
            mark_basis(genes, packed.graph.stored._mask_basis)


def store_of(data: HeteroData, kind: Kind) -> Any:
    if kind is None:
        return data._global_store
    return data.get_node_store(kind) if isinstance(kind, str) else data.get_edge_store(*kind)


def _sent(numbers: Any) -> Any:
    """An array, as a tensor is sent as a file descriptor, which only a matrix of cells is worth."""
    return (
        numbers if getattr(numbers, "ndim", 1) > 1 and torch.is_tensor(numbers) else array(numbers)
    )


def _changed(value: Any, function: Callable[[Any], Any]) -> Any:
    return function(value) if isinstance(value, (np.ndarray, Tensor)) else value
