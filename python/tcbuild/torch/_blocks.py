"""What all batches have of the graph: laid out once, and mapped privately by each batch.

A batch of B samples has B unconnected copies of the graph, one after the other. They lie in one
anonymous file per process. Each batch maps the file: a page that it writes becomes its own, so its
tensors are ordinary ones, and no other batch sees a change. To map and drop 1 GB takes 5 µs.
"""

from __future__ import annotations

import math
import mmap
import os
import tempfile
import threading
import warnings
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

import tcbuild
from tcbuild._graph.graph import ends_of
from tcbuild.errors import unknown_name

_ALIGNED = 64  # bytes


class Part(NamedTuple):
    """One tensor of the graph.

    values: [rows, n, ...] of one sample; edges have two rows
    shifts: what sample b has more than the sample before, in each row; edges have the numbers of
        nodes of both ends. None if all samples have the same
    more: samples more than the batch has: 1 for ptr
    """

    values: npt.NDArray[Any]
    shifts: tuple[int, ...] | None = None
    more: int = 0

    @classmethod
    def edges(cls, edge_index: npt.NDArray[np.integer], nodes: tuple[int, int]) -> Part:
        return cls(edge_index.astype(np.int64, copy=False), nodes)

    def blocks(self, size: int) -> tuple[int, ...]:
        """The shape of so many samples: [rows, B, n, ...]."""
        rows, *rest = self.values.shape
        return (rows, size + self.more, *rest)

    def joined(self, blocks: Tensor) -> Tensor:
        """[B * n, ...], or of several rows [rows, B * n, ...]."""
        flat = blocks.flatten(1, 2)
        return flat if len(flat) > 1 else flat[0]

    def fill(self, out: npt.NDArray[Any]) -> None:
        """Writes the blocks."""
        for row, block in enumerate(out):
            for sample, one in enumerate(block):
                if self.shifts is None:
                    one[...] = self.values[row]
                else:
                    np.add(self.values[row], self.shifts[row] * sample, out=one)

    def on(self, values: Tensor, size: int) -> Tensor:
        """The tensor on the device of its values."""
        blocks = values.unsqueeze(1).expand(self.blocks(size))
        if self.shifts is not None:
            shifts = torch.tensor(self.shifts, device=values.device)[:, None]
            shifts = shifts * torch.arange(size + self.more, device=values.device)
            blocks = blocks + shifts[:, :, None]
        return self.joined(blocks).contiguous()


