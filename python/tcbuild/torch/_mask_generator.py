"""Makes masks on the model's device, from only the deleted genes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

import tcbuild
from tcbuild._dataset import as_dataset
from tcbuild._graph.graph import RMR
from tcbuild._masks.incidence import CSR
from tcbuild._masks.layout import Form, MaskLayout
from tcbuild.errors import ByName
from tcbuild.torch._basis import basis_of
from tcbuild.torch._batch import Batch
from tcbuild.torch._reaction_rules import ReactionRules


class MaskGenerator(nn.Module):
    """Makes a batch's masks from its deleted genes, on the module's device. It has run on CPUs and
    in Triton's interpreter, not on a GPU.

    Buffers (20 MB for a yeast graph) move with `.to(device)` and are not in `state_dict()`. Keep it
    outside a DistributedDataParallel model, which would broadcast them. torch.compile compiles it
    once for all batch sizes above 1; torch.export needs two or more samples (Dim of deleted_ptr
    with min=3), and its programs need `import tcbuild.torch`. To keep tensors at one size, pad
    deleted with -1, and deleted_ptr with its last value.

    Args:
        dataset: of any variant, or its folder: gives the graph and the reaction rule
        form: `stacked` ([B, E] per mask) or `concatenated` ([B * E])

    Examples:
        >>> generator = tcbuild.torch.MaskGenerator(dataset)
        >>> batch = tcbuild.torch.collate(dataset[:4], masks=None)
        >>> generator(batch)["gene"].sum(1)
        tensor([57, 57, 57, 58])
    """

    # int64 [types, genes + 1]: gene g's row of a type is positions[row_offsets[type,
    # g]:row_offsets[type, g + 1]]
    row_offsets: Tensor
    positions: Tensor  # int32 [entries]
    widths: Tensor  # int64 [types], positions of the type's mask
    starts: Tensor  # int64 [types], where the type's masks begin in a batch of one

    def __init__(self, dataset: tcbuild.Dataset | str | Path, form: Form = "stacked"):
        super().__init__()
        stored = as_dataset(dataset)
        graph, incidence = stored.graph, stored.incidence
        self.layout = MaskLayout(tuple(stored.mask_names), tuple(stored.mask_sizes), form)
        self.genes = len(graph.nodes["gene"])
        self._mask_basis = stored._mask_basis

        # Rows of genes: the gene mask itself (so no row of all is empty), then each edge type at
        # genes.
        own = CSR(np.arange(self.genes + 1, dtype=np.int32), np.arange(self.genes, dtype=np.int32))
        rows = {"gene": own} | {
            name: csr for name, csr in incidence.items() if "gene" in graph.ends[name]
        }
        names, ends = [*rows], [csr.offsets[: self.genes + 1] for csr in rows.values()]
        positions = [csr.positions[: end[-1]] for csr, end in zip(rows.values(), ends)]
        first = np.cumsum([0, *(len(part) for part in positions[:-1])])
        row_offsets = np.stack([end + start for end, start in zip(ends, first)])
        self.longest = int(np.diff(row_offsets).max(initial=0))  # of the rows
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
            for side, node_type in enumerate(graph.ends[name])
            if node_type == "reaction"
        ]
        for name, side in self.at_reactions:
            self._buffer(f"{name}:{side}", graph.edges[name][side].astype(np.int64))

    def _buffer(self, name: str, values: npt.NDArray[np.integer[Any]]) -> None:
        self.register_buffer(name, torch.from_numpy(np.array(values)), persistent=False)

    def forward(
        self,
        batch: Batch | Mapping[str, Any] | Tensor,
        deleted_ptr: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """The masks of B samples.

        Args:
            batch: of tcbuild.torch or tcbuild.pyg, or a PyG DataLoader's with
                `follow_batch=["deleted"]`; or the deleted genes of any genotypes, int [K]
            deleted_ptr: with such genes int [B + 1]: sample b deletes `batch[ptr[b]:ptr[b + 1]]`

        Returns:
            bool, True where kept, by mask name in canonical order: views of one new buffer.

        Raises:
            ValueError: the batch has another graph, reaction rule or device, or the two do not
                match
            IndexError: a gene is not in the graph. A GPU reports it at its next synchronisation
        """
        compiling = torch.compiler.is_compiling()
        if not isinstance(batch, Tensor):
            batch, deleted_ptr = self._deleted(batch)
        elif not compiling and (basis := basis_of(batch)):
            self._check_basis({basis})
        genes, ptr = self._checked(batch, deleted_ptr)
        masks = self.layout.views(self._masks(genes, ptr), ptr.size(0) - 1)
        return masks if compiling else ByName("mask", masks)

    def _deleted(self, batch: Any) -> tuple[Tensor, Tensor | None]:
        """Perturbation indices and ptr of a batch with the generator's graph and rule."""
        if hasattr(batch, "deleted_genes"):  # a batch of tcbuild's, which stays packed
            self._check_basis({batch._mask_basis})
            genes, ptr = batch.deleted_genes()
            return genes, ptr
        basis = getattr(batch, "mask_basis", "unknown")
        self._check_basis({basis} if isinstance(basis, str) else set(basis))
        gene = batch["gene"]
        key = "deleted" if "deleted" in gene else "perturbation_indices"  # as torchcell has it
        return gene[key], getattr(gene, f"{key}_ptr", None)

    def _check_basis(self, found: set[str]) -> None:
        if other := sorted(found - {self._mask_basis}):
            raise ValueError(
                f"make masks: found a batch of another graph or reaction rule: {other[0]}"
                f", expected {self._mask_basis}\n"
                "hint: make the generator from the batch's dataset, or build both datasets with "
                "one graph and reaction rule"
            )

    def _masks(self, genes: Tensor, ptr: Tensor) -> Tensor:
        """The buffer of the masks."""
        batch_size = ptr.size(0) - 1  # len of a tensor would be a constant of an exported graph
        buffer = self.layout.all_kept(batch_size, genes.device)
        incidence = self.row_offsets, self.positions, self.widths, self.starts
        remove = remove_compiled if _is_opaque(buffer.device) else _remove
        remove(buffer, genes, ptr, *incidence, self.longest)
        if self.reaction_rules is not None:
            rows = self.layout.rows(buffer, batch_size)
            rows["reaction"].copy_(self.reaction_rules(rows["gene"]))
            for name, side in self.at_reactions:
                ends = self.get_buffer(f"{name}:{side}").expand(batch_size, -1)
                if name == RMR:  # nothing else removes its edges
                    rows[name].copy_(rows["reaction"].gather(1, ends))
                else:
                    rows[name].logical_and_(rows["reaction"].gather(1, ends))
        return buffer

    def _checked(self, genes: Tensor, ptr: Tensor | None) -> tuple[Tensor, Tensor]:
        """Both inputs as int64, after checking their types and devices."""
        where = "make masks"
        if ptr is None:
            raise ValueError(
                f"{where}: deleted_ptr is missing, which says where each sample's "
                "indices begin\n"
                "hint: pass batch.deleted_ptr; a PyG DataLoader adds it with "
                "follow_batch=['deleted']"
            )
        device = self.positions.device
        for name, tensor in (("deleted", genes), ("deleted_ptr", ptr)):
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
        if ptr.size(0) == 0:
            raise ValueError(
                f"{where}: deleted_ptr is empty, expected B + 1 values\n"
                "hint: the ptr of an empty batch is [0]"
            )
        return genes.long(), ptr.long()


