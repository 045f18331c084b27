"""What notebooks show of datasets, graphs and samples. These know nothing of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from tcbuild._dataset import Dataset
from tcbuild._graph.graph import CellGraph
from tcbuild._sample import Sample

_ROWS = 30  # of a table
_LONGEST = 60  # characters of a cell


def dataset(found: Dataset) -> str:
    """What the manifest says: nothing else is read."""
    codec = f", {found.codec}" if found.codec else ""
    graph = [(name, f"{size:,}") for name, size in zip(found.mask_names, found.mask_sizes)]
    labels = [
        (
            entry.name,
            f"statistic of {entry.statistic_of}" if entry.statistic_of else "phenotype",
            entry.unit,
            entry.description,
        )
        for entry in found.phenotypes.values()
    ]
    labels += [(name, "attribute", "", kind) for name, kind in found._attributes.items()]
    of = f" of {len(found.whole):,}" if found.whole is not found else ""
    return (
        _heading(f"{len(found):,}{of} samples, {found.variant}{codec}", str(found.path))
        + _table(("mask", "positions"), graph)
        + _table(("column", "", "unit", "description"), labels)
    )


def graph(found: CellGraph) -> str:
    rows = [(name, f"{len(ids):,} nodes") for name, ids in found.nodes.items()]
    rows += [(name, f"{edges.shape[1]:,} edges") for name, edges in found.edges.items()]
    return _heading("cell graph", "") + _table(("type", "size"), rows)


def sample(found: Sample) -> str:
    owner = found._dataset
    values = [
        (name, "missing" if value != value else f"{value:.6g}")
        for name, value in zip(owner.phenotype_names, found.phenotypes.tolist())
    ]
    values += [
        (name, "missing" if value is None else str(value))
        for name, value in found.attributes.items()
    ]
    removed = np.diff(np.searchsorted(found.removed, owner._mask_offsets)).tolist()
    masks = [
        (name, f"{count:,} of {size:,}")
        for name, size, count in zip(owner.mask_names, owner.mask_sizes, removed)
    ]
    return (
        _heading(f"sample {found.index}: {found.id}", "")
        + _table(("deleted genes",), [(gene,) for gene in found.deleted_genes])
        + _table(("phenotype or attribute", "value"), values)
        + _table(("mask", "removed"), masks)
    )


def _heading(title: str, path: str) -> str:
    return f"<p><b>tcbuild</b> {_cut(title)}<br><code>{escape(path)}</code></p>"


def _table(header: Sequence[str], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of at most _ROWS rows, or nothing without rows."""
    rows = list(rows)
    if not rows:
        return ""
    lines = [_row("th", header), *(_row("td", row) for row in rows[:_ROWS])]
    if (left := len(rows) - len(lines) + 1) > 0:
        lines.append(_row("td", (f"and {left:,} more",)))
    return f"<table>{''.join(lines)}</table>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_cut(cell)}</{tag}>' for cell in cells)}</tr>"


def _cut(text: str) -> str:
    return escape(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


# The name that notebooks look for.
for kind, shown in ((Dataset, dataset), (CellGraph, graph), (Sample, sample)):
    setattr(kind, "_repr_html_", shown)
