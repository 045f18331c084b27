"""Sums over neighbours for all samples of a batch at once.

Whether a sample keeps an edge depends on the edge's ends only: mask[e] = keep[source] *
keep[target]. So a sum over the kept edges is keep * A (keep * x) with an adjacency A that all
samples share, and no mask of edges is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding_bag

from tcbuild.torch._filtered import joined_name
from tcbuild.torch._shared import Adjacency, Rows, SharedGraph

# Numbers per node that are added at once. On a CPU those of all nodes should fit its cache: with
# 4096, a sum of yeast's size takes up to 3 times as long. A GPU wants few launches.
_ON_CPU, _ELSEWHERE = 64, 4096

# Sums rows of [N, numbers]. Of torch's sparse products it is the fastest on a CPU, needs no MKL and
# takes all types.
_added = partial(embedding_bag, mode="sum", include_last_offset=True)

Kept = tuple[Tensor | None, Tensor | None]  # of sources and targets [B, N]; None keeps all


def propagate(
    x: Tensor,
    batch: SharedGraph,
    edge_type: str | tuple[str, str, str],
    reduce: Literal["sum", "mean"] = "sum",
    weight: Tensor | None = None,
    keep: Tensor | Mapping[str, Tensor] | None = None,
) -> Tensor:
    """Sums, at each target, the features of the sources of the edges that the sample keeps, without
    masks: one sparse product for all samples. An edge listed twice counts twice. Sums of bfloat16
    and float16 are computed in float32.

    Args:
        x: [B, N_source, F], on the batch's device
        batch: of tcbuild.torch or tcbuild.pyg, with or without masks
        edge_type: its name
        reduce: `mean` divides by the number of kept edges at the target
        weight: [E], a factor per edge, shared by all samples; may be learned
        keep: replaces batch.keep: bool or float [B, N] by node type, or one tensor if both ends
            have one type. Floats multiply messages at both ends (of gene__gpr__reaction, at the
            gene); 0 removes the edge, also for `mean`

    Returns:
        [B, N_target, F], of x's type; 0 where no edge is left.

    Examples:
        >>> batch = tcbuild.torch.collate(dataset[:4], masks=None)
        >>> import torch
        >>> x = torch.ones(4, 60, 16)
        >>> tcbuild.torch.propagate(x, batch, "gene__physical__gene").shape
        torch.Size([4, 60, 16])
    """
    if reduce not in ("sum", "mean"):
        raise ValueError(f"propagate: found reduce {reduce!r}\nhint: use sum or mean")
    name = joined_name(edge_type)
    edges = Adjacency.of(batch._of_graph(), name, batch._device())
    kept = _kept(batch, name, keep)
    _check(x, edges, weight, kept, batch.keep["gene"].size(0))
    masks = _mask(kept[0]), _mask(kept[1])
    weight = None if weight is None else weight.to(x.dtype)
    out = _times(_Sum.apply(_times(x, kept[0]), weight, masks, edges), kept[1])
    if reduce == "mean":
        there: Any = [None if each is None else each != 0 for each in kept]
        left = _sums(torch.ones_like(x[..., :1], dtype=torch.float32), None, there, edges.by_target)
        out = (out / left.clamp(min=1)).to(x.dtype)
    return out


def _kept(batch: SharedGraph, name: str, keep: Tensor | Mapping[str, Tensor] | None) -> Kept:
    """What counts at both ends of an edge type."""
    ends = batch._of_graph().stored.graph.ends[name]
    types = [end for end in ends if end is not None]
    if isinstance(keep, Tensor):
        if len({*types}) > 1:
            raise ValueError(
                f"propagate: found one tensor keep, but edges of {name} go with both ends\n"
                f"hint: pass a tensor by node type: keep={{{types[0]!r}: tensor}}"
            )
        keep = {types[0]: keep}
    both = {**batch.keep, **(keep or {})}
    source, target = (None if end is None else both[end] for end in ends)
    return source, target


def _check(x: Tensor, edges: Adjacency, weight: Tensor | None, kept: Kept, size: int) -> None:
    """Refuses tensors of other shapes or on another device."""
    nodes = edges.by_source.nodes, edges.by_target.nodes
    for what, tensor, shape in (
        ("x", x, (size, nodes[0], x.size(-1))),
        ("weight", weight, tuple(edges.by_target.order.shape)),
        ("keep of sources", kept[0], (size, nodes[0])),
        ("keep of targets", kept[1], (size, nodes[1])),
    ):
        if tensor is None or tensor.shape == shape and tensor.device == edges.loops.device:
            continue
        raise ValueError(
            f"propagate: found {what} {list(tensor.shape)} on {tensor.device}, expected "
            f"{list(shape)} on {edges.loops.device}\n"
            "hint: x is [samples, sources, features], keep [samples, nodes], weight [edges of the "
            "graph]; batch.to(device) moves a batch"
        )


def _mask(kept: Tensor | None) -> Tensor | None:
    return kept if kept is not None and kept.dtype == torch.bool else None


def _times(x: Tensor, kept: Tensor | None) -> Tensor:
    """x times factors, which may be learned. _Sum applies masks."""
    return x if kept is None or kept.dtype == torch.bool else x * kept[..., None].to(x.dtype)


class _Sum(torch.autograd.Function):
    """The sums as a function of x and weight."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor | None, kept: Kept, edges: Adjacency) -> Tensor:
        ctx.save_for_backward(x if ctx.needs_input_grad[1] else None, weight)
        ctx.kept, ctx.edges = kept, edges
        return _sums(x, weight, kept, edges.by_target)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        of_x = of_weight = None
        if ctx.needs_input_grad[0]:
            of_x = _sums(gradient, weight, ctx.kept[::-1], ctx.edges.by_source)
        if ctx.needs_input_grad[1]:
            of_weight = _of_weight(x, gradient, weight, ctx.kept, ctx.edges.by_target)
        return of_x, of_weight, None, None


