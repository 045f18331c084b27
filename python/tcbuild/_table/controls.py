"""Matched controls: for each sample a wild type that was measured under the same conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._files.manifest import PERTURBATION_INDICES
from tcbuild._table.columns import coded, lists, mixed, numbers
from tcbuild._table.sample_columns import SampleColumns
from tcbuild.errors import unknown_name

_LISTED = 3  # groups in an error
GOLDEN = 0x9E3779B97F4A7C15


class Controls:
    """Wild types by group. Of a group's n, a sample draws place SplitMix64(number) mod n."""

    def __init__(self, places: npt.NDArray[np.int64], groups: npt.NDArray[np.int64]):
        """places: of the wild types, in their order. groups: of each of them"""
        order = np.argsort(groups, kind="stable")
        self._places, self._groups = places[order], groups[order]

    def draw(
        self, groups: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64], seed: int
    ) -> npt.NDArray[np.int64]:
        """Per sample the place of a wild type of its group, -1 if the group has none."""
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
    """The group of each sample, and the wild types of pool, a view of the same dataset."""
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
        of_whole, whole = match(dataset, dataset.whole, by, mark=True)
        helps = (whole.draw(of_whole[without], without, 0) >= 0).any()
        first = "draw from the whole dataset, controls=dataset.whole of Cells; or " * bool(helps)
        raise ValueError(
            f"match controls: {len(without):,} of {len(dataset):,} samples have none among "
            f"{len(places):,} wild types: {shown or 'no group has one'}{more}\n"
            f"hint: {first}name fewer attributes, or leave these samples out: "
            f'dataset[dataset.controls(by={[*by]}, missing="mark") >= 0]'
        )
    return groups, Controls(places, of_pool[places])


def groups_of(samples: SampleColumns, by: Sequence[str]) -> npt.NDArray[np.int64]:
    """A number per sample, the same where all columns agree; missing is a value of its own."""
    groups = np.zeros(len(samples._rows), np.int64)
    for column in samples.to_arrow(by).columns:
        values = coded(column)[1] if pa.types.is_dictionary(column.type) else numbers(column)
        codes = np.unique(values, return_inverse=True)[1]
        groups = np.unique(groups * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    return groups


def wildtypes_of(samples: SampleColumns, kinds: str) -> npt.NDArray[np.bool_]:
    """Which samples perturb no gene, bool [N].

    kinds: the attribute with the kinds of perturbations, which is missing where there is none, or
        "": a sample that only overexpresses a gene deletes nothing, and is no wild type
    """
    _, bounds = lists(samples.to_arrow([PERTURBATION_INDICES]).column(0))
    wildtypes: npt.NDArray[np.bool_] = np.diff(bounds) == 0
    if kinds:
        wildtypes &= coded(samples.to_arrow([kinds]).column(0))[1] < 0
    return wildtypes
