"""Samples as torchcell's HeteroData."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, SupportsIndex, overload

import numpy as np
import torch
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild.pyg.deferred import Deferred, Values
from tcbuild.pyg.shared import Kind, Shared


class Dataset(torch.utils.data.Dataset[HeteroData]):
    """Samples as in torchcell's LazySubgraphRepresentation: the whole graph, shared by all samples,
    and what is removed from it.

    dataset: a tcbuild.Dataset, a view of one, or its folder

    node types: node_ids (of reactions: their indices), num_nodes; mask bool [N], true where kept;
        pert_mask, its inverse
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

        self.mask_basis = self.stored.mask_basis
        self._columns = {name: column for column, name in enumerate(names)}

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
        gene |= self._measured("phenotype", self.phenotypes, stored) or {
            "phenotype_values": torch.tensor([torch.nan]),
            "phenotype_type_indices": torch.tensor([0]),
            "phenotype_sample_indices": torch.tensor([0]),
        }
        gene["phenotype_types"] = list(self.phenotypes)
        gene |= self._measured("phenotype_stat", self.statistics, stored)
        if "phenotype_stat_values" in gene:
            gene["phenotype_stat_types"] = list(self.statistics)
        values: Values = {
            None: {"sample_id": stored.id, "mask_basis": self.mask_basis},
            "gene": gene,
        }
        sample = Sample(self._shared, genes, None, values, _stored=stored, _dataset=self)
        return sample if self.transform is None else self.transform(sample)

    def _measured(self, prefix: str, names: list[str], stored: tcbuild.Sample) -> dict[str, Any]:
        """The phenotypes with some names that a sample has, in COO form; empty if it has none."""
        columns = [self._columns[name] for name in names]
        values = stored.phenotypes[columns].astype(np.float32)
        there = np.flatnonzero(~np.isnan(values))
        if not len(there):
            return {}
        return {
            f"{prefix}_values": torch.from_numpy(values[there]),
            f"{prefix}_type_indices": torch.from_numpy(there),
            f"{prefix}_sample_indices": torch.zeros(len(there), dtype=torch.int64),
        }


class Sample(Deferred):
    """A sample of a Dataset. A loader joins samples faster as long as nothing is asked of them."""

    def _masks(self) -> dict[str, torch.Tensor]:
        return {name: torch.from_numpy(mask) for name, mask in self._stored.masks.items()}

    def _of_graph(self, kind: Kind, key: str) -> Any:
        return self._shared.of_sample(kind, key)