def _sums(x: Tensor, weight: Tensor | None, kept: Kept, rows: Rows) -> Tensor:
    """The sums of all rows, [B, rows, F], of x [B, N, F] at their entries."""
    out = x.new_zeros(x.size(0), rows.nodes, x.size(2))
    values = None if weight is None else weight.index_select(0, rows.order)
    for part in _parts(x) if rows.order.size(0) else ():
        wide = _wide(x, kept[0], part)
        sums = _added(rows.others, wide, rows.offsets, per_sample_weights=values)
        sums = sums.view(rows.nodes, -1, x.size(2)).transpose(0, 1)
        _write(sums, kept[1], part, out[part])
    return out


def _of_weight(x: Tensor, gradient: Tensor, weight: Tensor, kept: Kept, rows: Rows) -> Tensor:
    """The gradient of weight: for each edge, x at its source times the gradient at its target."""
    found = torch.zeros_like(weight, dtype=torch.promote_types(weight.dtype, torch.float32))
    values = weight.index_select(0, rows.order).requires_grad_()
    for part in _parts(x) if rows.order.size(0) else ():
        wide = _wide(x, kept[0], part)
        with torch.enable_grad():
            sums = _added(rows.others, wide, rows.offsets, per_sample_weights=values)
        (each,) = torch.autograd.grad(sums, values, _wide(gradient, kept[1], part))
        found.index_add_(0, rows.order, each.to(found.dtype))
    return found.to(weight.dtype)


def _parts(x: Tensor) -> Iterator[slice]:
    """Samples that are added at once."""
    numbers = _ON_CPU if x.device.type == "cpu" else _ELSEWHERE
    step = max(1, numbers // max(1, x.size(2)))
    return (slice(first, first + step) for first in range(0, x.size(0), step))


def _wide(x: Tensor, kept: Tensor | None, part: slice) -> Tensor:
    """[N, b * F] of some samples, 0 where a node is not kept, whatever x is there."""
    out = x.new_empty(x.size(1), len(x[part]), x.size(2))
    _write(x[part], kept, part, out.transpose(0, 1))
    return out.view(x.size(1), -1)


def _write(x: Tensor, kept: Tensor | None, part: slice, out: Tensor) -> None:
    if kept is None:
        out.copy_(x)
    else:
        torch.where(kept[part, :, None], x, x.new_zeros(()), out=out)
