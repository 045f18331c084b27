"""HeteroData whose contents are made when they are first asked for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import get_worker_info
from torch_geometric.data import HeteroData

from tcbuild.pyg.shared import Keys, Kind, Shared, mask_name
from tcbuild.torch.basis import mark_basis
from tcbuild.torch.threads import one_thread

Values = dict[Kind, dict[str, Any]]

_STORES = ("_global_store", "_node_store_dict", "_edge_store_dict")


class Deferred(HeteroData):  # type: ignore[misc]
    """A HeteroData of values, and of keys whose values are made when anything is asked for.

    Until then it is small, so it is cheap to make, to send and to move to another device. Then it
    is a HeteroData like any other.
    """

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

    def _masks(self) -> dict[str, Tensor]:
        raise NotImplementedError

    def _of_graph(self, kind: Kind, key: str) -> Any:
        raise NotImplementedError

    def _make(self, kind: Kind, keys: Iterable[str], masks: dict[str, Tensor]) -> dict[str, Any]:
        made = {}
        for key in keys:
            if key in ("mask", "pert_mask"):
                mask = masks[mask_name(kind)]
                made[key] = mask if key == "mask" else ~mask
            else:
                made[key] = self._of_graph(kind, key)
        return made

    def __getattr__(self, name: str) -> Any:
        if name not in _STORES:
            return super().__getattr__(name)
        keys, values = self._shared.keys if self._keys is None else self._keys, self._values
        with one_thread(self._genes.device):
            masks = self._masks()
            made = {kind: self._make(kind, keys[kind], masks) for kind in keys}
        HeteroData.__init__(self)  # with empty stores
        for contents in (made, values):
            for kind, content in contents.items():
                self._store(kind).update(content)
        versions = {
            kind: {key: (value, _version(value)) for key, value in content.items()}
            for kind, content in made.items()
        }
        mark_basis(values["gene"]["perturbation_indices"], self._shared.stored.mask_basis)
        self.__dict__.update(_keys=None, _values=None, _made=versions)
        return self.__dict__[name]

    def _store(self, kind: Kind) -> Any:
        if kind is None:
            return self._global_store
        return self.get_node_store(kind) if isinstance(kind, str) else self.get_edge_store(*kind)

    def parts(self) -> tuple[Keys | None, Values]:
        """The keys of what was or will be made, unchanged, and the values of all others."""
        if "_global_store" not in self.__dict__:
            return self._keys, self._values
        keys: Keys = {}
        values: Values = {}
        for kind in (None, *self.node_types, *self.edge_types):
            made = self._made.get(kind, {})
            content = dict(self._store(kind).items())
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
    if type(value) is list:
        return [moved(item, move, what) for item in value]
    return value


def _version(value: Any) -> int:
    return value._version if isinstance(value, Tensor) else 0


def is_same(value: Any, made: tuple[Any, int] | None) -> bool:
    """Whether a value is what was made, unchanged."""
    if made is None:
        return False
    if isinstance(value, int):
        return bool(value == made[0])
    return value is made[0] and _version(value) == made[1]
