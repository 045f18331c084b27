"""Sums over neighbours for all samples of a batch at once.

Whether a sample keeps an edge depends on the edge's ends only: mask[e] = keep[source] *
keep[target]. So the sum over the kept edges is keep * A (keep * x), where all samples share the
adjacency A. A mask of edges is never made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding_bag

from tcbuild._graph.graph import ends_that_count
from tcbuild.torch._filtered import joined_name
from tcbuild.torch._shared import REMOVABLE, Adjacency, Rows, SharedGraph

# Numbers of a node that are added at once. On a CPU those of all nodes should fit its cache: with
# 4096, a sum of yeast's size takes up to 3 times as long. A GPU wants few launches.
_ON_CPU, _ELSEWHERE = 64, 4096

Ends = tuple[Tensor | None, Tensor | None]  # keep of sources and targets, None where all are kept


def propagate(
    x: Tensor,
    batch: SharedGraph,
    edge_type: str | tuple[str, str, str],
    reduce: Literal["sum", "mean"] = "sum",
    weight: Tensor | None = None,
    keep: Tensor | Mapping[str, Tensor] | None = None,
) -> Tensor:
    """Adds up, at each target, the features of the sources of all edges that its sample keeps: the
    same as messages times a mask, or messages along filtered edges, without either. An edge that
    the graph lists twice counts twice.

    It takes the time of one product with a sparse matrix, whose gradient is the product with the
    transposed one; sums of bfloat16 and float16 are computed in float32. The first call for an edge
    type groups its edges, which takes 10 ms for 10^5.

    Args:
        x: [B, N_source, F], on the batch's device
        batch: of tcbuild.torch or tcbuild.pyg, with or without masks
        edge_type: whose edges
        reduce: `mean` divides by the number of edges that the sample keeps at the target; weights
            do not change it
        weight: [E], a factor for each edge of the graph, the same in all samples; learnable
        keep: in place of batch.keep, by node type or, if both ends have one type, a tensor: bool or
            float [B, N]. A message is multiplied by the numbers of both ends, of
            gene__gpr__reaction by the gene's. For `mean`, an edge with a 0 is not kept

    Returns:
        [B, N_target, F], with the type of x; 0 where no edge is left.

    Examples:
        >>> batch = tcbuild.torch.collate(dataset[:4], masks=None)
        >>> x = torch.ones(4, 60, 16)
        >>> tcbuild.torch.propagate(x, batch, "gene__physical__gene").shape
        torch.Size([4, 60, 16])
    """
    if reduce not in ("sum", "mean"):
        raise ValueError(f"propagate: found reduce {reduce!r}\nhint: use sum or mean")
    name = joined_name(edge_type)
    edges = Adjacency.of(batch._of_graph(), name, batch._device())
    kept = _kept(batch, name, keep)
    _check(x, batch, edges, weight, kept)
    factors = [None if each is None or each.dtype == torch.bool else each for each in kept]
    masks = [None if each is None or each.dtype != torch.bool else each for each in kept]
    if factors[0] is not None:
        x = x * factors[0].to(x.dtype)[..., None]
    out: Tensor = _Sum.apply(x, *masks, None if weight is None else weight.to(x.dtype), edges)
    if factors[1] is not None:
        out = out * factors[1].to(x.dtype)[..., None]
    if reduce == "mean":
        left = edges_left(batch, name) if keep is None else _count(edges, kept, len(x))
        out = (out / left.clamp(min=1)[..., None]).to(x.dtype)
    return out


def edges_left(batch: SharedGraph, name: str) -> Tensor:
    """How many edges of a type each sample keeps at each target: float32 [B, N_target]."""
    known = batch.keep.edges_left
    if name not in known:
        edges = Adjacency.of(batch._of_graph(), name, batch._device())
        size = batch.keep["gene"].size(0)
        known[name] = _count(edges, _kept(batch, name, None), size)
    return known[name]


def _count(edges: Adjacency, kept: Ends, size: int) -> Tensor:
    with torch.inference_mode(False), torch.no_grad():
        sources = edges.by_source.offsets.size(0) - 1
        ones = torch.ones((), device=edges.loops.device).expand(size, sources, 1)
        masks = [None if each is None else each != 0 for each in kept]
        return _sums(ones, masks[0], masks[1], None, edges.by_target)[..., 0]


def _kept(batch: SharedGraph, name: str, keep: Tensor | Mapping[str, Tensor] | None) -> Ends:
    """What counts at each end."""
    types = ends_that_count(name)
    if isinstance(keep, Tensor):
        if len({*types}) > 1:
            raise ValueError(
                f"propagate: keep is one tensor, but edges of {name} go with both {types[0]} and "
                f"{types[1]}\nhint: pass a tensor by node type: keep={{{types[0]!r}: tensor}}"
            )
        keep = {types[0]: keep}
    own = keep or {}
    found = [
        own[each] if each in own else batch.keep[each] if each in REMOVABLE else None
        for each in types
    ]
    return found[0], found[1] if len(found) > 1 else None


def _check(
    x: Tensor, batch: SharedGraph, edges: Adjacency, weight: Tensor | None, kept: Ends
) -> None:
    """Refuses tensors of other shapes or on other devices."""
    size = len(batch.keep["gene"])
    nodes = [rows.offsets.size(0) - 1 for rows in (edges.by_source, edges.by_target)]
    expected: list[tuple[str, Tensor, tuple[int, ...]]] = [("x", x, (size, nodes[0], x.size(-1)))]
    if weight is not None:
        expected += [("weight", weight, (edges.by_target.order.size(0),))]
    expected += [("keep", each, (size, n)) for each, n in zip(kept, nodes) if each is not None]
    for what, tensor, shape in expected:
        if tensor.shape != shape or tensor.device != edges.loops.device:
            raise ValueError(
                f"propagate: found {what} {list(tensor.shape)} on {tensor.device}, expected "
                f"{list(shape)} on {edges.loops.device}\n"
                "hint: x is [samples, sources, features], keep [samples, nodes] and weight "
                "[edges of the graph]; batch.to(device) moves the batch"
            )


class _Sum(torch.autograd.Function):
    """The sum over edges as a function of x and weight."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        source: Tensor | None,
        target: Tensor | None,
        weight: Tensor | None,
        edges: Adjacency,
    ) -> Tensor:
        learned = weight is not None and weight.requires_grad
        ctx.save_for_backward(x if learned else None, source, target, weight)
        ctx.edges = edges
        return _sums(x, source, target, weight, edges.by_target)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, source, target, weight = ctx.saved_tensors
        of_x = of_weight = None
        if ctx.needs_input_grad[0]:
            of_x = _sums(gradient, target, source, weight, ctx.edges.by_source)
        if ctx.needs_input_grad[3]:
            of_weight = _of_weight(x, source, gradient, target, weight, ctx.edges.by_target)
        return of_x, None, None, of_weight, None


