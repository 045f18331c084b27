"""Makes masks on the model's device, from only the deleted genes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

import tcbuild
from tcbuild.graph import RMR, ends_that_count
from tcbuild.torch.batch import Batch
from tcbuild.torch.dataset import Dataset, stored_dataset
from tcbuild.torch.mask_layout import Form, MaskLayout
from tcbuild.torch.reaction_rules import ReactionRules
from tcbuild.torch.threads import one_thread

# A slot is the space for one removed position on its way to the buffer. It takes about 40 bytes, so
# slots for 1/256 of the buffer's bytes stay below a fifth of it; fewer than the floor are not worth
# a separate pass.
_SLOTS_PER_BYTE = 1 / 256
_SLOTS_FLOOR = 1 << 13


class MaskGenerator(nn.Module):
    """Makes the masks of a batch from its perturbation indices, on the device it is on: the same on
    the CPU and on a GPU.

    dataset: of any variant, or its folder; what it takes from it is the graph and the reaction rule
    form:    `stacked` ([B, E] per mask) or `concatenated` ([B * E])

    Buffers: the genes' edge positions in compressed sparse rows (4 bytes per entry, two entries for
    a gene-gene edge; 20 MB for a yeast graph), and the reaction rules. They move with `.to(device)`
    and are not in `state_dict()`. There are no parameters and no state between calls, so each
    process of a DistributedDataParallel run uses its own; keep the module outside the wrapped
    model, whose buffers are broadcast.

    A call never waits for the device; on the CPU it uses one thread. Memory: the masks and at most
    a fifth of that (2 MB for small graphs). Only the device knows the number of removed positions,
    so there are slots for the most that the batch could remove, one pass at a time.
    """

    # int64 [types, genes + 1]: gene g's row of a type is positions[row_offsets[type,
    # g]:row_offsets[type, g + 1]]
    row_offsets: Tensor
    positions: Tensor  # int32 [entries]
    widths: Tensor  # int64 [types], positions of the type's mask
    starts: Tensor  # int64 [types], where the type's masks begin in a batch of one

    def __init__(self, dataset: Dataset | tcbuild.Dataset | str | Path, form: Form = "stacked"):
        super().__init__()
        stored = stored_dataset(dataset)
        graph, incidence = stored.graph, stored.incidence
        self.layout = MaskLayout(tuple(stored.mask_names), tuple(stored.mask_sizes), form)
        self.genes = len(graph.nodes["gene"])
        self.mask_basis = stored.mask_basis

        # Rows of genes: the gene mask itself (so no row of all is empty), then each edge type at
        # genes.
        names = ["gene", *(name for name in incidence if "gene" in ends_that_count(name))]
        offsets = [
            np.arange(self.genes + 1),
            *(incidence[name].offsets[: self.genes + 1] for name in names[1:]),
        ]
        positions = [
            np.arange(self.genes, dtype=np.int32),
            *(
                incidence[name].positions[: incidence[name].offsets[self.genes]]
                for name in names[1:]
            ),
        ]
        first = np.cumsum([0, *(len(part) for part in positions[:-1])])
        row_offsets = np.stack([part + start for part, start in zip(offsets, first)])
        self.longest = int(
            np.diff(row_offsets).sum(axis=0).max(initial=0)
        )  # positions that one gene can remove
        sizes = np.array(self.layout.sizes)
        ranks = [self.layout.names.index(name) for name in names]
        self._buffer("row_offsets", row_offsets.astype(np.int64))
        self._buffer("positions", np.concatenate(positions))
        self._buffer("widths", sizes[ranks])
        self._buffer("starts", (np.cumsum(sizes) - sizes)[ranks])

        self.reaction_rules = (
            ReactionRules(graph, stored.manifest["options"]["reaction_rule"])
            if "reaction" in graph.nodes
            else None
        )
        # Edges that go with reactions: their masks, and at which end the reaction is.
        self.at_reactions = [
            (name, side)
            for name in graph.edges
            for side, node_type in enumerate(ends_that_count(name))
            if node_type == "reaction"
        ]
        for name, side in self.at_reactions:
            self._buffer(f"{name}:{side}", graph.edges[name][side].astype(np.int64))

    def _buffer(self, name: str, values: npt.NDArray[np.integer[Any]]) -> None:
        self.register_buffer(name, torch.from_numpy(np.array(values)), persistent=False)

    def forward(
        self,
        batch: Batch | Mapping[str, Any] | Tensor,
        perturbation_indices_ptr: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """The masks of B samples: bool, True where kept, views of one new buffer, by mask name in
        canonical order.

        batch: of collate, or a PyG DataLoader's with follow_batch=["perturbation_indices"];
        ValueError if it has another graph or reaction rule.

        For genotypes that are in no dataset, pass two tensors instead. Nothing says which graph
        their indices belong to.
        batch: int [K], the deleted genes of all samples, in sample order
        perturbation_indices_ptr: int [B + 1], sample b deletes batch[ptr[b]:ptr[b + 1]]

        Raises ValueError if the two do not match or are on another device, IndexError for a gene
        that is not in the graph. A GPU checks values itself: an error stops the process at its next
        synchronisation.
        """
        if not isinstance(batch, Tensor):
            batch, perturbation_indices_ptr = self._deleted(batch)
        genes, ptr = self._checked(batch, perturbation_indices_ptr)
        with one_thread(genes.device):
            buffer = self._masks(genes, ptr)
        return self.layout.views(buffer, len(ptr) - 1)

    def _deleted(self, batch: Batch | Mapping[str, Any]) -> tuple[Tensor, Tensor | None]:
        """Perturbation indices and ptr of a batch with the generator's graph and rule."""
        if isinstance(batch, Batch):
            labels, found = batch, {batch.mask_basis}
        else:
            labels, basis = (
                batch["gene"],
                batch["mask_basis"] if "mask_basis" in batch else "unknown",
            )
            found = {basis} if isinstance(basis, str) else set(basis)
        if other := sorted(found - {self.mask_basis}):
            raise ValueError(
                f"make masks: found a batch of another graph or reaction rule: {other[0]}"
                f", expected {self.mask_basis}\n"
                "hint: make the generator from the batch's dataset, or build both datasets with "
                "one graph and reaction rule"
            )
        return labels.perturbation_indices, getattr(labels, "perturbation_indices_ptr", None)

    def _masks(self, genes: Tensor, ptr: Tensor) -> Tensor:
        """The buffer of the masks."""
        batch_size = len(ptr) - 1
        buffer = self.layout.all_kept(batch_size, genes.device)
        if len(genes):
            sample = (
                torch.searchsorted(ptr, torch.arange(len(genes), device=genes.device), right=True)
                - 1
            )
            self._remove(buffer, batch_size, genes, sample)
        if self.reaction_rules is not None:
            rows = self.layout.rows(buffer, batch_size)
            self.reaction_rules(rows["gene"], out=rows["reaction"])
            for name, side in self.at_reactions:
                ends = self.get_buffer(f"{name}:{side}").expand(batch_size, -1)
                if name == RMR:  # nothing else removes its edges
                    torch.gather(rows["reaction"], 1, ends, out=rows[name])
                else:
                    rows[name].logical_and_(rows["reaction"].gather(1, ends))
        return buffer

    def _remove(self, buffer: Tensor, batch_size: int, genes: Tensor, sample: Tensor) -> None:
        """Writes zeros at the positions in the deleted genes' rows."""
        row_starts = self.row_offsets.index_select(
            1, genes
        )  # [types, K]: a segment is one type's row of one deleted gene
        lengths = (self.row_offsets.index_select(1, genes + 1) - row_starts).view(-1)
        ends = lengths.cumsum(0)
        to_entry = row_starts.view(-1) - (ends - lengths)
        to_address = (self.starts[:, None] * batch_size + self.widths[:, None] * sample).view(-1)
        most = self._most_removals(ends, len(genes))
        per_pass = max(_SLOTS_FLOOR, int(len(buffer) * _SLOTS_PER_BYTE))
        for begin in range(0, most, per_pass):
            slots = torch.arange(begin, min(begin + per_pass, most), device=buffer.device)
            slots = torch.minimum(slots, ends[-1] - 1)  # superfluous slots repeat the last removal
            segment = torch.searchsorted(ends, slots, right=True)
            entries = slots.add_(to_entry.index_select(0, segment))
            addresses = self.positions.index_select(0, entries) + to_address.index_select(
                0, segment
            )
            buffer.index_fill_(0, addresses, 0)

    def _most_removals(self, ends: Tensor, genes: int) -> int:
        """The number of positions that the genes remove; on a device, to avoid waiting for it, an
        upper bound.
        """
        return int(ends[-1]) if ends.device.type == "cpu" else genes * self.longest

    def _checked(self, genes: Tensor, ptr: Tensor | None) -> tuple[Tensor, Tensor]:
        """Both inputs as int64, after checking that they match."""
        where = "make masks"
        if ptr is None:
            raise ValueError(
                f"{where}: perturbation_indices_ptr is missing, which says where each sample's "
                "indices begin\n"
                "hint: pass batch.perturbation_indices_ptr; a PyG DataLoader adds it with "
                "follow_batch=['perturbation_indices']"
            )
        device = self.positions.device
        for name, tensor in (("perturbation_indices", genes), ("perturbation_indices_ptr", ptr)):
            if (
                tensor.dim() != 1
                or tensor.is_floating_point()
                or tensor.is_complex()
                or tensor.dtype == torch.bool
            ):
                raise ValueError(
                    f"{where}: {name} is {tensor.dtype} {list(tensor.shape)}\n"
                    "hint: pass a one-dimensional tensor of integers"
                )
            if tensor.device != device:
                raise ValueError(
                    f"{where}: {name} is on {tensor.device}, the mask generator on {device}\n"
                    f"hint: move both to one device: batch.to({str(device)!r}), or "
                    f"generator.to({str(tensor.device)!r})"
                )
        if len(ptr) == 0:
            raise ValueError(
                f"{where}: perturbation_indices_ptr is empty, expected B + 1 values\n"
                "hint: the ptr of an empty batch is [0]"
            )
        in_range = ((genes >= 0) & (genes < self.genes)).all()
        fits = (ptr[0] == 0) & (ptr[-1] == len(genes)) & (ptr[1:] >= ptr[:-1]).all()
        if device.type != "cpu":
            torch._assert_async(in_range, f"a perturbation index is not in [0, {self.genes})")
            torch._assert_async(
                fits,
                "perturbation_indices_ptr does not ascend from 0 to the number of "
                "perturbation_indices",
            )
            return genes.long().clamp(0, self.genes - 1), ptr.long()
        if not in_range:
            wrong = int(((genes < 0) | (genes >= self.genes)).nonzero()[0])
            raise IndexError(
                f"{where}: perturbation_indices[{wrong}] is {int(genes[wrong])}, expected 0 to "
                f"{self.genes - 1}\n"
                "hint: use the gene table of the dataset that the generator was made for; batches "
                "of PyG must not add node offsets to it"
            )
        if not fits:
            raise ValueError(
                f"{where}: perturbation_indices_ptr does not ascend from 0 to {len(genes)}, the "
                "number of perturbation_indices\n"
                "hint: pass both of one batch"
            )
        return genes.long(), ptr.long()
