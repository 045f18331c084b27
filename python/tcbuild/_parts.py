"""The parts of a split, and what they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby, zip_longest
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tcbuild._program import as_html, cells
from tcbuild._table.columns import lists
from tcbuild.errors import unknown_name


class Parts(Mapping[str, Any]):
    """The parts of a split by name, each a view of the dataset: parts["train"].

    `unplaced`, if it is there, has the samples that no part can have. It shows the program's table
    of the parts.
    """

    def __init__(self, views: dict[str, Any], printed: list[str]):
        self._views, self._printed = views, list[str]()
        for _, block in groupby(printed, key=bool):
            self._printed += _aligned([cells(line) for line in block])

    def __getitem__(self, name: str) -> Any:
        if name not in self._views:
            raise unknown_name("part", name, self._views)
        return self._views[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)

    def __repr__(self) -> str:
        return "\n".join(self._printed)

    def _repr_html_(self) -> str:
        return as_html(self._printed)

    def audit(self) -> Audit:
        """Counts what each part shares with the first one, and scores simple baselines that are
        fitted to the first part: a model that has learned something scores better.
        """
        views = {name: view for name, view in self._views.items() if name != "unplaced"}
        samples = {name: _Samples(view) for name, view in views.items()}
        first = next(iter(samples))
        shared = [
            Shared(first, name, what, len(keys & of_first), len(keys))
            for name, part in samples.items()
            if name != first
            for (what, keys), of_first in zip(part.keys().items(), samples[first].keys().values())
        ]
        scores = []
        for phenotype, entry in views[first].phenotypes.items():
            if not entry.statistic_of:
                baselines = _baselines(samples[first], views[first].phenotype(phenotype))
                for name, part in samples.items():
                    values = views[name].phenotype(phenotype)
                    for baseline, (reference, effects) in baselines.items():
                        predicted = reference + part.sum_of(effects)
                        scores.append(_score(name, phenotype, baseline, values, predicted))
        return Audit(shared, scores)


class Shared(NamedTuple):
    """How many genes, pairs of genes, genotypes or cells (samples of one id) a part has, and how
    many of them are in the first part as well.
    """

    first: str
    part: str
    what: str
    shared: int
    all: int


class Score(NamedTuple):
    """How a baseline predicts a phenotype of a part's samples; missing values are left out.

    baseline: `mean` predicts the mean of the first part. `additive` predicts the reference plus the
        effects of all perturbed genes. The effect of a gene by its kind of perturbation is the
        mean of the first part's samples that perturb it alone, less the reference, and 0 if there
        are none. The reference is the mean of the first part's wild types, without any of the
        samples that perturb one gene, without any of all samples
    pearson: NaN if the values or the predictions are all equal
    """

    part: str
    phenotype: str
    baseline: str
    samples: int
    mse: float
    pearson: float


class Audit:
    """What parts.audit() found: `shared` and `scores`, as lists."""

    def __init__(self, shared: list[Shared], scores: list[Score]):
        self.shared, self.scores = shared, scores

    def _lines(self) -> list[str]:
        shared = [(e.part, e.what, f"{e.all:,}", f"{e.shared:,}", e.first) for e in self.shared]
        scores = [
            (e.part, e.phenotype, e.baseline, f"{e.samples:,}", f"{e.mse:.4g}", f"{e.pearson:.3f}")
            for e in self.scores
        ]
        return [
            *_aligned([("part", "of", "all", "shared", "with"), *shared]),
            "",
            *_aligned([("part", "phenotype", "baseline", "samples", "MSE", "Pearson"), *scores]),
        ]

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        return as_html(self._lines())


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


class _Samples:
    """The perturbed genes of a part's samples: gene i of all is perturbed in sample of[i], by the
    kind codes[i].
    """

    def __init__(self, view: Any):
        kinds, samples = view._kinds, view.samples
        deleted = [
            items[start:end]
            for items, ends in lists(samples.to_arrow(["perturbation_indices"]).column(0))
            for start, end in zip(ends[:-1], ends[1:])
        ]
        texts = samples[kinds.attribute] if kinds.attribute else [None] * len(deleted)
        perturbed = [kinds.of(genes, text) for genes, text in zip(deleted, texts)]
        self.count = len(perturbed)
        self.ids = set(samples["sample_id"].tolist())
        self.sizes = np.array([len(genes) for genes, _ in perturbed], np.int64)
        self.genes = np.concatenate([np.empty(0, np.int32), *(g for g, _ in perturbed)])
        self.codes = np.concatenate([np.empty(0, np.int8), *(codes for _, codes in perturbed)])
        self.of = np.repeat(np.arange(self.count), self.sizes)

    def keys(self) -> dict[str, set[Any]]:
        genotypes = {
            tuple(genes.tolist()) for genes in np.split(self.genes, np.cumsum(self.sizes)[:-1])
        }
        return {
            "genes": set(self.genes.tolist()),
            "pairs": {pair for genes in genotypes for pair in combinations(genes, 2)},
            "genotypes": genotypes,
            "cells": self.ids,
        }

    def effects(self) -> npt.NDArray[np.int64]:
        """Each perturbation as a number: its gene and kind."""
        found: npt.NDArray[np.int64] = self.genes.astype(np.int64) * 256 + self.codes
        return found

    def sum_of(self, effects: Mapping[int, float]) -> npt.NDArray[np.float64]:
        """Per sample the sum of its perturbations' effects."""
        values = [effects.get(key, 0.0) for key in self.effects().tolist()]
        return np.bincount(self.of, values, self.count).astype(np.float64)


def _baselines(
    first: _Samples, values: npt.NDArray[np.float64]
) -> dict[str, tuple[float, dict[int, float]]]:
    """The reference and the effects of each baseline; a reference is NaN if nothing is measured."""
    measured = ~np.isnan(values)
    alone = measured & (first.sizes == 1)
    groups = (measured & (first.sizes == 0), alone, measured)
    reference = next((float(values[group].mean()) for group in groups if group.any()), np.nan)
    keys = first.effects()[alone[first.of]]
    found, places = np.unique(keys, return_inverse=True)
    effects = np.bincount(places, values[alone] - reference) / np.bincount(places)
    mean = float(values[measured].mean()) if measured.any() else np.nan
    return {"mean": (mean, {}), "additive": (reference, dict(zip(found.tolist(), effects)))}


def _score(
    part: str,
    phenotype: str,
    baseline: str,
    values: npt.NDArray[np.float64],
    predicted: npt.NDArray[np.float64],
) -> Score:
    measured = ~np.isnan(values)
    found, expected = predicted[measured], values[measured]
    mse = pearson = np.nan
    if len(found):
        mse = float(np.mean((found - expected) ** 2))
    if len(found) and np.ptp(found) > 0 and np.ptp(expected) > 0:
        pearson = float(np.corrcoef(found, expected)[0, 1])
    return Score(part, phenotype, baseline, len(found), mse, pearson)
