"""Attributes of the samples of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

import tcbuild
from tcbuild.errors import UnknownNameError, unknown_name


class Categories(NamedTuple):
    """An attribute of text. codes: int64 [B], indices of categories, -1 if missing. categories: the
    texts that the whole dataset has, sorted, so the same in every batch.
    """

    codes: Tensor
    categories: list[str]


class Attributes:
    """Attributes by name, on the host until they are asked for."""

    def __init__(
        self,
        datasets: Sequence[tcbuild.Dataset],
        indices: npt.NDArray[np.int64],
        names: Sequence[str],
    ):
        """datasets, indices: of each sample its whole dataset, or one of all; its index in that.
        names: of the attributes; those that all datasets have alike.
        """
        self._values = {name: _values(datasets, indices, name) for name in names}
        self._categories = {
            name: categories
            for name in names
            if datasets and (categories := _categories(datasets, name)) is not None
        }

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
        """An attribute of all samples, one of the loader's `attributes`.

        Args:
            name: of the attribute

        Returns:
            float64 [B], NaN if missing; of texts Categories, with the same codes in every batch.
        """
        names = self._attributes.names if self._attributes else []
        if self._attributes is None or name not in names:
            raise UnknownNameError(
                f"found attribute {name!r:.100} not among the {len(names)} of the batch\n"
                "hint: list the attributes of batches: DataLoader(dataset, "
                f"attributes=[{name!r:.100}])"
            )
        return self._attributes.on(self._device(), name)


def perturbed_of(
    datasets: Sequence[tcbuild.Dataset],
    indices: npt.NDArray[np.int64],
    genes: npt.NDArray[np.int64],
    ptr: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[Any] | None, ...]:
    """The perturbed genes of samples, their kinds, and where each sample's genes begin."""
    kinds = datasets[0]._kinds
    if not datasets[0].kinds:
        return None, None, None
    words = [*datasets[0]._table.words(kinds.attribute), None]
    codes = _values(datasets, indices, kinds.attribute)
    if len(distinct := {id(dataset): dataset for dataset in datasets}) > 1:
        words_of = {key: [*of._table.words(kinds.attribute), None] for key, of in distinct.items()}
        words = [words_of[id(dataset)][code] for dataset, code in zip(datasets, codes.tolist())]
        codes = np.arange(len(words))
    return kinds.of_many(genes, ptr, words, codes)


def _values(
    datasets: Sequence[tcbuild.Dataset], indices: npt.NDArray[np.int64], name: str
) -> npt.NDArray[Any]:
    """An attribute of samples; of texts, codes."""
    if len(datasets) == 1:
        return datasets[0]._table.at(name, indices)
    pairs = zip(datasets, indices[:, None])
    return np.concatenate([of._table.at(name, index) for of, index in pairs])


def known(names: Sequence[str], dataset: tcbuild.Dataset) -> tuple[str, ...]:
    """The names, each once, after checking that they are attributes."""
    if isinstance(names, str):
        raise TypeError(f"attributes: found the text {names!r}, expected a list of names")
    for name in names:
        if name not in dataset.attribute_names:
            raise unknown_name("attribute", name, dataset.attribute_names)
    return tuple(dict.fromkeys(names))


def _categories(datasets: Sequence[tcbuild.Dataset], name: str) -> list[str] | None:
    """The categories of an attribute, None if it is one of numbers."""
    found = [
        dataset.categories(name) if dataset._attributes[name] == "text" else None
        for dataset in {id(dataset): dataset for dataset in datasets}.values()
    ]
    if other := [place for place, categories in enumerate(found) if categories != found[0]]:
        raise ValueError(
            f"collate: samples of {len(found)} datasets: attribute {name!r} of dataset {other[0]} "
            "and of dataset 0 has different categories, so a code would have two meanings\n"
            "hint: remove it from attributes, or build one dataset of all samples"
        )
    return found[0]