def _remove(
    buffer: Tensor,
    genes: Tensor,
    ptr: Tensor,
    row_offsets: Tensor,
    positions: Tensor,
    widths: Tensor,
    starts: Tensor,
    longest: int,
) -> None:
    """Writes zeros to the buffer of a batch, at the positions in the deleted genes' rows, after
    checking that they are genes and that ptr fits.
    """
    count, size = row_offsets.size(1) - 1, ptr.size(0) - 1
    if _has_triton(buffer.device):
        from tcbuild.torch._scatter import remove_rows

        genes = _in_graph_later(genes, ptr, count)
        if genes.size(0) and buffer.size(0):
            remove_rows(buffer, genes, ptr, row_offsets, positions, widths, starts, longest)
        return
    genes = _in_graph(genes, ptr, count)
    # [types, K]: a segment is one type's row of one deleted gene
    begin = row_offsets.index_select(1, genes)
    lengths = (row_offsets.index_select(1, genes + 1) - begin).view(-1)
    samples = torch.arange(size, device=ptr.device).repeat_interleave(ptr.diff())
    masks = (starts[:, None] * size + widths[:, None] * samples).view(-1)
    ends = lengths.cumsum(0)
    segment = torch.arange(len(lengths), device=ptr.device).repeat_interleave(lengths)
    entries = torch.arange(len(segment), device=ptr.device)
    entries += (begin.view(-1) - (ends - lengths)).index_select(0, segment)
    addresses = positions.index_select(0, entries) + masks.index_select(0, segment)
    buffer.index_fill_(0, addresses, 0)


