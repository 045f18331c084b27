"""The layout of a batch's masks: one buffer, ordered by type, then by sample.

Each type's masks are contiguous, which is both the stacked form [B, E] and the concatenated form [B
* E]. A batch takes one allocation, one copy to a device, one fill and one write of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tcbuild.torch._memory import unwritten_bytes
from tcbuild.torch._threads import one_thread

Form = Literal["stacked", "concatenated"]
Encoding = Literal["bool", "uint8", "bits"]

_DTYPES = {"bool": torch.bool, "uint8": torch.uint8, "bits": torch.uint8}


@dataclass(frozen=True)
class MaskLayout:
    """The shape of a batch's masks.

    names, sizes: the masks in canonical order and their numbers of positions
    form: `stacked`: [B, E] per mask; `concatenated`: [B * E], as PyG joins the graphs of a batch
    encoding: `bool` or `uint8` (1 keep, 0 removed), with a byte per position; or `bits`: uint8
        [ceil(E / 8)] per sample in place of [E], position p in bit p % 8 of byte p // 8, the bits
        after the last position 0
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    form: Form = "stacked"
    encoding: Encoding = "bool"

    def __post_init__(self) -> None:
        if self.form not in ("stacked", "concatenated") or self.encoding not in _DTYPES:
            raise ValueError(
                f"lay out masks: form {self.form!r}, encoding {self.encoding!r}\n"
                "hint: the forms are stacked and concatenated, the encodings bool, uint8 and bits"
            )

    @property
    def widths(self) -> list[int]:
        """Bytes of one sample's mask, per type."""
        return [(size + 7) // 8 if self.encoding == "bits" else size for size in self.sizes]

    def all_kept(self, batch_size: int, device: torch.device) -> Tensor:
        """The buffer of batch_size unperturbed samples: batch_size * sum(widths) bytes."""
        length = batch_size * sum(self.widths)
        fill = 255 if self.encoding == "bits" else 1
        if device.type == "cpu" and not torch.compiler.is_compiling():
            buffer = unwritten_bytes(length)
            buffer.numpy().fill(fill)  # by memset, 1.5 times as fast as torch's fill_
            buffer = buffer.view(_DTYPES[self.encoding])
        else:
            buffer = torch.full((length,), fill, dtype=_DTYPES[self.encoding], device=device)
        if self.encoding == "bits":
            for size, rows in zip(self.sizes, self.rows(buffer, batch_size).values()):
                if size % 8:
                    rows[:, -1] = (1 << size % 8) - 1
        return buffer

    def rows(self, buffer: Tensor, batch_size: int) -> dict[str, Tensor]:
        """The buffer's masks by name, [B, width] each; they share its memory."""
        widths = self.widths
        parts = buffer.split_with_sizes([batch_size * width for width in widths])
        return {
            name: part.view(batch_size, width)
            for name, part, width in zip(self.names, parts, widths)
        }

    def views(self, buffer: Tensor, batch_size: int) -> dict[str, Tensor]:
        """The buffer's masks by name, in the layout's form; they share its memory."""
        rows = self.rows(buffer, batch_size)
        return (
            rows if self.form == "stacked" else {name: mask.view(-1) for name, mask in rows.items()}
        )

    def flat(self, mask: Tensor, size: int) -> Tensor:
        """A mask of so many positions as bool [B * size]."""
        if self.encoding == "bits":
            bits = mask.view(-1, (size + 7) // 8, 1) >> torch.arange(8, device=mask.device)
            return (bits & 1).flatten(1)[:, :size].reshape(-1).bool()
        return mask.view(-1).view(torch.bool)

    def masks(
        self, batch_size: int, addresses: Tensor, kept_bits: Tensor | None
    ) -> dict[str, Tensor]:
        """The masks of a batch with such removals, on their device: views of one new buffer."""
        with one_thread(addresses.device):
            buffer = self.all_kept(batch_size, addresses.device)
            if kept_bits is None:
                buffer.index_fill_(0, addresses, 0)
            else:
                kept = buffer.index_select(0, addresses) & kept_bits
                buffer.index_copy_(0, addresses, kept)
        return self.views(buffer, batch_size)

    def removals(
        self, removed: Sequence[npt.NDArray[np.integer[Any]]]
    ) -> tuple[Tensor, Tensor | None]:
        """Where a batch's buffer differs from all_kept, from each sample's removed positions (among
        all positions, in any order and possibly repeated).

        Returns int64 addresses in the buffer, and for `bits` the uint8 value to and with at each,
        which is there once.
        """
        batch_size = len(removed)
        ends = np.cumsum(self.sizes)
        row = np.array(self.widths, np.int64) * (
            8 if self.encoding == "bits" else 1
        )  # in bits, a row ends at a byte boundary
        base = batch_size * (np.cumsum(row) - row) - (ends - self.sizes)
        positions = np.concatenate([*removed, np.empty(0, np.int64)]).astype(np.int64, copy=False)
        sample = np.repeat(np.arange(batch_size), [len(part) for part in removed])
        mask = np.searchsorted(ends, positions, side="right")
        addresses = positions + base[mask] + sample * row[mask]
        if self.encoding != "bits":
            return torch.from_numpy(addresses), None
        addresses.sort()
        first = np.flatnonzero(np.diff(addresses >> 3, prepend=-1))
        cleared = (
            np.bitwise_or.reduceat(1 << (addresses & 7), first)
            if len(first)
            else np.empty(0, np.int64)
        )
        return torch.from_numpy(addresses[first] >> 3), torch.from_numpy(
            255 - cleared.astype(np.uint8)
        )