class Template:
    """Parts laid out for batches of up to `size` samples."""

    def __init__(self, parts: Mapping[Any, Part], size: int):
        self.parts, self.size = parts, size
        self._starts, end = {}, 0
        for key, part in parts.items():
            self._starts[key] = end
            end += -(-math.prod(part.blocks(size)) * part.values.itemsize // _ALIGNED) * _ALIGNED
        self._bytes = max(end, 1)
        self._file = _anonymous_file()
        os.ftruncate(self._file, self._bytes)
        memory = mmap.mmap(self._file, self._bytes)
        for key, part in parts.items():
            part.fill(self._blocks(memory, key).numpy())

    def __del__(self) -> None:
        os.close(self._file)

    def serves(self, parts: Mapping[Any, Part], size: int) -> bool:
        """Whether it has these parts, unchanged, for batches of this size."""
        own = self.parts
        return size <= self.size and all(
            key in own and own[key].values is part.values for key, part in parts.items()
        )

    def views(self, keys: Collection[Any], size: int) -> dict[Any, Tensor]:
        """Tensors of a batch, in memory of its own."""
        try:
            write = mmap.PROT_READ | mmap.PROT_WRITE
            memory: Any = mmap.mmap(self._file, self._bytes, mmap.MAP_PRIVATE, write)
        except OSError:  # the system counts the whole mapping as used
            warnings.warn(
                f"map {self._bytes:,} bytes of edges: no memory is left\n"
                "hint: allow overcommit (vm.overcommit_memory=0); now they are copied",
                stacklevel=2,
            )
            memory = bytearray(self._bytes)
            os.preadv(self._file, [memory], 0)
        return {
            key: self.parts[key].joined(self._blocks(memory, key)[:, : size + self.parts[key].more])
            for key in keys
        }

    def _blocks(self, memory: Any, key: Any) -> Tensor:
        """The blocks of a part, [rows, B, n, ...]."""
        part = self.parts[key]
        shape, dtype = part.blocks(self.size), torch.from_numpy(part.values[:0]).dtype
        count = math.prod(shape)
        if not count:
            return torch.empty(shape, dtype=dtype)
        flat = torch.frombuffer(memory, dtype=dtype, count=count, offset=self._starts[key])
        return flat.view(shape)


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("tcbuild")
    file, name = tempfile.mkstemp()
    os.unlink(name)
    return file


class Blocks:
    """What batches have of a graph, for each size and device.

    In a process there is one for a token. A batch that comes from another process finds it by that.
    """

    _known: ClassVar[WeakValueDictionary[str, Any]] = WeakValueDictionary()

    def __init__(self, stored: tcbuild.Dataset, token: str):
        self.stored, self.token = stored.whole, token
        self._templates: list[Template] = []
        self._on: dict[Any, tuple[npt.NDArray[Any], Tensor]] = {}
        self._locks: dict[int, threading.RLock] = {}
        self._known[token] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return self.find, (self.stored, self.token)

    def __deepcopy__(self, memo: object) -> Blocks:
        return self

    @classmethod
    def find(cls, stored: tcbuild.Dataset, token: str) -> Any:
        """The one of a token, made if there is none. Another process opens the files of the dataset
        that asked last: those of an earlier one may be gone.
        """
        found = cls._known.get(token)
        if found is None:
            return cls(stored, token)
        found.stored = stored.whole
        return found

    @property
    def lock(self) -> Any:
        """A lock of this process: a fork while another thread holds it leaves it locked."""
        return self._locks.setdefault(os.getpid(), threading.RLock())

    def laid_out(
        self, parts: Mapping[Any, Part], size: int, device: torch.device
    ) -> dict[Any, Tensor]:
        """The tensors of so many samples. On a CPU they are private views of one file; elsewhere
        they are made there, from one copy of the graph.
        """
        with self.lock:
            if device.type != "cpu":
                return {
                    key: part.on(self._sent(key, part, device), size) for key, part in parts.items()
                }
            for template in self._templates:
                if template.serves(parts, size):
                    return template.views(parts, size)
            # Those that it stands for are freed before it is made.
            self._templates = [
                each for each in self._templates if not each.parts.keys() <= {*parts}
            ]
            self._templates.append(Template(dict(parts), size))
            return self._templates[-1].views(parts, size)

    def _sent(self, key: Any, part: Part, device: torch.device) -> Tensor:
        """The values of a part on a device."""
        values, sent = self._on.get((key, device), (None, None))
        if sent is None or values is not part.values:
            sent = torch.from_numpy(part.values).to(device)
            self._on[key, device] = part.values, sent
        return sent


class Edges(Blocks):
    """The edges of all datasets of one graph and reaction rule, each type laid out by itself."""

    @classmethod
    def of(cls, stored: tcbuild.Dataset) -> Edges:
        # They live as long as a dataset of theirs: batches come and go.
        found: Edges = cls.find(stored, stored._mask_basis)
        vars(stored._cell)["edges"] = found
        return found

    def of_type(self, name: str) -> npt.NDArray[np.int32]:
        """int32 [2, E], the edges of a type on the host."""
        edges = self.stored.graph.edges
        if name not in edges:
            raise unknown_name("edge type", name, edges)
        return edges[name]

    def block(self, name: str, size: int, device: torch.device) -> Tensor:
        """int64 [2, B * E]."""
        if name not in self._parts:
            nodes = [len(self.stored.graph.nodes[end]) for end in ends_of(name)]
            self._parts[name] = Part.edges(self.of_type(name), (nodes[0], nodes[1]))
        return self.laid_out({name: self._parts[name]}, size, device)[name]

    def __init__(self, stored: tcbuild.Dataset, token: str):
        super().__init__(stored, token)
        self._parts: dict[str, Part] = {}
        self.shared: dict[Any, Any] = {}  # what _shared.py makes of the graph, by device