def _has_triton(device: torch.device) -> bool:
    """Whether Triton compiles kernels for a device."""
    if device.type != "cuda" or not torch.cuda.is_available():
        return False
    try:
        import_module("tcbuild.torch._scatter")
    except ImportError:  # torch brings Triton on Linux, and its ops since 2.6
        return False
    return torch.cuda.get_device_capability(device) >= (8, 0)


# torch.compiler.assume_constant_result does this, and imports torch._dynamo: 2 s in each process.
_has_triton._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _is_opaque(device: torch.device) -> bool:
    """Whether a compiler takes _remove as one step: it sees Triton's kernel, but not how much
    torch's operations write, which depends on values. Exported programs run on any device.
    """
    compiling = torch.compiler.is_compiling()
    return compiling and (_is_exporting() or not _has_triton(device))


_is_exporting = getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)  # since 2.7

remove_compiled = torch.library.custom_op("tcbuild::remove", _remove, mutates_args=("buffer",))
remove_compiled.register_fake(lambda *_: None)


def _in_graph_later(genes: Tensor, ptr: Tensor, count: int) -> Tensor:
    """_in_graph for a device that is not waited for; those behind ptr[-1] become any gene."""
    in_range, fits = _fits(genes, ptr, count)
    torch._assert_async(in_range, f"a perturbation index is not in [0, {count})")
    torch._assert_async(fits, "deleted_ptr does not ascend from 0 to the number of deleted")
    return genes.clamp(0, count - 1)


def _in_graph(genes: Tensor, ptr: Tensor, count: int) -> Tensor:
    """The genes, after checking that those up to ptr[-1] are among count, that the others are -1,
    and that ptr fits.
    """
    in_range, fits = _fits(genes, ptr, count)
    if not in_range:
        wrong = int(((genes < 0) | (genes >= count)).nonzero()[0])
        raise IndexError(
            f"make masks: deleted[{wrong}] is {int(genes[wrong])}, expected 0 to "
            f"{count - 1}\n"
            "hint: use the gene table of the dataset that the generator was made for; batches "
            "of PyG must not add node offsets to it"
        )
    if not fits:
        raise ValueError(
            f"make masks: deleted_ptr does not ascend from 0 to {len(genes)}, the "
            "number of deleted\n"
            "hint: pass both of one batch"
        )
    return genes[: int(ptr[-1])]


def _fits(genes: Tensor, ptr: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Whether the genes up to ptr[-1] are among count; whether ptr fits, and the others are -1."""
    deleted = torch.arange(len(genes), device=genes.device) < ptr[-1]
    in_range = ((genes >= 0) & (genes < count) | ~deleted).all()
    ascends = (ptr[0] == 0) & (ptr[-1] <= len(genes)) & (ptr[1:] >= ptr[:-1]).all()
    return in_range, ascends & ((genes == -1) | deleted).all()
