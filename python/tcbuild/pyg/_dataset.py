"""Samples as HeteroData."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, SupportsIndex

import numpy as np
import torch
from torch_geometric.data import HeteroData

import tcbuild
from tcbuild._dataset import as_dataset
from tcbuild._lazy import lazy_property
from tcbuild._table.rows import positions
from tcbuild.errors import SettingsError, unknown_name
from tcbuild.pyg._graph import Graph, Keys
from tcbuild.pyg._packed import Lengths, Packed, Small, Terms, Values


class Sample(Small):
    """A sample of a Dataset, on the CPU; small until anything is asked for."""


class Dataset(torch.utils.data.Dataset[HeteroData]):
    """Samples as HeteroData: what cell_graph has; mask bool [N] of each node and edge type, true
    where kept; of gene, deleted int64, ascending indices; y float32 [1, P], NaN if missing;
    sample_id.

    A slice, indices or a boolean array give a view. Loaders call a subclass's `__getitem__`.

    Args:
        dataset: a tcbuild.Dataset, a view, or a folder
        phenotypes: the columns of y: [*dataset.phenotypes] for all, [] for none. Required if
            several are no statistics
        transform: applied to each sample, as in torch_geometric. Each sample is then made whole: 2
            ms for a yeast graph

    Examples:
        >>> samples = tcbuild.pyg.Dataset("cell/dataset", phenotypes=["fitness"])
        >>> for batch in tcbuild.pyg.DataLoader(samples, batch_size=28, shuffle=True):
        ...     masks, target = batch["gene"].mask, batch.y
    """

    graph_type: ClassVar[type[Graph]] = Graph
    sample_type: ClassVar[type[Sample]] = Sample
    graph_processor = ""
    statistics: list[str] = []
    phenotypes: list[str]

    def __init__(
        self,
        dataset: tcbuild.Dataset | str | Path,
        phenotypes: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
    ):
        self.stored = as_dataset(dataset)
        self.transform = transform
        self.graph = self.graph_type(self.stored)
        self.phenotypes = self._chosen(phenotypes)

    def _chosen(self, phenotypes: Sequence[str] | None) -> list[str]:
        """The targets."""
        known = self.stored.phenotypes
        if phenotypes is None:
            return self._only([name for name, each in known.items() if not each.statistic_of])
        for name in self._listed("phenotypes", phenotypes):
            if name not in known:
                raise unknown_name("phenotype", name, known)
        return list(phenotypes)

    def _only(self, phenotypes: list[str]) -> list[str]:
        """The phenotype of a dataset that has one, or none."""
        if len(phenotypes) > 1:
            raise SettingsError(
                f"open {self.stored.path}: found {len(phenotypes)} phenotypes, expected one or "
                "the names of targets",
                f"Dataset(dataset, phenotypes=[...]) with some of {phenotypes}",
            )
        return phenotypes

    def _listed(self, what: str, names: Sequence[str]) -> Sequence[str]:
        if isinstance(names, str):
            raise TypeError(
                f"open {self.stored.path}: {what} {names!r}\n"
                f"hint: pass a list of names: [{names!r}]"
            )
        return names

    @property
    def cell_graph(self) -> HeteroData:
        """The graph that all samples share; change it to change all samples."""
        return self.graph.data

    def __repr__(self) -> str:
        return f"<{type(self).__module__.partition('._')[0]}.Dataset of {self.stored!r}>"

    def __len__(self) -> int:
        return len(self.stored)

    def __getitem__(self, index: Any) -> Any:
        """A sample, or a view for a slice, indices or a boolean array, as in tcbuild.Dataset."""
        found = self.stored[index]
        if isinstance(found, tcbuild.Dataset):
            return self._view(found)
        sample = self._sample(found)
        return sample if self.transform is None else self.transform(sample)

    def _view(self, stored: tcbuild.Dataset) -> Any:
        view = copy.copy(self)
        view.stored = stored
        return view

    def __getitems__(self, indices: Iterable[SupportsIndex]) -> Sequence[Any]:
        """A batch's samples; for DataLoaders."""
        places = positions(indices, len(self))
        if not self.is_of_columns or type(self).__getitem__ is not Dataset.__getitem__:
            return [self[place] for place in places.tolist()]
        return Rows(self._view(self.stored[places]))

    def __iter__(self) -> Iterator[HeteroData]:
        return (self[place] for place in range(len(self)))

    @property
    def is_of_columns(self) -> bool:
        """Whether batches need no samples."""
        return self.transform is None

    def _sample(self, stored: tcbuild.Sample) -> HeteroData:
        view = self.stored.whole[stored.index : stored.index + 1]
        packed = self._pack(view)
        values = {
            kind: {
                key: value[0] if isinstance(value, list) else value
                for key, value in of.items()
                if packed.lengths[kind][key][0] >= 0
            }
            for kind, of in packed.values.items()
        }
        return self.sample_type(replace(packed, values=values))

    def _pack(self, view: tcbuild.Dataset) -> Packed:
        """Packs the samples of a view together, without reading masks."""
        genes, ptr, phenotypes = view.perturbations(slice(None))
        indices = view.indices
        values, lengths = self._values(view.whole, indices, genes, ptr, phenotypes)
        dense = self._dense(values, lengths, phenotypes)
        terms = self._terms
        keys = self._keys()
        return Packed(
            self.graph, [view.whole], indices, genes, ptr, keys, values, terms, None, lengths, dense
        )

    @property
    def _terms(self) -> Terms:
        return Terms(
            self.stored.path,
            self.stored._mask_basis,
            self.phenotypes,
            self.statistics,
            self.graph_processor,
        )

    def _keys(self) -> Keys:
        """What samples have of the graph."""
        return self.graph.keys()

    def _values(
        self, whole: tcbuild.Dataset, indices: Any, genes: Any, ptr: Any, phenotypes: Any
    ) -> tuple[Values, Lengths]:
        """What each sample has of its own, joined, and how many rows it has of each."""
        one = np.ones(len(indices), np.int64)
        places = [whole.phenotype_names.index(name) for name in self.phenotypes]
        of_data = {
            "y": phenotypes[:, places].astype(np.float32),
            "sample_id": whole._table.ids(indices),
        }
        lengths: Lengths = {"gene": {"deleted": np.diff(ptr)}, None: {"y": one, "sample_id": one}}
        return {"gene": {"deleted": genes}, None: of_data}, lengths

    def _dense(self, values: Values, lengths: Lengths, phenotypes: Any) -> Any:
        """The targets [B, P] of samples without y; None if one has several values of one."""


class Rows(Sequence[HeteroData]):
    """The samples of a batch, each made when it is asked for; Collater asks for none."""

    def __init__(self, dataset: Dataset):
        self.dataset = dataset

    @lazy_property
    def _samples(self) -> list[HeteroData]:
        return list(self.dataset)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        return self._samples[index]
