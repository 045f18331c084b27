"""Samples as torchcell's HeteroData."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, SupportsIndex, overload

import torch
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild.pyg.deferred import Deferred, Values
from tcbuild.pyg.shared import Kind, Shared


class Dataset(torch.utils.data.Dataset[HeteroData]):
    """Samples as in torchcell's LazySubgraphRepresentation: the whole graph, shared by all samples,
    and what is removed from it.

    dataset: a tcbuild.Dataset, a view of one, or its folder

    node types: node_ids (of reactions: their indices), num_nodes; mask bool [N], true where kept; pert_mask, its inverse
    gene: x; ids_pert (names) and perturbation_indices (int64, ascending) of the deleted genes;
        phenotypes in COO form: phenotype_values float32 and, for each, phenotype_type_indices (into
        phenotype_types, the names of `phenotypes`) and phenotype_sample_indices (0). Missing ones
        are omitted; if all are missing, there is one NaN at 0, 0. With statistics also
        phenotype_stat_*
    reaction: w_growth, if the graph has it
    edge types: edge_index or hyperedge_index, stoichiometry, num_edges (positions); mask bool [E]
    data: sample_id, mask_basis (tcbuild.Dataset.mask_basis)

    Contents of a sample are made when anything is asked of it.

    phenotypes: the targets. torchcell's trainers use all of phenotype_values, so a dataset with
        several that are no statistics needs them named. [] for none; others that are not in
        statistics are omitted
    statistics: statistics of the targets, such as fitness_se; by default those of the manifest
    transform: what is done with each sample, as in torch_geometric; it may be set later too. It
        may change a sample, or a copy.copy of it
    """

    def __init__(
        self,
        dataset: tcbuild.Dataset | str | Path,
        phenotypes: Sequence[str] | None = None,
        statistics: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
    ):
        self.stored = dataset if isinstance(dataset, tcbuild.Dataset) else tcbuild.open(dataset)
        path, names = self.stored.path, self.stored.phenotype_names
        if phenotypes is None:
            phenotypes = [name for name in names if not self.stored.phenotypes[name].statistic_of]
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
        self.phenotypes, of = list(phenotypes), self.stored.phenotypes
        if statistics is None:
            statistics = [n for target in phenotypes for n in names if of[n].statistic_of == target]
        self.statistics = list(statistics)
        self.transform = transform
        self._shared = Shared(self.stored)
        chosen = [*self.phenotypes, *self.statistics]
        if wrong := [name for name in chosen if name not in names or chosen.count(name) > 1]:
            raise ValueError(
                f"open {path}: no phenotype {wrong[0]!r}, or it is listed twice\n"
                f"hint: name some of {names}, each once"
            )

    @property
    def cell_graph(self) -> HeteroData:
        """The graph that all samples share; change it to change all samples."""
        return self._shared.graph

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
        return view

    def __iter__(self) -> Iterator[HeteroData]:
        return map(self._sample, self.stored)

    def _sample(self, stored: tcbuild.Sample) -> HeteroData:
        genes = torch.from_numpy(stored.perturbation_indices).long()
        gene = {"ids_pert": stored.genes, "perturbation_indices": genes}
        values: Values = {"gene": gene | self._phenotypes(stored)}
        values[None] = {"sample_id": stored.id, "mask_basis": self.stored.mask_basis}
        sample = Sample(self._shared, genes, None, values, _stored=stored)
        return sample if self.transform is None else self.transform(sample)

    def _phenotypes(self, sample: tcbuild.Sample) -> dict[str, Any]:
        found: dict[str, Any] = {}
        values = dict(zip(self.stored.phenotype_names, sample.phenotypes.tolist()))
        for prefix, names in (("phenotype", self.phenotypes), ("phenotype_stat", self.statistics)):
            there = [
                (values[name], rank)
                for rank, name in enumerate(names)
                if values[name] == values[name]
            ]
            if prefix == "phenotype_stat" and not there:
                continue
            there = there or [(float("nan"), 0)]
            found[f"{prefix}_values"] = torch.tensor(
                [value for value, _ in there], dtype=torch.float32
            )
            found[f"{prefix}_type_indices"] = torch.tensor([rank for _, rank in there])
            found[f"{prefix}_sample_indices"] = torch.zeros(len(there), dtype=torch.int64)
            found[f"{prefix}_types"] = list(names)
        return found


class Sample(Deferred):
    """A sample of a Dataset. A loader joins samples faster as long as nothing is asked of them."""

    def _masks(self) -> dict[str, torch.Tensor]:
        return {name: torch.from_numpy(mask) for name, mask in self._stored.masks.items()}

    def _of_graph(self, kind: Kind, key: str) -> Any:
        return self._shared.of_sample(kind, key)
