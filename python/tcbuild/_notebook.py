"""What notebooks show of datasets, graphs and samples. These know nothing of it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import import_module

import numpy as np

from tcbuild._dataset import Dataset
from tcbuild._graph.graph import CellGraph
from tcbuild._sample import Sample

_ROWS = 30  # of a table


def dataset(found: Dataset) -> str:
    """What the manifest says: nothing else is read."""
    codec = f", {found.codec}" if found.codec else ""
    of = f" of {len(found.whole):,}" if found.whole is not found else ""
    title = f"{len(found):,}{of} samples, {found.variant}{codec}"
    masks = [(name, f"{size:,}") for name, size in zip(found.mask_names, found.mask_sizes)]
    columns = []
    for entry in found.phenotypes.values():
        what = f"statistic of {entry.statistic_of}" if entry.statistic_of else "phenotype"
        columns.append((entry.name, what, entry.unit, entry.description))
    columns += [(name, "attribute", "", kind) for name, kind in found._attributes.items()]
    tables = _table(("mask", "positions"), masks)
    tables += _table(("column", "", "unit", "description"), columns)
    return f"{_heading(title)}<code>{escape(str(found.path))}</code>{tables}"


def graph(found: CellGraph) -> str:
    rows = [(name, f"{len(ids):,} nodes") for name, ids in found.nodes.items()]
    rows += [(name, f"{edges.shape[1]:,} edges") for name, edges in found.edges.items()]
    return _heading("cell graph") + _table(("type", "size"), rows)


def sample(found: Sample) -> str:
    owner = found.dataset
    measured = zip(owner.phenotype_names, found.phenotypes.tolist())
    values = [(name, "missing" if value != value else f"{value:.6g}") for name, value in measured]
    values += [(n, "missing" if v is None else str(v)) for n, v in found.attributes.items()]
    removed = np.diff(np.searchsorted(found.removed, owner._mask_offsets)).tolist()
    masks = [
        (name, f"{count:,} of {size:,}")
        for name, size, count in zip(owner.mask_names, owner.mask_sizes, removed)
    ]
    return (
        _heading(f"sample {found.index}: {found.id:.60}")
        + _table(("deleted genes",), [(gene,) for gene in found.deleted_genes])
        + _table(("phenotype or attribute", "value"), values)
        + _table(("mask", "removed"), masks)
    )


def _heading(title: str) -> str:
    return f"<p><b>tcbuild</b> {escape(title)}</p>"


def _table(header: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    """A table without long texts and the rows in the middle, or nothing without rows."""
    frame = import_module("pandas").DataFrame(rows, columns=header)
    return str(frame.to_html(index=False, max_rows=_ROWS)) if rows else ""


# The name that notebooks look for.
for kind, shown in ((Dataset, dataset), (CellGraph, graph), (Sample, sample)):
    setattr(kind, "_repr_html_", shown)
