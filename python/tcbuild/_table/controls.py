"""Matched controls: for each sample a wild type that was measured under the same conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._table.columns import ends, mixed, numbers, view
from tcbuild._table.columns import missing as where_missing
from tcbuild._table.sample_columns import SampleColumns
from tcbuild.errors import unknown_name

_LISTED = 3  # groups in an error
GOLDEN = 0x9E3779B97F4A7C15


class Controls:
    """Wild types by group. Of a group's n wild types, a sample draws the one with the place z mod n
    in their order, where z is the output of SplitMix64 that belongs to the sample's number
    (docs/FORMAT.md, section Selections).
    """

    def __init__(self, places: npt.NDArray[np.int64], groups: npt.NDArray[np.int64]):
        """places: of the wild types, in their order. groups: of each of them"""
        order = np.argsort(groups, kind="stable")
        self._places, self._groups = places[order], groups[order]

    def draw(
        self, groups: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64], seed: int
    ) -> npt.NDArray[np.int64]:
        """The place of a wild type for each sample, -1 if its group has none.

        groups, numbers: of the samples
        """
        first = np.searchsorted(self._groups, groups, side="left")
        count = np.searchsorted(self._groups, groups, side="right") - first
        found = np.full(len(groups), -1, np.int64)
        some = count > 0
        chosen = random_numbers(seed, numbers[some]) % count[some].astype(np.uint64)
        found[some] = self._places[first[some] + chosen.astype(np.int64)]
        return found


def random_numbers(seed: int, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """The outputs of SplitMix64 with these numbers, from 0."""
    state = np.uint64(seed % 2**64)
    return mixed(state + (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN))


def match(
    dataset: Any, pool: Any, by: Sequence[str], mark: bool = False
) -> tuple[npt.NDArray[np.int64], Controls]:
    """The group of each sample of a dataset, and the wild types of pool, by their places in it.

    pool: a view of the same dataset. mark: samples without a wild type are no error
    """
    if isinstance(by, str):
        raise TypeError(f"match controls: found the text {by!r}, expected a list of attributes")
    for name in by:
        if name not in dataset.attribute_names:
            raise unknown_name("attribute", name, dataset.attribute_names, "match controls: ")
    rows = np.concatenate([dataset.indices, pool.indices])
    groups = groups_of(dataset.whole[rows], by)
    groups, of_pool = groups[: len(dataset)], groups[len(dataset) :]
    places = np.flatnonzero(wildtypes_of(pool, dataset._kinds.attribute))
    without = np.flatnonzero(~np.isin(groups, of_pool[places]))
    if without.size and not mark:
        values = [dataset[without].attribute(name) for name in by]
        cells = Counter(
            ", ".join(f"{name}={value}" for name, value in zip(by, each)) for each in zip(*values)
        )
        shown = "; ".join(f"{group} ({count:,})" for group, count in cells.most_common(_LISTED))
        more = f" and {len(cells) - _LISTED:,} more groups" if len(cells) > _LISTED else ""
        raise ValueError(
            f"match controls: {len(without):,} of {len(dataset):,} samples have none among "
            f"{len(places):,} wild types: {shown or 'no group has one'}{more}\n"
            "hint: name fewer attributes, or leave these samples out: "
            f'dataset[dataset.controls(by={[*by]}, missing="mark") >= 0]'
        )
    return groups, Controls(places, of_pool[places])


def groups_of(samples: SampleColumns, by: Sequence[str]) -> npt.NDArray[np.int64]:
    """A number for each sample, the same for those that agree in the columns. A missing value is a
    value of its own.
    """
    groups = np.zeros(len(samples._rows), np.int64)
    for column in samples.to_arrow(by).combine_chunks().columns if by else ():
        codes = np.unique(_values(column), return_inverse=True)[1]
        groups = np.unique(groups * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    return groups


def _values(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """A column of at most one chunk as numbers: those of texts with a dictionary, or its own."""
    if not pa.types.is_dictionary(column.type):
        return numbers(column)
    codes = np.empty(len(column), np.int32)
    for chunk in column.chunks:
        codes[:] = view(chunk.indices, np.int32)
        codes[where_missing(chunk)] = -1
    return codes


def wildtypes_of(samples: SampleColumns, kinds: str) -> npt.NDArray[np.bool_]:
    """Which samples perturb no gene, bool [N].

    kinds: the attribute with the kinds of perturbations, which is missing where there is none, or
        "": a sample that only overexpresses a gene deletes nothing, and is no wild type
    """
    found = []
    for chunk in samples.to_arrow(["perturbation_indices"]).column(0).chunks:
        found.append(np.diff(ends(chunk)) == 0)
    wildtypes = np.concatenate([np.empty(0, bool), *found])
    if kinds:
        wildtypes &= np.array([text is None for text in samples.column(kinds)], bool)
    return wildtypes
