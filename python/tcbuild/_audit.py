"""What the parts of a split share, and how well simple baselines predict them."""

from __future__ import annotations

from html import escape
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tcbuild._perturbed import Ints, Perturbed, connected, random_numbers, read_perturbed
from tcbuild._table.controls import random_numbers as numbered

_STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)  # of the ridge
_RESAMPLES, _RESAMPLED = 200, 10_000  # of the bootstrap, and at most so many samples in each
_FEWEST = 10  # samples of which a verdict is given
_AHEAD, _ERRORS = 0.1, 4  # a leak is ahead by more in Pearson's r, and by so many standard errors
_NEAR = 0.05  # in Pearson's r: what a leak may be behind the additive baseline
_FREE = 30.0  # of effects that are hardly penalized: they count so many times
_FIRST = ("mean", "additive")  # of the baselines
_SHOWN: Any = {"index": False, "na_rep": "", "float_format": "{:.3f}".format}
_WORDS = {"pair": "pairs of genes", "genotype": "genotypes"}

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


class Verdict(NamedTuple):
    """What the scores of a phenotype in a part say.

    leaks: what to split by, so that the parts do not share what predicts the phenotype
    """

    part: str
    phenotype: str
    text: str
    leaks: list[str]


class Audit:
    """What parts.audit() found.

    Attributes:
        shared: per part, the share of samples with a gene, a pair of genes, a genotype (without
            wild types) or an id that the first part has
        scores: per part, phenotype and baseline: measured samples, mean squared error, Pearson's r
            with its 95 % interval by a bootstrap, and a note if there is no r
        verdicts: per part and phenotype
        notes: of the wild types that a part shares with the first one
    """

    def __init__(self, shared: Any, scores: Any, verdicts: list[Verdict], notes: list[str]):
        self.shared, self.scores, self.verdicts, self.notes = shared, scores, verdicts, notes

    def to_pandas(self) -> Any:
        """The scores as a DataFrame."""
        return self.scores.copy()

    def __repr__(self) -> str:
        tables = [table.to_string(**_SHOWN) for table in (self.shared, self.scores)]
        return "\n\n".join([*tables, *self.notes, *(one.text for one in self.verdicts)])

    def _repr_html_(self) -> str:
        tables = [table.to_html(**_SHOWN) for table in (self.shared, self.scores)]
        texts = [*self.notes, *(verdict.text for verdict in self.verdicts)]
        return "".join([*tables, *(f"<p>{escape(text)}</p>" for text in texts)])


class _Keys:
    """What samples may share, such as pairs of genes: sample of[i] has the key number[i]."""

    def __init__(self, name: str, keys: npt.NDArray[Any], of: Ints):
        self.name, self.of = name, of
        distinct, self.number = np.unique(keys, return_inverse=True)
        self.count = len(distinct)

    def among(self, some: Mask) -> Mask:
        """Which samples have a key that some samples have."""
        known = np.zeros(self.count, bool)
        known[self.number[some[self.of]]] = True
        found = np.zeros(len(some), bool)
        found[self.of[known[self.number]]] = True
        return found

    def means(self, values: Floats, fitted: Mask, otherwise: Floats) -> Floats:
        """For each sample the mean of the fitted samples that share a key with it."""
        own = fitted[self.of]
        sums = np.bincount(self.number[own], values[self.of[own]], self.count)
        counts = np.bincount(self.number[own], minlength=self.count)
        total = np.bincount(self.of, sums[self.number], len(values))
        number = np.bincount(self.of, counts[self.number], len(values))
        return np.divide(total, number, out=otherwise.copy(), where=number > 0)


