"""Attributes of the samples of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

import tcbuild
from tcbuild._table.cell_rows import FILE, FILE_ROWS, ROW
from tcbuild.errors import UnknownNameError, unknown_name

_CELL = (ROW, FILE, FILE_ROWS)


class Categories(NamedTuple):
    """An attribute of text. codes: int64 [B], indices of categories, -1 if missing. categories: the
    texts that the whole dataset has, sorted, so the same in every batch.
    """

    codes: Tensor
    categories: list[str]


class Attributes:
    """Attributes by name, on the host until they are asked for."""

    def __init__(
        self, datasets: Sequence[tcbuild.Dataset], indices: Sequence[int], names: Sequence[str]
    ):
        """datasets, indices: of each sample its whole dataset, and its index in that. names: of the
        attributes; those that all datasets have alike.
        """
        self._values: dict[str, npt.NDArray[np.float64 | np.int64]] = {}
        self._categories: dict[str, list[str]] = {}
        if not names:
            return
        rows = [
            dataset._table.attributes(index, names) for dataset, index in zip(datasets, indices)
        ]
        for name in names:
            values = [row[name] for row in rows]
            categories = _categories(datasets, name) if datasets else None
            if categories is None:
                self._values[name] = np.array(values, np.float64)
                continue
            code_of: dict[object, int] = {text: code for code, text in enumerate(categories)}
            self._values[name] = np.array([code_of.get(text, -1) for text in values], np.int64)
            self._categories[name] = categories

    @property
    def names(self) -> list[str]:
        return list(self._values)

    def on(self, device: torch.device, name: str) -> Tensor | Categories:
        """An attribute on a device: categories, or numbers, NaN if missing."""
        values = torch.from_numpy(self._values[name]).to(device)
        return Categories(values, self._categories[name]) if name in self._categories else values


class Annotated:
    """What batches of tcbuild.torch and tcbuild.pyg have in common."""

    _attributes: Attributes | None

    def _device(self) -> torch.device:
        raise NotImplementedError

    def attribute(self, name: str) -> Tensor | Categories:
        """An attribute of all samples, on the batch's device: of numbers float64 [B], NaN if
        missing; of texts Categories, whose codes are the same in every batch of a dataset. The
        dataset names those that batches have: Dataset(path, attributes=[name]).
        """
        names = self._attributes.names if self._attributes else []
        if self._attributes is None or name not in names:
            raise UnknownNameError(
                f"found attribute {name!r:.100} not among the {len(names)} of the batch\n"
                "hint: list the attributes of batches: Dataset(path, "
                f"attributes=[{name!r:.100}])"
            )
        return self._attributes.on(self._device(), name)

    @property
    def rows(self) -> Tensor:
        """int64 [B], the rows of the samples' cells in their AnnData file: the attribute row that
        tcbuild.anndata.perturbations gives them. tcbuild.anndata.Cells checks the file, too.
        """
        rows = self.attribute(ROW)
        if isinstance(rows, Categories) or bool(rows.isnan().any()):
            raise ValueError(
                "read rows: found samples without a number in the attribute row\n"
                "hint: make the perturbation set with tcbuild.anndata.perturbations"
            )
        return rows.long()


def perturbed_of(
    datasets: list[tcbuild.Dataset],
    indices: npt.NDArray[np.int64],
    genes: npt.NDArray[np.int64],
    ptr: npt.NDArray[np.int64],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The perturbed genes of samples, their kinds, and where each sample's genes begin."""
    if not datasets[0].kinds:
        return None, None, None
    found = []
    for b, (dataset, index) in enumerate(zip(cycle(datasets), indices.tolist())):
        kinds = dataset._kinds
        text = dataset._table.attributes(index, [kinds.attribute])[kinds.attribute]
        found.append(kinds.of(genes[ptr[b] : ptr[b + 1]], text))
    ends = np.cumsum([0, *(len(those) for those, _ in found)], dtype=np.int64)
    every = np.concatenate([np.empty(0, np.int64), *(those for those, _ in found)])
    codes = np.concatenate([np.empty(0, np.int8), *(codes for _, codes in found)])
    return torch.from_numpy(every), torch.from_numpy(codes), torch.from_numpy(ends)


def with_cells(names: Sequence[str], dataset: tcbuild.Dataset) -> tuple[str, ...]:
    """The names, after checking that they are attributes, and those that say where cells are."""
    if isinstance(names, str):
        raise TypeError(f"attributes: found the text {names!r}, expected a list of names")
    for name in names:
        if name not in dataset.attribute_names:
            raise unknown_name("attribute", name, dataset.attribute_names)
    cells = _CELL if {*_CELL} <= {*dataset.attribute_names} else ()
    return tuple(dict.fromkeys((*names, *cells)))


def _categories(datasets: Sequence[tcbuild.Dataset], name: str) -> list[str] | None:
    """The categories of an attribute, None if it is one of numbers."""
    found = [
        dataset.categories(name) if dataset.has_categories(name) else None
        for dataset in {id(dataset): dataset for dataset in datasets}.values()
    ]
    if other := [place for place, categories in enumerate(found) if categories != found[0]]:
        raise ValueError(
            f"collate: samples of {len(found)} datasets: attribute {name!r} of dataset {other[0]} "
            "and of dataset 0 has different categories, so a code would have two meanings\n"
            "hint: remove it from attributes, or build one dataset of all samples"
        )
    return found[0]
