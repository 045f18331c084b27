"""Samples as torchcell's HeteroData."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt
import torch
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild._lazy import lazy_property
from tcbuild._table.rows import positions
from tcbuild.torch._attributes import with_cells
from tcbuild.torch._resume import Resumable
from tcbuild.torchcell._deferred import Deferred, Maker, Values
from tcbuild.torchcell._experiments import Experiments
from tcbuild.torchcell._gene_ontology import perturbed_ontology
from tcbuild.torchcell._shared import Keys, Kind, Shared
from tcbuild.torchcell._subgraph import subgraph

# torchcell's names of what makes samples.
PROCESSORS = [
    "LazySubgraphRepresentation",
    "SubgraphRepresentation",
    "Perturbation",
    "DCellGraphProcessor",
]
_EDGELESS = PROCESSORS[2:]

# A list with an item per sample, or an array; and how much of it each sample has, -1 for none.
Part = tuple[Any, npt.NDArray[np.int64]]


class Dataset(Resumable, torch.utils.data.Dataset[HeteroData]):
    """Samples as in torchcell's LazySubgraphRepresentation: the whole graph, shared by all samples,
    and what is removed from it.

    dataset: a tcbuild.Dataset, a view of one, or its folder

    node types: node_ids (of reactions: their indices), num_nodes; mask bool [N], true where kept;
        pert_mask, its inverse
    gene: x; ids_pert (names) and perturbation_indices (int64, ascending) of the deleted genes, of
        which torchcell's ids_pert has also those that the graph lacks;
        phenotypes in COO form: phenotype_values float32 and, for each, phenotype_type_indices (into
        phenotype_types, the names of `phenotypes`) and phenotype_sample_indices (the number of the
        experiment in its record of a torchcell store, otherwise 0), by experiment, then by type.
        Missing ones are omitted; if all are missing, there is one NaN at 0, 0. So are statistics in
        phenotype_stat_*, which are not there if all are missing
    reaction: w_growth, if the graph has it
    edge types: edge_index or hyperedge_index, stoichiometry, num_edges (positions); mask bool [E]
    data: sample_id, mask_basis (tcbuild.Dataset.mask_basis)

    Contents of a sample are made when anything is asked of it.

    phenotypes: the targets, in this order. torchcell's trainers use all of phenotype_values, so a
        dataset with several that are no statistics needs them named. [] for none; others that are
        not in statistics are omitted. In a dataset of a torchcell store, fitness stands for
        fitness#2 and so on, too, and is never negative, as torchcell's schema has it; numbers that
        are NaN or infinite in the store are so here; and calmorph stands for calmorph.A101 and so
        on, all that a record has, sorted by name as in torchcell's Perturbation (its other
        processors fail for such a vector)
    statistics: statistics of the targets, such as fitness_se; by default those of the manifest
    transform: what is done with each sample, as in torch_geometric; it may be set later too. It
        may change a sample, or a copy.copy of it
    graph_processor: the name of torchcell's class that makes the samples:
        SubgraphRepresentation, for models that take no masks: what is left of the graph, with its
        nodes numbered anew. x_pert has the features of the deleted genes, pert_mask of edges
        between genes and of gpr says which are gone. Batches are those of torch_geometric
        The other two have no edges, and perturbed_genes instead of ids_pert:
        Perturbation, for models that have the graph: genes alone, without x and node_ids, and
        with phenotype_stat_* also where all are missing
        DCellGraphProcessor: genes without mask, and of a graph with gene_ontology its node_ids,
        num_nodes and go_gene_strata_state, float32 [annotations, 4] of term, gene, stratum and
        state, 0 where the gene is deleted. Follow that key in batches
    attributes: names of those that batches have, for batch.attribute(name); of cells also row, file
        and file_rows
    """

    def __init__(
        self,
        dataset: tcbuild.Dataset | str | Path,
        phenotypes: Sequence[str] | None = None,
        statistics: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        graph_processor: str = PROCESSORS[0],
        attributes: Sequence[str] = (),
    ):
        self.stored = dataset if isinstance(dataset, tcbuild.Dataset) else tcbuild.open(dataset)
        path, names = self.stored.path, list(self._experiments.columns)
        if phenotypes is None:
            phenotypes = self._experiments.labels
            if len(phenotypes) > 1:
                raise ValueError(
                    f"open {path}: which of its {len(phenotypes)} phenotypes are targets?\n"
                    f"hint: pass phenotypes=, some of {phenotypes}"
                )
        for option in (phenotypes, statistics or ()):
            if isinstance(option, str):
                raise TypeError(
                    f"open {path}: phenotypes or statistics {option!r}\n"
                    f"hint: pass a list of names: [{option!r}]"
                )
        self.phenotypes = list(phenotypes)
        if statistics is None:
            of = self._experiments.statistics
            statistics = [name for target in phenotypes for name in of if of[name] == target]
        self.statistics = list(statistics)
        chosen = [*self.phenotypes, *self.statistics]
        if wrong := [name for name in chosen if name not in names or chosen.count(name) > 1]:
            raise ValueError(
                f"open {path}: no phenotype {wrong[0]!r}, or it is listed twice\n"
                f"hint: name some of {names}, each once"
            )
        if graph_processor not in PROCESSORS:
            raise ValueError(
                f"open {path}: graph_processor {graph_processor!r}\n"
                f"hint: pass one of {PROCESSORS}; others change the graph of each sample"
            )
        self._measured = {
            "phenotype": self._experiments.measured(self.phenotypes),
            "phenotype_stat": self._experiments.measured(self.statistics),
        }
        self.transform, self.graph_processor = transform, graph_processor
        self.mask_basis = self.stored.mask_basis
        self.attributes = with_cells(attributes, self.stored)
        self._shared = Shared(self.stored)
        self._noted  # views share it

    def __reduce__(self) -> tuple[Any, ...]:
        options: tuple[Any, ...] = self.phenotypes, self.statistics, self.transform
        options += self.graph_processor, self.attributes
        return Dataset._received, (self._shared, self.stored, *options)

    @staticmethod
    def _received(shared: Shared, *options: Any) -> Dataset:
        dataset = Dataset(*options)
        dataset._shared = shared
        return dataset

    @lazy_property
    def _experiments(self) -> Experiments:
        return Experiments(self.stored)

    @property
    def cell_graph(self) -> HeteroData:
        """The graph that all samples share; change it to change all samples."""
        return self._shared.graph

    def lay_out(self, batch_size: int, device: torch.device | str = "cpu") -> None:
        """Lays out what all batches share, for batches of up to that size on the device on which
        they are used. Otherwise the first batch does.
        """
        shared, on = self._shared, torch.empty(0, device=device).device
        for kind, keys in shared.keys.items():
            found = [key for key in keys if torch.is_tensor(shared.graph[kind].get(key))]
            for key in (*found, "batch") if isinstance(kind, str) else found:
                shared.of_batch(kind, key, batch_size, on)

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
    def is_any_deletion_gene_index(self) -> dict[str, list[int]]:
        """The samples that delete each gene, going by the types of their perturbations."""
        return self._experiments.by_deletion

    @property
    def label_df(self) -> Any:
        """A pandas DataFrame of the targets: the sample in `index`, and of several experiments the
        last value.
        """
        import pandas

        return pandas.DataFrame(self._experiments.label_table(self.phenotypes))

    @property
    def phenotype_info(self) -> list[Any]:
        """Per target an object whose model_fields have the default label_name and
        label_statistic_name, as torchcell's classes do.
        """
        of = self._experiments.statistics
        return [
            SimpleNamespace(
                model_fields={
                    "label_name": SimpleNamespace(default=name),
                    "label_statistic_name": SimpleNamespace(
                        default=next((each for each in of if of[each] == name), None)
                    ),
                }
            )
            for name in self.phenotypes
        ]

    @property
    def gene_set(self) -> list[str]:
        """The graph's genes, sorted."""
        return sorted(self.stored.genes)

    def close_lmdb(self) -> None:
        """Does nothing: no LMDB environment is open."""

    def __len__(self) -> int:
        return len(self.stored)

    @overload
    def __getitem__(self, index: SupportsIndex) -> HeteroData: ...
    @overload
    def __getitem__(self, index: slice | Iterable[SupportsIndex]) -> Dataset: ...
    def __getitem__(
        self, index: SupportsIndex | slice | Iterable[SupportsIndex]
    ) -> HeteroData | Dataset:
        """A sample, or a view for a slice, indices or a boolean array, as in tcbuild.Dataset."""
        found = self.stored[index]
        if not isinstance(found, tcbuild.Dataset):
            return self._sample(found)
        view = object.__new__(Dataset)
        vars(view).update(vars(self), stored=found)
        vars(view).pop("_experiments", None)
        return view

    @property
    def made_of_columns(self) -> bool:
        """Whether batches need no samples."""
        whole_or_edgeless = PROCESSORS[0], "Perturbation"
        return self.transform is None and self.graph_processor in whole_or_edgeless

    def __getitems__(self, indices: Iterable[SupportsIndex]) -> Rows:
        """A batch's samples; for DataLoaders."""
        return Rows(self[positions(indices, len(self))])

    def __iter__(self) -> Iterator[HeteroData]:
        return map(self._sample, self.stored)

    @property
    def names_key(self) -> str:
        """torchcell's key for the names of the deleted genes."""
        return "perturbed_genes" if self.graph_processor in _EDGELESS else "ids_pert"

    @lazy_property
    def _noted(self) -> list[str]:
        """The attributes that are read with phenotypes."""
        every = self._measured.values()
        return list(dict.fromkeys(name for of in every for name in (*of.numbers, *of.not_finite)))

    @property
    def of_graph(self) -> Keys | None:
        """What samples have of the graph; None for all."""
        edgeless = self.graph_processor == "Perturbation"
        return {"gene": ["num_nodes", "pert_mask", "mask"]} if edgeless else None

    def _sample(self, stored: tcbuild.Sample) -> HeteroData:
        deleted = stored.deleted.astype(np.int64)
        ends, noted = np.array([0, len(deleted)]), [stored.attributes] if self._noted else [{}]
        parts = gene_values(self, deleted, ends, stored.phenotypes[None], noted)
        gene: dict[str, Any] = {
            key: value[0] if isinstance(value, list) else torch.from_numpy(value)
            for key, (value, _) in parts.items()
        }
        genes = gene["perturbation_indices"]
        sample: HeteroData
        if self.graph_processor == "SubgraphRepresentation":
            sample = subgraph(self._shared, stored, gene)
        elif self.graph_processor == "DCellGraphProcessor":
            removed = torch.zeros(len(self.stored.genes), dtype=torch.bool)
            removed[genes] = True
            gene |= {"num_nodes": len(removed), "pert_mask": removed}
            sample = perturbed_ontology(self.cell_graph, gene)
        else:
            values: Values = {"gene": gene}
            if self.of_graph is None:
                values[None] = {"sample_id": stored.id, "mask_basis": self.mask_basis}
            sample = Sample(
                self._shared, genes, self.of_graph, values, _stored=stored, _dataset=self
            )
        return sample if self.transform is None else self.transform(sample)


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


class Rows(Sequence[HeteroData]):
    """The samples of a batch, each made when it is asked for; LazyCollater asks for none."""

    def __init__(self, dataset: Dataset):
        self.dataset = dataset

    @lazy_property
    def _samples(self) -> list[HeteroData]:
        return list(self.dataset)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        return self._samples[index]


class Sample(Deferred):
    """A sample of a Dataset. A loader joins samples faster as long as nothing is asked of them."""

    def _maker(self, keys: Keys) -> Maker:
        return _OfSample(self, keys)


class _OfSample(Maker):
    def __init__(self, sample: Sample, keys: Keys):
        super().__init__(sample._shared, sample._genes, keys)
        self.stored = sample._stored

    @lazy_property
    def masks(self) -> dict[str, torch.Tensor]:
        if self.of_genes:
            ptr = np.array([0, len(self.genes)])
            return self.shared.gene_masks((self.genes.numpy(), ptr), self.genes.device)
        return {name: torch.from_numpy(mask) for name, mask in self.stored.masks.items()}

    def of_graph(self, kind: Kind, key: str) -> Any:
        return self.shared.of_sample(kind, key)