def audit(dataset: Any, codes: Ints, names: list[str], first: str) -> Audit:
    """As Parts.audit."""
    pandas, rows = import_module("pandas"), np.flatnonzero(codes >= 0)
    texts = dataset[rows].to_arrow(["sample_id"]).column(0).combine_chunks()
    genes, ids = read_perturbed(dataset).take(rows), random_numbers(0, texts)
    genotypes = random_numbers(0, genes.genotypes())
    order = np.lexsort((genotypes, ids))  # sums and resamples do not depend on the order of rows
    dataset, genes, genotypes = dataset[rows[order]], genes.take(order), genotypes[order]
    mutants = np.flatnonzero(genes.sizes)
    keys = [
        _Keys("gene", genes.genes, genes.of),
        _Keys("pair", *genes.pairs()),
        _Keys("genotype", genotypes[mutants], mutants),
        _Keys("sample id", ids[order], np.arange(len(order))),
    ]
    every = {name: codes[rows[order]] == number for number, name in enumerate(names)}
    train, others = every[first], {*names} - {first, "unplaced"}
    parts = {name: part for name, part in every.items() if part.any() and name in others}
    shared = {"part": [*parts], "samples": [part.sum() for part in parts.values()]}
    for key in keys:
        among = key.among(train)
        shared[f"{key.name} in {first}"] = [among[part].mean() for part in parts.values()]
    keys = keys[1:3]
    for name in dataset.attribute_names:
        values, distinct = pandas.factorize(dataset.column(name))
        known = np.flatnonzero(values >= 0)
        if name != dataset._kinds.attribute and 1 < len(distinct) <= len(known) / 2:
            keys.append(_Keys(name, values[known], known))
    design, scores, verdicts = _design(genes), list[dict[str, Any]](), list[Verdict]()
    for name, entry in dataset.phenotypes.items():
        if not entry.statistic_of:
            fit = _Fit(dataset.phenotype(name), train, design, genotypes % np.uint64(5) == 0, first)
            for part, rows in parts.items():
                found, text, leaks = fit.judge(rows, keys)
                scores += [{"part": part, "phenotype": name} | one._asdict() for one in found]
                verdicts.append(Verdict(part, name, f"{part}, {name}: {text}", leaks))
    wild = {name: int((part & (genes.sizes == 0)).sum()) for name, part in every.items()}
    notes = [
        f"{wild[name]:,} wild types of {name} are like those of {first}: leave them out of the "
        "score, or split by genotype or gene with wildtypes='whole'."
        for name in parts
        if wild[name] and wild[first]
    ]
    return Audit(pandas.DataFrame(shared), pandas.DataFrame(scores), verdicts, notes)


class _Score(NamedTuple):
    baseline: str
    samples: int
    mse: float | None = None
    pearson: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""


def _design(genes: Perturbed) -> Any:
    """The matrix [N, effects] of the additive baseline: perturbed genes by kind, then the number of
    perturbations of each kind, and 1. The latter two are large, so that a ridge leaves them free.
    """
    kinds = np.zeros(len(genes.genes), np.int64) if genes.kinds is None else genes.kinds + 1
    many, samples = int(kinds.max(initial=0)) + 1, len(genes.ptr) - 1
    first = len(genes.ids) * many
    of, every = genes.of, np.arange(samples)
    columns = genes.genes * many + kinds, first + kinds, np.full(samples, first + many)
    weights = np.repeat([1.0, _FREE], [len(of), len(of) + samples])
    places = np.concatenate([of, of, every]), np.concatenate(columns)
    return import_module("scipy.sparse").csr_matrix((weights, places), (samples, first + many + 1))


