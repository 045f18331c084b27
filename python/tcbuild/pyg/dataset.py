"""Samples as torchcell's HeteroData."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt
import torch
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild.lazy import lazy_property
from tcbuild.pyg.deferred import Deferred, Values
from tcbuild.pyg.experiments import Experiments
from tcbuild.pyg.gene_ontology import perturbed_ontology
from tcbuild.pyg.shared import Kind, Shared
from tcbuild.pyg.subgraph import subgraph
from tcbuild.rows import position
from tcbuild.torch.resume import Resumable

# torchcell's names of what makes samples.
PROCESSORS = [
    "LazySubgraphRepresentation",
    "SubgraphRepresentation",
    "Perturbation",
    "DCellGraphProcessor",
]


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
    """

    def __init__(
        self,
        dataset: tcbuild.Dataset | str | Path,
        phenotypes: Sequence[str] | None = None,
        statistics: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        graph_processor: str = PROCESSORS[0],
    ):
        self.stored = dataset if isinstance(dataset, tcbuild.Dataset) else tcbuild.open(dataset)
        self._experiments = Experiments(self.stored)
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
        self._shared = Shared(self.stored)
        if graph_processor == "Perturbation":
            self._gene_names  # views share it

    def __reduce__(self) -> tuple[Any, ...]:
        options = self.phenotypes, self.statistics, self.transform, self.graph_processor
        return Dataset._received, (self._shared, self.stored, *options)

    @staticmethod
    def _received(shared: Shared, *options: Any) -> Dataset:
        dataset = Dataset(*options)
        dataset._shared = shared
        return dataset

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
        vars(view).update(vars(self), stored=found, _experiments=Experiments(found))
        return view

    @property
    def made_of_columns(self) -> bool:
        """Whether batches need no samples: there is a value per sample and phenotype, and nothing
        else to be done.
        """
        if self.graph_processor != "Perturbation" or self.transform is not None:
            return False
        every = self._measured.values()
        plain = [not (of.numbers or of.not_finite or of.fitness.any()) for of in every]
        ascending = [bool(np.all(np.diff(of.ranks) > 0)) for of in every]
        return all(plain) and all(ascending)

    def __getitems__(self, indices: Iterable[SupportsIndex]) -> Dataset | list[HeteroData]:
        """A batch's samples; for DataLoaders. Those of Perturbation are a view, which collate reads
        at once.
        """
        rows = [position(index, len(self)) for index in indices]
        return self[rows] if self.made_of_columns else [self[row] for row in rows]

    @lazy_property
    def _gene_names(self) -> npt.NDArray[np.object_]:
        return np.array(self.stored.genes, object)

    def __iter__(self) -> Iterator[HeteroData]:
        return map(self._sample, self.stored)

    def _sample(self, stored: tcbuild.Sample) -> HeteroData:
        genes = torch.from_numpy(stored.perturbation_indices.astype(np.int64))
        gene: dict[str, Any] = {"perturbation_indices": genes}
        gene |= self._coo("phenotype", stored) or _coo_of("phenotype", [torch.nan])
        gene["phenotype_types"] = list(self.phenotypes)
        statistics = self._coo("phenotype_stat", stored)
        if statistics or self.graph_processor == "Perturbation":
            gene |= statistics or _coo_of("phenotype_stat", [])
            gene["phenotype_stat_types"] = list(self.statistics)
        sample: HeteroData
        if self.graph_processor == PROCESSORS[0]:
            gene["ids_pert"] = stored.genes
            of_data = {"sample_id": stored.id, "mask_basis": self.mask_basis}
            values: Values = {None: of_data, "gene": gene}
            sample = Sample(self._shared, genes, None, values, _stored=stored, _dataset=self)
        elif self.graph_processor == "SubgraphRepresentation":
            sample = subgraph(self._shared, stored, gene)
        else:
            removed = torch.zeros(len(self.stored.genes), dtype=torch.bool)
            removed[genes] = True
            gene |= {"perturbed_genes": stored.genes, "num_nodes": len(removed)}
            gene["pert_mask"] = removed
            if self.graph_processor == "Perturbation":
                sample = HeteroData({"gene": gene | {"mask": ~removed}})
            else:
                sample = perturbed_ontology(self.cell_graph, gene)
        return sample if self.transform is None else self.transform(sample)

    def _coo(self, prefix: str, stored: tcbuild.Sample) -> dict[str, Any]:
        """A sample's phenotypes or statistics in COO form; empty if it has none."""
        measured = self._measured[prefix]
        if not len(measured.columns):
            return {}
        values, ranks, numbers = map(torch.from_numpy, measured.of(stored))
        if not len(values):
            return {}
        return {
            f"{prefix}_values": values,
            f"{prefix}_type_indices": ranks,
            f"{prefix}_sample_indices": numbers,
        }


def _coo_of(prefix: str, values: list[float]) -> dict[str, Any]:
    """Values of the first phenotype and experiment in COO form."""
    zeros = torch.zeros(len(values), dtype=torch.int64)
    return {
        f"{prefix}_values": torch.tensor(values, dtype=torch.float32),
        f"{prefix}_type_indices": zeros,
        f"{prefix}_sample_indices": zeros.clone(),
    }


class Sample(Deferred):
    """A sample of a Dataset. A loader joins samples faster as long as nothing is asked of them."""

    def _masks(self) -> dict[str, torch.Tensor]:
        return {name: torch.from_numpy(mask) for name, mask in self._stored.masks.items()}

    def _of_graph(self, kind: Kind, key: str) -> Any:
        return self._shared.of_sample(kind, key)
