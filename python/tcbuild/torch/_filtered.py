"""The edges that a batch keeps, as layers without masks take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tcbuild._graph.graph import GPR, ends_of
from tcbuild._masks.layout import Removals
from tcbuild.errors import SettingsError, unknown_name
from tcbuild.torch._blocks import Edges


class FilteredEdges:
    """What batches of tcbuild.torch and tcbuild.pyg have in common."""

    def _flat_masks(self) -> Mapping[str, Tensor]:
        """The masks by name, bool [B * E]."""
        raise NotImplementedError

    def _block(self, name: str) -> Tensor:
        """int64 [2, B * E], the edges of a type on the batch's device."""
        raise NotImplementedError

    def _of_graph(self) -> Edges:
        raise NotImplementedError

    def _removed(self) -> Removals:
        raise NotImplementedError

    def _device(self) -> torch.device:
        raise NotImplementedError

    def _check_masks(self) -> None:
        """Refuses changed masks where the deleted genes count instead."""
        raise NotImplementedError

    def edge_index(
        self,
        name: str | tuple[str, str, str],
        filtered: bool = False,
        relabel: bool = False,
        edge_weight: bool = False,
    ) -> Any:
        """The edges of a type in all samples, as one graph of B unconnected copies: node n of
        sample b is b * N + n. Any layer of PyG takes them.

        Args:
            name: of the edge type
            filtered: only the kept edges, in their order
            relabel: with filtered, number nodes among those kept: features are
                `x[batch.kept("gene")]`. Edges of gene__gpr__reaction go with their reactions
            edge_weight: return (edge_index, weight): all edges, with their mask as weights 0 and 1,
                [B * E], not a column of the graph

        Returns:
            int64 [2, B * E], or [2, K] of K kept edges.

        Examples:
            >>> batch = tcbuild.torch.collate(dataset[:4])
            >>> edges = batch.edge_index("gene__physical__gene", filtered=True)
        """
        check_choice(filtered, relabel, edge_weight)
        name = joined_name(name)
        edge_index = self._block(name)
        if not filtered and not edge_weight:
            return edge_index
        if name not in (masks := self._flat_masks()):
            raise unknown_name("mask", name, masks)
        if edge_weight:
            return edge_index, masks[name].to(torch.get_default_dtype())
        if not relabel:
            positions = kept_positions(masks[name], lambda: self._removed().kept(name))
            return edge_index.index_select(1, positions)
        positions = kept_positions(
            kept_ends(name, edge_index, masks), lambda: self._kept_between_kept(name)
        )
        return relabelled(name, edge_index.index_select(1, positions), masks)

    def kept(self, name: str | tuple[str, str, str]) -> Tensor:
        """The kept nodes or edges of a type: int64, counted across all samples.

        Args:
            name: of the type
        """
        name, masks = joined_name(name), self._flat_masks()
        if name not in masks:
            raise unknown_name("mask", name, masks)
        return kept_positions(masks[name], lambda: self._removed().kept(name))

    def removed(self, name: str | tuple[str, str, str]) -> Tensor:
        """The zeros of a mask in COO form: int64 [2, n] of sample and position, ascending. Changed
        masks are an error.

        Args:
            name: of the node or edge type
        """
        self._check_masks()
        name, removed = joined_name(name), self._removed()
        if name not in removed.layout.names:
            raise unknown_name("mask", name, removed.layout.names)
        found: Tensor = removed.coo(name, self._device())
        return found

    def _kept_between_kept(self, name: str) -> int:
        """How many edges all samples keep whose ends are kept, too."""
        removed = self._removed()
        if name != GPR:
            return removed.kept(name)
        reactions = removed.layout.sizes[removed.layout.names.index("reaction")]
        targets = self._of_graph().of_type(name)[1]
        order = np.argsort(targets, kind="stable")
        starts = np.searchsorted(targets[order], np.arange(reactions + 1))
        samples, rows = np.divmod(removed.of("reaction"), reactions)
        lengths = starts[rows + 1] - starts[rows]
        ends = np.cumsum(lengths)
        entries = np.repeat(starts[rows] - (ends - lengths), lengths) + np.arange(lengths.sum())
        without = np.repeat(samples, lengths) * len(targets) + order[entries]
        return removed.size * len(targets) - len(np.union1d(without, removed.of(GPR)))


def masks_changed(what: str) -> SettingsError:
    """The error for masks that the deleted genes do not give."""
    return SettingsError(
        f"compute from the deleted genes: {what} was changed, which they do not say",
        "masked_edge_index_dict() and, on a CPU, edge_index(name, filtered=True) and kept() follow "
        "changes; or change the graph's edges before tcbuild.build",
    )


def joined_name(name: str | tuple[str, str, str]) -> str:
    """A type's name; PyG has those of edges as tuples."""
    return name if isinstance(name, str) else "__".join(name)


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
            "hint: filtered edges have no weights; choose one of the two"
        )
    if relabel and not filtered:
        raise ValueError(
            "give edges: relabel without filtered\n"
            "hint: removed nodes cannot be renumbered; also pass filtered=True"
        )
