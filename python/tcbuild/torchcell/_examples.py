"""The samples that a batch was made of, as PyG's Batch gives them."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch_geometric.data import HeteroData

from tcbuild.torchcell._deferred import is_same
from tcbuild.torchcell._shared import Kind

Lengths = dict[Kind, dict[str, list[int]]]  # of each sample's part of a joined value; -1 for none


def example(batch: Any, index: int) -> HeteroData:
    """Sample number index of a Batch, on its device, with what was changed in the batch."""
    graph, sizes = batch._shared.graph, batch._shared.sizes
    data = HeteroData()
    if "num_graphs" in batch._global_store:  # as torchcell's batches of the whole graph have it
        data.sample_id, data.mask_basis = batch.sample_id[index], batch.mask_basis
    for kind in (*batch.node_types, *batch.edge_types):
        content = batch.contents(kind)
        for key in _of_batches(batch, kind, content):
            del content[key]
        made = batch._made.get(kind, {}) if kind in graph.node_types + graph.edge_types else {}
        store = data[kind]
        for key, value in content.items():
            if key not in ("mask", "pert_mask") and is_same(value, made.get(key)):
                part = batch._shared.of_sample(kind, key)
                store[key] = part.to(batch._device()) if isinstance(part, Tensor) else part
                continue
            value = batch._store(kind)[key]
            lengths = batch._lengths.get(kind, {}).get(key)
            if lengths is None:
                rows = sizes.get(kind, 0) if isinstance(value, Tensor) else 1
                lengths = [rows] * batch._size
            if lengths[index] >= 0:
                store[key] = _part(value, lengths, index, f"{kind}/{key}")
    return data


def _of_batches(batch: Any, kind: Kind, content: dict[str, Any]) -> list[str]:
    """The keys that no sample has."""
    if not isinstance(kind, str):
        return []
    followed = [f"{key}_{what}" for key in batch._follow for what in ("batch", "ptr")]
    return [key for key in ("batch", "ptr", *followed) if key in content]


def _part(value: Any, lengths: list[int], index: int, name: str) -> Any:
    """A sample's rows of a value, given each sample's number of rows."""
    there = [max(length, 0) for length in lengths]
    if isinstance(value, Tensor) and value.dim() > 0 and len(value) == sum(there):
        return value.narrow(0, sum(there[:index]), there[index])
    if isinstance(value, list) and len(value) == sum(there):
        return value[sum(there[:index])]
    raise ValueError(
        f"divide a batch: it is unclear which part of {name} belongs to sample {index}\n"
        f"hint: a value that is added to a batch of {len(lengths)} needs a row per node or edge, "
        "or a list with an item per sample"
    )
