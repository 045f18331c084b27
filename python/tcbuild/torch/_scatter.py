"""The kernel by which a MaskGenerator removes positions on a GPU, in Triton, which torch brings."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.library import triton_op, wrap_triton

# A program writes up to _BLOCK positions at a time. At most _PARTS programs share a gene's row of
# one type; in a longer row, each goes on where all of them end.
_BLOCK = 512
_PARTS = 16


@triton_op("tcbuild::remove_rows", mutates_args={"buffer"})
def remove_rows(
    buffer: Tensor,
    genes: Tensor,
    ptr: Tensor,
    row_offsets: Tensor,
    positions: Tensor,
    widths: Tensor,
    starts: Tensor,
    longest: int,
) -> None:
    """Writes zeros to the buffer of a batch, at the positions in the deleted genes' rows, in one
    launch that needs no value on the host. Genes behind ptr[-1] are passed over. A compiler sees
    the kernel.
    """
    parts = min(_PARTS, triton.cdiv(longest, _BLOCK))
    with torch.cuda.device_of(buffer):
        wrap_triton(_remove_rows)[genes.size(0), row_offsets.size(0), parts](
            buffer.view(torch.uint8),
            genes,
            ptr,
            ptr.size(0) - 1,
            row_offsets,
            row_offsets.size(1),
            positions,
            widths,
            starts,
            BLOCK=_BLOCK,
        )


@triton.jit
def _remove_rows(
    buffer,
    genes,
    ptr,
    batch_size,
    row_offsets,
    row_ends,
    positions,
    widths,
    starts,
    BLOCK: tl.constexpr,
):
    """A program per deleted gene, type of mask, and part of the gene's row of that type."""
    deleted = tl.program_id(0)
    kind = tl.program_id(1)
    part = tl.program_id(2)
    if deleted < tl.load(ptr + batch_size):
        sample, above = 0, batch_size  # the last sample that begins at the gene or before it
        while above - sample > 1:
            middle = (sample + above) // 2
            if tl.load(ptr + middle) <= deleted:
                sample = middle
            else:
                above = middle
        row = row_offsets + kind.to(tl.int64) * row_ends + tl.load(genes + deleted)
        end = tl.load(row + 1)
        masks = tl.load(starts + kind) * batch_size + tl.load(widths + kind) * sample
        entry = tl.load(row) + part * BLOCK
        while entry < end:  # Triton 3.6 interprets no range of loaded values with NumPy 2.5
            entries = entry + tl.arange(0, BLOCK)
            position = tl.load(positions + entries, mask=entries < end, other=0)
            tl.store(buffer + masks + position, 0, mask=entries < end)
            entry += tl.num_programs(2) * BLOCK
