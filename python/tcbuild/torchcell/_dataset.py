"""Samples as torchcell's HeteroData."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild._dataset import as_dataset
from tcbuild._lazy import lazy_property
from tcbuild.pyg import _dataset as pyg
from tcbuild.pyg._graph import Keys
from tcbuild.pyg._packed import Lengths, Values
from tcbuild.torchcell._experiments import Experiments
from tcbuild.torchcell._gene_ontology import perturbed_ontology
from tcbuild.torchcell._graph import Graph

# torchcell's names of what makes samples.
PROCESSORS = [
    "LazySubgraphRepresentation",
    "Perturbation",
    "DCellGraphProcessor",
]
_EDGELESS = PROCESSORS[1:]


class Dataset(pyg.Dataset):
    """Samples with the keys, shapes and values of torchcell's LazySubgraphRepresentation, and
    sample_id and mask_basis (graph and reaction rule). ids_pert and perturbation_indices lack genes
    that the graph lacks. Missing phenotypes are omitted; without any, there is one NaN at 0, 0.

    Args:
        dataset: a tcbuild.Dataset, a view, or a folder
        phenotypes: the targets, in this order; [] for none. Required if several are no statistics.
            In a dataset of a torchcell store, fitness includes `fitness#2` and so on and is never
            negative, as in torchcell's schema; calmorph means all calmorph.* of a record, by name
        statistics: of the targets, such as fitness_se (default: those of the manifest)
        transform: applied to each sample, as in torch_geometric
        graph_processor: torchcell's class that makes samples: also Perturbation, which has genes
            only, or DCellGraphProcessor, whose batches need `follow_batch=["go_gene_strata_state"]`

    Examples:
        >>> samples = tcbuild.torchcell.Dataset("cell/dataset", phenotypes=["fitness"])
        >>> samples[0]["gene"].ids_pert
        ['YCR001W', 'YFL001W', 'YFR002C']
    """

    graph_type = Graph

    def __init__(
        self,
        dataset: tcbuild.Dataset | str | Path,
        phenotypes: Sequence[str] | None = None,
        statistics: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        graph_processor: str = PROCESSORS[0],
    ):
        stored = as_dataset(dataset)
        if graph_processor not in PROCESSORS:
            raise ValueError(
                f"open {stored.path}: graph_processor {graph_processor!r}\n"
                f"hint: pass one of {PROCESSORS}; others change the graph of each sample"
            )
        self._given = statistics
        self.graph_processor = graph_processor
        super().__init__(stored, phenotypes, transform)

    def _chosen(self, phenotypes: Sequence[str] | None) -> list[str]:
        """The targets; their statistics are chosen, too."""
        path, names = self.stored.path, list(self._experiments.columns)
        if phenotypes is None:
            phenotypes = self._only(self._experiments.labels)
        self._listed("phenotypes", phenotypes)
        statistics, of = self._given, self._experiments.statistics
        if statistics is None:
            statistics = [name for target in phenotypes for name in of if of[name] == target]
        self.statistics = list(self._listed("statistics", statistics))
        chosen = [*phenotypes, *self.statistics]
        if wrong := [name for name in chosen if name not in names or chosen.count(name) > 1]:
            raise ValueError(
                f"open {path}: no phenotype {wrong[0]!r}, or it is listed twice\n"
                f"hint: name some of {names}, each once"
            )
        self._measured = {
            "phenotype": self._experiments.measured(phenotypes),
            "phenotype_stat": self._experiments.measured(self.statistics),
        }
        return list(phenotypes)

    def _view(self, stored: tcbuild.Dataset) -> Any:
        view = super()._view(stored)
        vars(view).pop("_experiments", None)
        return view

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_experiments"}

    @lazy_property
    def _experiments(self) -> Experiments:
        return Experiments(self.stored)

    # What torchcell's data modules and transforms ask of its dataset. Keys of indexes are in the
    # order in which it meets them, as its random splits follow it.

    @property
    def phenotype_label_index(self) -> dict[str, list[int]]:
        """The samples with each phenotype, ascending."""
        return self._experiments.by_label

    @property
    def dataset_name_index(self) -> dict[str, list[int]]:
        """The samples of each dataset of torchcell."""
        return self._experiments.by_dataset_name

    @property
    def perturbation_count_index(self) -> dict[int, list[int]]:
        """The samples with an experiment of so many perturbations."""
        return self._experiments.by_perturbation_count

    @property
    def is_any_perturbed_gene_index(self) -> dict[str, list[int]]:
        """The samples that perturb each gene."""
        return self._experiments.by_gene

    @property
    def label_df(self) -> Any:
        """The targets as a pandas DataFrame: the sample in `index`; of several experiments, the
        last.
        """
        import pandas

        return pandas.DataFrame(self._experiments.label_table(self.phenotypes))

    @property
    def is_of_columns(self) -> bool:
        """Whether batches need no samples."""
        return self.transform is None and self.graph_processor != "DCellGraphProcessor"

    def _keys(self) -> Keys:
        if self.graph_processor == "Perturbation":
            return {"gene": ["num_nodes", "pert_mask", "mask"]}
        return super()._keys()

    def _values(
        self, whole: tcbuild.Dataset, indices: Any, genes: Any, ptr: Any, phenotypes: Any
    ) -> tuple[Values, Lengths]:
        every = self._measured.values()
        noted: dict[str, Any] = {
            name: whole._table.at(name, indices) for of in every for name in of.numbers
        }
        for name in (name for of in every for name in of.not_finite):
            words = [*whole._table.words(name), None]
            noted[name] = [words[code] for code in whole._table.at(name, indices).tolist()]
        names, one = self.graph.gene_names[genes].tolist(), np.ones(len(ptr) - 1, np.int64)
        lists = [names[start:end] for start, end in pairwise(ptr.tolist())]
        of_names = "perturbed_genes" if self.graph_processor in _EDGELESS else "ids_pert"
        values = {"perturbation_indices": genes, of_names: lists}
        lengths = {"perturbation_indices": np.diff(ptr), of_names: one}
        chosen = {"phenotype": self.phenotypes, "phenotype_stat": self.statistics}
        for prefix, types in chosen.items():
            *found, starts = self._measured[prefix].of(phenotypes, noted, prefix == "phenotype")
            counts, there = np.diff(starts), one
            if prefix == "phenotype_stat" and self.graph_processor != "Perturbation":
                counts = np.where(counts, counts, -1)  # what no sample has is not there
                there = np.sign(counts)
                if not np.any(there > 0):
                    continue
            for key, each in zip(("values", "type_indices", "sample_indices"), found, strict=True):
                values[f"{prefix}_{key}"], lengths[f"{prefix}_{key}"] = each, counts
            values[f"{prefix}_types"] = [[*types] for _ in range(np.count_nonzero(there > 0))]
            lengths[f"{prefix}_types"] = there
        return {"gene": values}, {"gene": lengths}

    def _dense(self, values: Values, lengths: Lengths, phenotypes: Any) -> Any:
        coo, count = values["gene"], max(len(self.phenotypes), 1)
        rows = np.repeat(np.arange(len(phenotypes)), lengths["gene"]["phenotype_values"])
        places = rows * count + coo["phenotype_type_indices"]
        if len(places) and np.bincount(places).max() > 1:
            return None
        dense = np.full(len(phenotypes) * count, np.nan, np.float32)
        dense[places] = coo["phenotype_values"]
        return dense.reshape(-1, count)[:, : len(self.phenotypes)]

    def _sample(self, stored: tcbuild.Sample) -> HeteroData:
        sample = super()._sample(stored)
        values = sample._packed.values
        if self.graph_processor == PROCESSORS[0]:
            values[None] = {"sample_id": stored.id, "mask_basis": self.stored._mask_basis}
        if self.graph_processor != "DCellGraphProcessor":
            return sample
        gene = {
            key: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
            for key, value in values["gene"].items()
        }
        removed = torch.zeros(len(self.stored.genes), dtype=torch.bool)
        removed[gene["perturbation_indices"]] = True
        gene |= {"num_nodes": len(removed), "pert_mask": removed}
        return perturbed_ontology(self.cell_graph, gene)
