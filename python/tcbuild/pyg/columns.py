"""What the genes of samples have, from columns of the sample table: a batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tcbuild.pyg.dataset import Dataset

# A list with an item per sample, or an array; and how much of it each sample has, -1 for none.
Part = tuple[Any, npt.NDArray[np.int64]]


def gene_values(
    dataset: Dataset,
    deleted: npt.NDArray[np.int64],
    ptr: npt.NDArray[np.int64],
    phenotypes: npt.NDArray[np.float64],
    attributes: Sequence[dict[str, Any]],
) -> dict[str, Part]:
    """Deleted genes and phenotypes of B samples by torchcell's names.

    deleted, ptr, phenotypes: as of tcbuild.Dataset.perturbations. attributes: per sample those in
    dataset._noted
    """
    size, whole_graph = len(ptr) - 1, dataset.graph_processor != "Perturbation"
    names, one = dataset._shared.gene_names[deleted].tolist(), np.ones(size, np.int64)
    lists = [names[start:end] for start, end in pairwise(ptr.tolist())]
    parts: dict[str, Part] = {"perturbation_indices": (deleted, np.diff(ptr))}
    parts[dataset.names_key] = lists, one
    noted = {name: [row[name] for row in attributes] for name in dataset._noted}
    chosen = {"phenotype": dataset.phenotypes, "phenotype_stat": dataset.statistics}
    for prefix, types in chosen.items():
        *found, starts = dataset._measured[prefix].of(phenotypes, noted, prefix == "phenotype")
        lengths, there = np.diff(starts), one
        if prefix == "phenotype_stat" and whole_graph:  # what no sample has is not there
            lengths = np.where(lengths, lengths, -1)
            there = np.sign(lengths)
            if not np.any(there > 0):
                continue
        for key, values in zip(("values", "type_indices", "sample_indices"), found, strict=True):
            parts[f"{prefix}_{key}"] = values, lengths
        parts[f"{prefix}_types"] = [list(types) for _ in range(np.count_nonzero(there > 0))], there
    return parts
