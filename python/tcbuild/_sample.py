"""A sample of a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tcbuild._lazy import lazy_property
from tcbuild._table.combinations import Table
from tcbuild._table.kinds import Kinds
from tcbuild._table.sample_table import Labels
from tcbuild.errors import ByName

_SHOWN = 10  # genes in a repr


class Sample:
    """One genotype with its measurements, read at first use.

    Attributes:
        dataset: the whole dataset
        index: in the whole dataset, also of a view's sample

    Examples:
        >>> sample = dataset[0]
        >>> sample.deleted_genes
        ['YCR001W', 'YFL001W', 'YFR002C']
        >>> int(sample.masks["gene"].sum())
        57
    """

    def __init__(self, dataset: Any, index: int):
        self.dataset, self.index = dataset, index

    def __repr__(self) -> str:
        genes = self.deleted_genes
        shown = ", ".join(genes[:_SHOWN]) or "nothing"
        more = f" and {len(genes) - _SHOWN:,} more" if len(genes) > _SHOWN else ""
        return f"<tcbuild.Sample {self.index} {self.id!r:.100}: deletes {shown}{more}>"

    @lazy_property
    def _labels(self) -> Labels:
        table: Table = self.dataset._table
        return table.labels(self.index)

    @property
    def id(self) -> str:
        """Its name."""
        return self._labels.sample_id

    @property
    def deleted(self) -> npt.NDArray[np.int32]:
        """int32 [g], the deleted genes, ascending."""
        return self._labels.deleted

    @lazy_property
    def _perturbed(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
        kinds: Kinds = self.dataset._kinds
        text: Any = self.attributes[kinds.attribute] if kinds.names else None
        return kinds.of(self.deleted, text)

    @property
    def perturbed(self) -> npt.NDArray[np.int32]:
        """int32 [p], all genes that it perturbs, ascending, deleted or not."""
        return self._perturbed[0]

    @property
    def perturbed_kinds(self) -> npt.NDArray[np.int8]:
        """int8 [p], their kinds: indices of Dataset.kinds, -1 if unknown."""
        return self._perturbed[1]

    @property
    def phenotypes(self) -> npt.NDArray[np.float64]:
        """float64 [P], in the order of Dataset.phenotype_names, NaN if missing."""
        return self._labels.phenotypes

    @lazy_property
    def attributes(self) -> dict[str, str | float | None]:
        """By name, in the order of Dataset.attribute_names, None if missing."""
        table: Table = self.dataset._table
        return table.attributes(self.index)

    @property
    def deleted_genes(self) -> list[str]:
        """The names of the deleted genes."""
        names = self.dataset.genes
        return [names[gene] for gene in self.deleted]

    @lazy_property
    def removed(self) -> npt.NDArray[np.uint32]:
        """The removed positions, ascending, among all positions."""
        removed: npt.NDArray[np.uint32] = self.dataset._read_removed(self.index)
        return removed

    @lazy_property
    def all_masks(self) -> npt.NDArray[np.bool_]:
        """All masks in one array: bool [sum(Dataset.mask_sizes)], true where kept."""
        masks = np.empty(self.dataset._mask_offsets[-1], np.bool_)
        self.dataset._fill_masks(self.index, masks)
        return masks

    @lazy_property
    def masks(self) -> dict[str, npt.NDArray[np.bool_]]:
        """The mask of each node and edge type, in canonical order: views of all_masks."""
        masks = np.split(self.all_masks, self.dataset._mask_offsets[1:-1])
        return ByName("mask", dict(zip(self.dataset.mask_names, masks)))
