"""The edges that a batch keeps, as layers without masks take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor

from tcbuild.graph import GPR, ends_of


def kept_positions(mask: Tensor, count: Callable[[], int]) -> Tensor:
    """int64: where a mask is true, ascending. count: how often that is, which only a device needs
    to be told: otherwise the host would wait for it.
    """
    if mask.device.type == "cpu":
        return torch.from_numpy(np.flatnonzero(mask.numpy()))  # 20 times as fast as torch's
    return torch.nonzero_static(mask, size=count()).view(-1)


def kept_ends(name: str, edge_index: Tensor, masks: Mapping[str, Tensor]) -> Tensor:
    """The mask of the edges that are kept with both of their ends."""
    mask = masks[name]
    if name == GPR:  # its edges stay when their reaction goes
        return mask & masks["reaction"].index_select(0, edge_index[1])
    return mask


def relabelled(name: str, edge_index: Tensor, masks: Mapping[str, Tensor]) -> Tensor:
    """Edges whose ends are numbered among the nodes that are kept."""
    ends = [
        (masks[node_type].cumsum(0) - 1).index_select(0, end)
        for node_type, end in zip(ends_of(name), edge_index)
    ]
    return torch.stack(ends)


def check_choice(filtered: bool, relabel: bool, edge_weight: bool) -> None:
    """Refuses options that contradict each other."""
    if edge_weight and filtered:
        raise ValueError(
            "give edges: filtered and edge_weight\n"
            "hint: filtered edges have no weights, as all of them count; choose one"
        )
    if relabel and not filtered:
        raise ValueError(
            "give edges: relabel without filtered\n"
            "hint: removed nodes have no number among the kept ones; pass filtered=True, too"
        )