class _Fit:
    """Baselines of a phenotype, fitted to the measured samples of a part."""

    def __init__(self, values: Floats, fitted: Mask, design: Any, aside: Mask, first: str):
        self._measured, self._design, self._first = ~np.isnan(values), design, first
        self._values = np.where(self._measured, values, 0.0)
        self._train, self._strength = fitted & self._measured, 1.0
        test, rest = self._train & aside, self._train & ~aside
        if min(test.sum(), rest.sum()) >= _FEWEST:
            found = [(self._additive(rest, one) - self._values)[test] for one in _STRENGTHS]
            self._strength = _STRENGTHS[int(np.argmin([np.square(one).sum() for one in found]))]
        self._sum = self._additive(self._train, self._strength)

    def _additive(self, fitted: Mask, strength: float) -> Floats:
        """Predicts by effects of genes by kind that add up. A ridge draws each to the mean effect
        of its kind, which genes that were not seen have.
        """
        rows = np.flatnonzero(fitted)
        mean = self._values[rows].sum() / max(len(rows), 1)
        solve, wanted = import_module("scipy.sparse.linalg").lsmr, self._values[rows] - mean
        fit = solve(self._design[rows], wanted, strength**0.5, 1e-9, 1e-9, maxiter=500)[0]
        found: Floats = mean + self._design @ fit
        return found

    def _without(self, key: _Keys, part: Mask) -> Floats:
        """What the additive baseline predicts of a part if it is fitted only to samples that do not
        share a key with those that it predicts, as after a split by the key. If that leaves out
        most samples, there is no such split, and it is fitted to all.
        """
        found, rows = self._sum.copy(), np.flatnonzero(part & key.among(self._train))
        place = np.full(len(part), -1)
        place[rows] = np.arange(len(rows))
        own = place[key.of] >= 0
        groups = connected(key.number[own], place[key.of[own]], len(rows))[0]
        for fold in range(5):
            some = np.zeros(len(part), bool)
            some[rows[groups % 5 == fold]] = True
            fitted = self._train & ~key.among(some)
            if fitted.sum() < self._train.sum() / 2:
                return self._sum
            found[some] = self._additive(fitted, self._strength)[some]
        return found

    def judge(self, part: Mask, keys: list[_Keys]) -> tuple[list[_Score], str, list[str]]:
        """The scores of a part, a verdict, and what to split by to remove leaks."""
        rows, names = np.flatnonzero(part & self._measured), [key.name for key in keys]
        if why := self._impossible(rows):
            scores = [_Score(name, len(rows), note=why) for name in (*_FIRST, *names)]
            return scores, f"nothing can be said: {why}", []
        mean = np.full(len(part), self._values[self._train].mean())
        predicted, scores = {"mean": mean[rows], "additive": self._sum[rows]}, list[_Score]()
        for key in keys:
            if key.among(self._train)[rows].any():
                otherwise = self._sum if key.name in _WORDS else mean
                predicted[key.name] = key.means(self._values, self._train, otherwise)[rows]
            else:
                who = "perturbed sample" if key.name == "genotype" else "sample"
                note = f"no {who} shares a {key.name} with {self._first}"
                scores.append(_Score(key.name, len(rows), note=note))
        values = self._values[rows]
        found, resampled = _correlations(values, predicted)
        r, bounds = dict(zip(predicted, found.tolist())), np.quantile(resampled, (0.025, 0.975), 0)
        for (name, one), low, high in zip(predicted.items(), *bounds):
            error, note = np.square(one - values).mean(), "" if r[name] else "predicts one value"
            scores.append(_Score(name, len(rows), error, r[name], low, high, note))
        scores.sort(key=lambda score: [*_FIRST, *names].index(score.baseline))
        if len(rows) < _FEWEST:
            return scores, f"{len(rows)} measured samples are too few to tell", []
        best = max(scores, key=lambda score: score.pearson or 0)
        above, chance = best.pearson or 0, np.tanh(1.96 / (len(rows) - 3) ** 0.5)
        text = f"a model has learned something if it beats r = {above:.2f} ({best.baseline})."
        if (best.low or 0) <= 0 or above <= chance:
            text = "no baseline beats chance here; a model has learned something if its r is above "
            text += f"{max(above, chance):.2f}."
        near = max(_AHEAD, r["additive"] - _NEAR)
        some = [key for key in keys if r.get(key.name, 0) > near]
        leaks = {key.name: self._leak(key, rows, predicted[key.name]) for key in some}
        texts = [text, *(leak for leak in leaks.values() if leak)]
        return scores, " ".join(texts), [name for name, leak in leaks.items() if leak]

    def _impossible(self, rows: Ints) -> str:
        """Why nothing can be said of some samples; empty if something can."""
        train = int(self._train.sum())
        if min(train, len(rows)) < 2:
            few = self._first if train < 2 else "the part"
            return f"{min(train, len(rows))} samples of {few} are measured"
        return "" if np.ptp(self._values[rows]) else "all measured values are equal"

    def _leak(self, key: _Keys, rows: Ints, predicted: Floats) -> str:
        """Says that what samples share with the fitted ones predicts them; empty if it does not."""
        part = np.zeros(len(self._values), bool)
        part[rows] = True
        both = {"leak": predicted, "without": self._without(key, part)[rows]}
        (leak, without), resampled = _correlations(self._values[rows], both)
        if leak - without <= max(_AHEAD, _ERRORS * np.diff(resampled).std()):
            return ""
        what = _WORDS.get(key.name, f"values of {key.name}")
        return (
            f"Leak: {what} that {self._first} has predict r = {leak:.2f}; without them, additive "
            f'predicts {without:.2f}. by="{key.name}" splits them.'
        )


def _correlations(values: Floats, predicted: dict[str, Floats]) -> tuple[Floats, Floats]:
    """Pearson's r of values and predictions, and the same of resamples [B, predictions]."""
    table = np.column_stack([values, *predicted.values()])
    size = min(len(values), _RESAMPLED)
    places = numbered(0, np.arange(_RESAMPLES * size)) % np.uint64(size)
    some = places.astype(np.int64).reshape(_RESAMPLES, size)
    found = _pearson(table)
    spread = np.array([_pearson(table[rows]) for rows in some]) - _pearson(table[:size])
    return found, found + spread * (size / len(values)) ** 0.5


def _pearson(table: Floats) -> Floats:
    """Pearson's r of the first column and each other one; 0 if either has one value."""
    mean = table.mean(axis=0)
    table = table - mean
    norms = np.sqrt(np.square(table).sum(axis=0))
    varies = norms > 1e-9 * (norms[0] + np.abs(mean) * len(table) ** 0.5)
    products = (table[:, :1] * table[:, 1:]).sum(axis=0)
    both = varies[0] & varies[1:]
    found: Floats = np.divide(products, norms[0] * norms[1:], out=np.zeros(len(both)), where=both)
    return found
