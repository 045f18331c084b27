"""HeteroData whose contents are made when they are first asked for."""

from __future__ import annotations

import copy
from collections import UserDict
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import get_worker_info
from torch_geometric.data import HeteroData

from tcbuild._lazy import lazy_property
from tcbuild.torch._basis import mark_basis
from tcbuild.torch._threads import one_thread
from tcbuild.torchcell._shared import Keys, Kind, Shared, mask_name

Values = dict[Kind, dict[str, Any]]

_WAITING = object()
_STORES = ("_global_store", "_node_store_dict", "_edge_store_dict")


class Maker:
    """Makes what a sample or batch has of the graph, and its masks.

    made: what was made, and its version. It refers to no HeteroData: with a circle, the memory of
    masks would wait for Python to look for circles, and the next batch would take new memory.
    """

    def __init__(self, shared: Shared, genes: Tensor, keys: Keys):
        masked = {kind for kind in keys if {"mask", "pert_mask"} & {*keys[kind]}}
        self.shared, self.genes, self.of_genes = shared, genes, masked <= {"gene"}
        self.made: dict[Kind, dict[str, tuple[Any, int]]] = {}

    @lazy_property
    def masks(self) -> dict[str, Tensor]:
        """All masks; of genes alone if no others are asked for."""
        raise NotImplementedError

    def of_graph(self, kind: Kind, key: str) -> Any:
        raise NotImplementedError

    def make(self, kind: Kind, key: str) -> Any:
        with one_thread(self.genes.device):
            if key in ("mask", "pert_mask"):
                mask = self.masks[mask_name(kind)]
                value = mask if key == "mask" else ~mask
            else:
                value = self.of_graph(kind, key)
        self.made.setdefault(kind, {})[key] = value, _version(value)
        return value


class _Contents(UserDict[str, Any]):
    """What a store holds. Values that are _WAITING are made when they are asked for."""

    def __init__(self, content: dict[str, Any], make: Callable[[str], Any]):
        self.data, self._make = content, make

    def __getitem__(self, key: str) -> Any:
        value = self.data[key]
        if value is _WAITING:
            value = self.data[key] = self._make(key)
        return value

    def __repr__(self) -> str:
        return repr(dict(self))

    def __copy__(self) -> Any:
        return dict(self)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:  # deepcopy calls it, too
        return dict, (dict(self),)


class Deferred(HeteroData):  # type: ignore[misc]
    """A HeteroData of values, and of keys whose values are made when they are asked for.

    Until anything is asked for, it is small, so it is cheap to make, to send and to move to another
    device. Then it is a HeteroData like any other.
    """

    _shared: Shared
    _genes: Tensor
    _keys: Keys | None
    _values: Values
    _made: dict[Kind, dict[str, tuple[Any, int]]]

    def __init__(
        self,
        shared: Shared | None = None,
        genes: Tensor | None = None,
        keys: Keys | None = None,
        values: Values | None = None,
        **fields: Any,
    ):
        """genes: those deleted. keys: of what is made; None for all that the graph has."""
        if shared is None:  # PyG's Batch makes empty ones, to fill them itself
            super().__init__()
            return
        self.__dict__.update(_shared=shared, _genes=genes, _keys=keys, _values=values, _made=None)
        self.__dict__.update(fields)

    def _maker(self, keys: Keys) -> Maker:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name not in _STORES:
            return super().__getattr__(name)
        keys, values = self._shared.keys if self._keys is None else self._keys, self._values
        maker = self._maker(keys)
        HeteroData.__init__(self)  # with empty stores
        for kind in (*keys, *(kind for kind in values if kind not in keys)):
            content = dict.fromkeys(keys.get(kind, ()), _WAITING) | values.get(kind, {})
            self._store(kind)._mapping = _Contents(content, partial(maker.make, kind))
        mark_basis(values["gene"]["perturbation_indices"], self._shared.stored.mask_basis)
        self.__dict__.update(_keys=None, _values=None, _made=maker.made)
        return self.__dict__[name]

    def _store(self, kind: Kind) -> Any:
        if kind is None:
            return self._global_store
        return self.get_node_store(kind) if isinstance(kind, str) else self.get_edge_store(*kind)

    def contents(self, kind: Kind) -> dict[str, Any]:
        """What a store holds, _WAITING for what was not made yet."""
        mapping = self._store(kind)._mapping
        return dict(mapping.data if isinstance(mapping, _Contents) else mapping)

    def parts(self) -> tuple[Keys | None, Values]:
        """The keys of what was or will be made, unchanged, and the values of all others."""
        if "_global_store" not in self.__dict__:
            return self._keys, self._values
        keys: Keys = {}
        values: Values = {}
        for kind in (None, *self.node_types, *self.edge_types):
            made, content = self._made.get(kind, {}), self.contents(kind)
            keys[kind] = [key for key in content if is_same(content[key], made.get(key))]
            values[kind] = {key: content[key] for key in content if key not in keys[kind]}
        return keys, values

    def _unmade(self, move: Callable[[Any], Any]) -> dict[str, Any]:
        """Its fields as they were before anything was made, with each tensor moved."""
        keys, values = self.parts()
        fields = {name: value for name, value in self.__dict__.items() if name not in _STORES}
        fields |= {"_keys": keys, "_values": values, "_made": None}
        return {name: moved(value, move) for name, value in fields.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        if get_worker_info() is None:  # it may be kept, so it holds everything
            return HeteroData.from_dict, (self.to_dict(),)
        # As arrays: between processes a tensor is passed as a file descriptor, which costs more.
        return _received, (type(self), self._unmade(Tensor.numpy))

    def __copy__(self) -> HeteroData:
        self._global_store  # made, as a change of the copy is none of what would be made
        return super().__copy__()

    def __deepcopy__(self, memo: dict[int, Any]) -> HeteroData:
        if "_shared" not in self.__dict__:
            return super().__deepcopy__(memo)
        return copy.deepcopy(HeteroData.from_dict(self.to_dict()), memo)


def _received(kind: type[Deferred], fields: dict[str, Any]) -> Deferred:
    data = kind.__new__(kind)
    data.__dict__.update(moved(fields, torch.from_numpy, np.ndarray))
    return data


def moved(value: Any, move: Callable[[Any], Any], what: type = Tensor) -> Any:
    """A value with all tensors, or what else, in its dicts and lists moved."""
    if isinstance(value, what):
        return move(value)
    if type(value) is dict:
        return {key: moved(item, move, what) for key, item in value.items()}
    if type(value) is list and not (value and isinstance(value[0], str)):  # names are many
        return [moved(item, move, what) for item in value]
    return value


def _version(value: Any) -> int:
    return value._version if isinstance(value, Tensor) else 0


def is_same(value: Any, made: tuple[Any, int] | None) -> bool:
    """Whether a value is what was made, unchanged, or will be."""
    if value is _WAITING:
        return True
    if made is None:
        return False
    if isinstance(value, int):
        return bool(value == made[0])
    return value is made[0] and _version(value) == made[1]
