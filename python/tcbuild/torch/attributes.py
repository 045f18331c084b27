"""Attributes of the samples of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

import tcbuild
from tcbuild.cell_rows import FILE, FILE_ROWS, ROW
from tcbuild.errors import unknown_name

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
            "has other categories than that of dataset 0, so a code would mean two texts\n"
            "hint: leave it out of attributes, or build one dataset of all samples"
        )
    return found[0]