def _sums(
    x: Tensor, kept: Tensor | None, kept_out: Tensor | None, weight: Tensor | None, rows: Rows
) -> Tensor:
    """The sums of rows, [B, rows, F], of x [B, N, F]."""
    out = x.new_empty(len(x), rows.offsets.size(0) - 1, x.size(2))
    if not rows.others.size(0):
        return out.zero_()
    values = None if weight is None else weight.index_select(0, rows.order)
    for part in _parts(x):
        sums = _added(_wide(x[part], kept, part), values, rows)
        sums = sums.view(out.size(1), -1, x.size(2)).transpose(0, 1)
        _write(sums, kept_out, part, out[part])
    return out


def _of_weight(
    x: Tensor,
    source: Tensor | None,
    gradient: Tensor,
    target: Tensor | None,
    weight: Tensor,
    rows: Rows,
) -> Tensor:
    """The gradient of weight: for each edge, x at its source times the gradient at its target."""
    found = torch.zeros_like(weight, dtype=torch.promote_types(weight.dtype, torch.float32))
    values = weight.index_select(0, rows.order).requires_grad_()
    for part in _parts(x):
        wide = _wide(x[part], source, part)
        with torch.enable_grad():
            sums = _added(wide, values, rows)
        (each,) = torch.autograd.grad(sums, values, _wide(gradient[part], target, part))
        found.index_add_(0, rows.order, each.to(found.dtype))
    return found.to(weight.dtype)


def _added(wide: Tensor, values: Tensor | None, rows: Rows) -> Tensor:
    """The sums of rows of [N, numbers]: torch's fastest on a CPU, and in all types."""
    return embedding_bag(
        rows.others,
        wide,
        rows.offsets,
        mode="sum",
        per_sample_weights=values,
        include_last_offset=True,
    )


def _parts(x: Tensor) -> Iterator[slice]:
    """Samples that are added at once."""
    numbers = _ON_CPU if x.device.type == "cpu" else _ELSEWHERE
    step = max(1, numbers // max(x.size(2), 1))
    return (slice(first, first + step) for first in range(0, len(x), step))


def _wide(x: Tensor, kept: Tensor | None, part: slice) -> Tensor:
    """[N, b * F] of x [b, N, F], 0 where a node is not kept, whatever it was."""
    out = x.new_empty(x.size(1), x.size(0), x.size(2))
    _write(x, kept, part, out.transpose(0, 1))
    return out.view(x.size(1), -1)


def _write(x: Tensor, kept: Tensor | None, part: slice, out: Tensor) -> None:
    if kept is None:
        out.copy_(x)
    else:
        torch.where(kept[part, :, None], x, x.new_zeros(()), out=out)
