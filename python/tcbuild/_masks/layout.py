"""The layout of a batch's masks: one buffer, ordered by type, then by sample.

Each type's masks are contiguous, which is both the stacked form [B, E] and the concatenated form [B
* E]. A batch takes one allocation, one copy to a device, one fill and one write of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tcbuild._lazy import uncompiled
from tcbuild._masks.genotypes import per_genotype

Form = Literal["stacked", "concatenated"]
"""How the masks of B samples are joined; see MaskLayout.form."""


@dataclass(frozen=True)
class MaskLayout:
    """The shape of a batch's masks.

    Attributes:
        names: of the masks in canonical order
        sizes: their numbers of positions
        form: `stacked`: [B, E] per mask; `concatenated`: [B * E], as PyG joins the graphs of a
            batch
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    form: Form = "stacked"

    def __post_init__(self) -> None:
        if self.form not in ("stacked", "concatenated"):
            raise ValueError(
                f"lay out masks: form {self.form!r}\nhint: use stacked or concatenated"
            )

    def all_kept(self, batch_size: int, device: torch.device) -> Tensor:
        """The buffer of unperturbed samples.

        Args:
            batch_size: of how many
            device: where it is made

        Returns:
            bool [batch_size * sum(sizes)].
        """
        length = batch_size * sum(self.sizes)
        if device.type != "cpu" or torch.compiler.is_compiling():
            return torch.ones(length, dtype=torch.bool, device=device)
        memory = np.empty(length, np.uint8)  # unlike torch, NumPy asks for huge pages
        memory.fill(1)  # by memset, 1.5 times as fast as torch's fill_
        return torch.from_numpy(memory).view(torch.bool)

    def rows(self, buffer: Tensor, batch_size: int) -> dict[str, Tensor]:
        """The buffer's masks by name, [B, size] each; they share its memory.

        Args:
            buffer: of a batch
            batch_size: B
        """
        parts = buffer.split_with_sizes([batch_size * size for size in self.sizes])
        return {
            name: part.view(batch_size, size)
            for name, part, size in zip(self.names, parts, self.sizes)
        }

    def views(self, buffer: Tensor, batch_size: int) -> dict[str, Tensor]:
        """The buffer's masks by name, in the layout's form; they share its memory.

        Args:
            buffer: of a batch
            batch_size: B
        """
        rows = self.rows(buffer, batch_size)
        return (
            rows if self.form == "stacked" else {name: mask.view(-1) for name, mask in rows.items()}
        )

    def removals(self, removed: Sequence[npt.NDArray[np.integer[Any]]]) -> Removals:
        """What a batch removes.

        Args:
            removed: each sample's removed positions (among all positions, in any order and possibly
                repeated)
        """
        batch_size = len(removed)
        ends = np.cumsum(self.sizes)
        base = (batch_size - 1) * (ends - self.sizes)
        positions = np.concatenate([*removed, np.empty(0, np.int64)]).astype(np.int64, copy=False)
        sample = np.repeat(np.arange(batch_size), [len(part) for part in removed])
        mask = np.searchsorted(ends, positions, side="right")
        addresses = positions + base[mask] + sample * np.array(self.sizes)[mask]
        return Removals(self, batch_size, addresses)


Numbers = npt.NDArray[Any] | Tensor  # an array until it is pinned or moved


@dataclass(frozen=True, eq=False)
class Removals:
    """What B samples remove: all that their masks differ in from those that keep everything.

    addresses: int64, where the buffer differs from MaskLayout.all_kept
    buffer: uint8, the whole buffer in place of addresses, as full-masks raw stores it
    """

    layout: MaskLayout
    size: int
    addresses: Numbers
    buffer: Numbers | None = None

    def masks(self, device: torch.device) -> dict[str, Tensor]:
        """The masks by name, views of one buffer on the device, new unless stored whole."""
        layout, addresses = self.layout, sent(self.addresses, device)
        if self.buffer is not None:
            buffer = sent(self.buffer, device).view(torch.bool)
            return layout.views(buffer, self.size)
        buffer = layout.all_kept(self.size, device)
        if device.type == "cpu":
            buffer.numpy()[addresses.numpy()] = 0
        else:
            buffer.index_fill_(0, addresses, 0)
        return layout.views(buffer, self.size)

    def of(self, name: str) -> npt.NDArray[np.int64]:
        """Where a mask [B * E] is 0, ascending, as the host knows it: no device is waited for."""
        rank, sizes = self.layout.names.index(name), self.layout.sizes
        start, length = self.size * sum(sizes[:rank]), self.size * sizes[rank]
        if self.buffer is not None:
            zeros: npt.NDArray[np.int64] = np.flatnonzero(
                array(self.buffer)[start : start + length] == 0
            )
            return zeros
        addresses = array(self.addresses)
        among = (addresses >= start) & (addresses < start + length)
        return np.unique(addresses[among]) - start

    @uncompiled
    def coo(self, name: str, device: torch.device) -> Tensor:
        """Where a mask is 0, int64 [2, n] of sample and position, ascending, on a device that is
        not waited for.
        """
        size = self.layout.sizes[self.layout.names.index(name)]
        return sent(np.stack(np.divmod(self.of(name), size)), device)

    def kept(self, name: str) -> int:
        """How many positions of a mask all samples keep."""
        return self.size * self.layout.sizes[self.layout.names.index(name)] - len(self.of(name))

    def map(self, function: Callable[[Any], Any]) -> Removals:
        """With another form of its numbers."""
        buffer = None if self.buffer is None else function(self.buffer)
        return replace(self, addresses=function(self.addresses), buffer=buffer)


def read_removals(
    layout: MaskLayout,
    datasets: Sequence[Any],
    indices: npt.NDArray[np.int64],
    genes: npt.NDArray[np.integer[Any]],
    ptr: npt.NDArray[np.int64],
) -> Removals:
    """What samples remove: of each its whole tcbuild.Dataset, or one of all, and its index in that.
    Masks of full-masks raw are read into the batch's buffer as they are; other samples that delete
    the same genes are read once. Sample b deletes genes[ptr[b]:ptr[b + 1]].
    """
    size, count = len(indices), len(datasets)
    if all(dataset._has_plain_masks for dataset in datasets):
        buffer = np.empty(size * sum(layout.sizes), np.uint8)
        rows = [*layout.rows(torch.from_numpy(buffer), size).values()]
        masks = [row.numpy() for row in rows]
        for b, index in enumerate(indices.tolist()):
            datasets[b % count]._masks.read_into(index, [mask[b] for mask in masks])
        return Removals(layout, size, np.empty(0, np.int64), buffer)
    return layout.removals(
        per_genotype(genes, ptr, lambda b: datasets[b % count]._masks.unordered(int(indices[b])))
    )


def sent(numbers: Numbers, device: torch.device) -> Tensor:
    """Numbers as a tensor on a device, without waiting for it."""
    tensor = torch.from_numpy(numbers) if isinstance(numbers, np.ndarray) else numbers
    return tensor.to(device, non_blocking=True)


def array(numbers: Numbers) -> npt.NDArray[Any]:
    """Numbers as an array on the host."""
    return numbers if isinstance(numbers, np.ndarray) else numbers.cpu().numpy()


def pinned(numbers: Any) -> Any:
    """Numbers in page-locked memory."""
    return sent(numbers, torch.device("cpu")).pin_memory()
