"""Splits: units, such as genotypes, are put into parts by their random numbers.

A unit's number is random_numbers of its text: an id, a value, gene ids joined by |, or the first
gene or pair of a group. Each part gets its fraction to within one unit. Groups go first, the
largest first, to the part with room that is furthest from its fraction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from math import lcm
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._parts import UNPLACED, Codes, Parts
from tcbuild._perturbed import Ints, Perturbed, connected, random_numbers, read_perturbed
from tcbuild.errors import InputError, SettingsError, unknown_name

COUNT = "perturbation-count"  # by which to stratify
_BY_GENES = ("genotype", "gene", "component", "pair")  # other units: sample, values of a column
_STRATA = 1000  # more than a column has that is worth stratifying by
_FREE = -1  # the part of what has none yet


class Split:
    """A split on its way.

    part, pins: int16 [N], the part of each sample, and the one that it is pinned to, by their
        numbers in names: first those of the fractions, then those of samples that are held out
    """

    def __init__(self, dataset: Any, by: str, fractions: Mapping[str, Any], seed: int):
        if not len(dataset):
            raise InputError(
                f"split {dataset.path}: found no samples, expected some", "choose others"
            )
        self.dataset, self.by, self.seed = dataset, by, seed
        self.names, self.shares = [*fractions], _shares(fractions)
        self.genes = read_perturbed(dataset)
        self.part = np.full(len(dataset), _FREE, np.int16)
        self.pins, self.strata = self.part.copy(), np.zeros(len(dataset), np.int64)

    def check(self, straddling: str, wildtypes: str, stratify: Any, held: Any) -> None:
        """Raises an error for settings that mean nothing beside others."""
        if self.by not in ("sample", *_BY_GENES):
            self._column(self.by, "by", "sample", *_BY_GENES)
        for what, value, known, allowed in (
            ("straddling", straddling, ("drop", "parts"), self.by == "gene"),
            ("wildtypes", wildtypes, ("split", "whole"), self.by in _BY_GENES),
        ):
            if value not in known or (value == known[1] and not allowed):
                raise _wrong(f"found {what}={value!r} by {self.by}", f"use {known[0]!r}")
        if stratify is not None and self.by in ("gene", "component", "pair"):
            raise _wrong(f"found stratify={stratify!r} by {self.by}", "split by genotype")
        if held is not None and self.by in ("component", "pair"):
            raise _wrong(f"found hold_out by {self.by}, whose parts share nothing", "split a view")

    def hold_out(self, held: Any) -> None:
        """Puts samples into test, or by a mapping into other parts, whatever their units."""
        for name, rule in held.items() if isinstance(held, Mapping) else [("test", held)]:
            if name not in self.names:
                self.names.append(name)
            for one in rule if isinstance(rule, list) and isinstance(rule[0], str) else [rule]:
                rows, number = self._held(one), self.names.index(name)
                if np.any(rows & (self.part != _FREE) & (self.part != number)):
                    raise _wrong("hold_out: found a sample in two parts, expected one", "")
                self.part[rows] = number

    def _held(self, rule: Any) -> npt.NDArray[np.bool_]:
        rows = np.asarray(rule)
        if isinstance(rule, str):
            column, _, value = rule.partition("=")
            values = self._column(column, "hold_out")
            try:
                rows = values == (value if values.dtype == object else float(value))
            except ValueError:
                why = f"hold_out: found {rule!r}, but column {column!r} has numbers"
                raise _wrong(why, "") from None
        elif rows.dtype != bool or rows.shape != self.part.shape:
            why = f"hold_out: found {rows.dtype} {rows.shape}, expected column=value, or booleans"
            raise _wrong(f"{why} ({len(self.part)},)", "")
        if not rows.any():
            raise _wrong(f"hold_out: {rule!r:.100} holds for none of the samples", "check values")
        return rows

    def pin(self, pins: Mapping[str, str]) -> None:
        """Fixes the units of samples, by their ids, in parts."""
        for name in {*pins.values()} - {*self.names[: len(self.shares)]}:
            raise _unknown("pin: ", "part", name, self.names[: len(self.shares)])
        rows = self.dataset._indices_of([*pins])
        self.pins[rows] = [self.names.index(name) for name in pins.values()]
        held = self.part[rows] != _FREE
        if np.any(held & (self.part[rows] != self.pins[rows])):
            raise _wrong("pin: found a pinned sample that hold_out puts into another part", "")

    def stratify(self, column: str) -> None:
        """Applies the fractions within each value of a column, in the order of the values."""
        values = self.genes.sizes if column == COUNT else self._column(column, "stratify", COUNT)
        self.strata = import_module("pandas").factorize(values, sort=True)[0] + 1
        if self.strata.max(initial=0) > _STRATA:
            why = f"stratify: {column!r} has more than {_STRATA} values"
            raise _wrong(why, "name a column with few values")

    def draw(self, whole_wildtypes: bool, separate: bool) -> Parts:
        """Puts every sample into a part that has none yet."""
        free, wild = self.part == _FREE, self.genes.sizes == 0
        held, of_gene = self.part.copy(), np.full(len(self.genes.ids), _FREE, np.int16)
        if self.by in _BY_GENES and not whole_wildtypes:
            self._draw_units(np.flatnonzero(free & wild), "sample")
            free &= ~wild
        if self.by == "gene":
            self.part[free & wild] = np.where(self.pins[free & wild] > 0, self.pins[free & wild], 0)
            self._draw_genes(np.flatnonzero(free & ~wild), of_gene)
        elif self.by in ("component", "pair"):
            self._draw_groups(np.flatnonzero(free))
        else:
            self._draw_units(np.flatnonzero(free), self.by)
        parts = place(self.dataset, self.genes, self.part, of_gene, self.names, separate)
        self._check(parts, held, wild)
        parts.notes = self._missed(parts.codes, held == _FREE)
        return parts

    def _draw_units(self, rows: Ints, by: str) -> None:
        """Samples of one text are a unit."""
        units, texts = self._texts(rows, by)
        first = np.unique(units, return_index=True)[1]
        strata = self.strata[rows]
        if np.any(strata != strata[first][units]):
            raise _wrong(
                f"stratify: samples of one {by} differ", f"split by sample, or use {COUNT}"
            )
        pinned = _of_units(self.pins[rows], units, len(texts), by)
        self.part[rows] = self._drawn(texts, pinned, strata[first])[units]

    def _draw_genes(self, rows: Ints, of_gene: Codes) -> None:
        some = self.genes.take(rows)
        used = np.unique(some.genes)
        pinned = _of_units(self.pins[rows][some.of], some.genes, len(of_gene), "gene")[used]
        of_gene[used] = self._drawn(self.genes.ids[used], pinned, np.zeros(len(used), np.int64))

    def _draw_groups(self, rows: Ints) -> None:
        """Groups of samples that share genes, or pairs of genes, go from the largest on to the part
        that is furthest from its fraction, of those in which they fit.
        """
        groups, texts = self._connected(self.genes.take(rows))
        sizes, part = np.bincount(groups), _of_units(self.pins[rows], groups, len(texts), self.by)
        whole = lcm(*(share.denominator for share in self.shares))
        weights = [int(share * whole) for share in self.shares]
        got = np.bincount(part[groups] + 1, minlength=len(weights) + 1)[1:].tolist()  # pinned
        lacks = [len(rows) * weight - n * whole for weight, n in zip(weights, got)]
        order = np.lexsort((random_numbers(self.seed, texts), -sizes))
        for group in order[part[order] == _FREE].tolist():
            size = int(sizes[group]) * whole
            fits = [k for k, lack in enumerate(lacks) if lack >= size]
            to = max(fits, key=lambda k: lacks[k] / weights[k]) if fits else lacks.index(max(lacks))
            if self.by == "pair" and size > len(rows) * weights[to]:
                raise InputError(
                    f"split {self.dataset.path}: found {sizes[group]:,} of {len(rows):,} samples "
                    f"that pairs of genes connect, which do not fit into part {self.names[to]}",
                    "use a larger fraction, or split by genotype",
                )
            part[group] = to
            lacks[to] -= size
        self.part[rows] = part[groups]

    def _connected(self, genes: Perturbed) -> tuple[Ints, list[str]]:
        """The group of each sample, and the text of each group: its first gene, or pair."""
        ids, n = genes.ids, len(genes.ids)
        alone = genes.sizes == 1 if self.by == "pair" else genes.sizes > 0
        singles = alone[genes.of]  # keys of genes follow those of pairs; wild types share -1
        pairs, of_pairs = genes.pairs() if self.by == "pair" else (np.empty(0, np.int64),) * 2
        wild = np.flatnonzero(genes.sizes == 0)
        keys = np.concatenate([pairs, genes.genes[singles] + n * n, np.full(len(wild), -1)])
        of = np.concatenate([of_pairs, genes.of[singles], wild])
        groups, smallest = connected(keys, of, len(genes.ptr) - 1)
        texts = []
        for key in smallest.tolist():
            pair = f"{ids[key // n % n]}|{ids[key % n]}"
            texts.append(pair if 0 <= key < n * n else "" if key < 0 else ids[key - n * n])
        return groups, texts

    def _texts(self, rows: Ints, by: str) -> tuple[Ints, Any]:
        """The unit of some samples, and the text of each unit."""
        if by in ("sample", "genotype"):
            some = self.dataset if len(rows) == len(self.part) else self.dataset[rows]
            column = some.to_arrow(["sample_id"]).column(0) if by == "sample" else None
            texts = self.genes.take(rows).genotypes() if column is None else column
            coded = texts.dictionary_encode()
            coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
            return coded.indices.to_numpy(), coded.dictionary
        values = self._column(by, "by", "sample", *_BY_GENES)[rows]
        units, distinct = import_module("pandas").factorize(values, use_na_sentinel=False)
        missing = distinct != distinct if values.dtype != object else [v is None for v in distinct]
        return units, ["" if none else str(v) for v, none in zip(distinct.tolist(), missing)]

    def _column(self, name: str, setting: str, *others: str) -> npt.NDArray[Any]:
        known = [*self.dataset.attribute_names, *self.dataset.phenotype_names]
        if name not in known:
            raise _unknown(f"{setting}: ", "column", name, [*known, *others])
        values: npt.NDArray[Any] = self.dataset.column(name)
        return values if values.dtype == object else values + 0.0  # -0 and 0 are one value

    def _drawn(self, texts: Any, pinned: Codes, strata: Ints) -> Ints:
        """The part of each unit. Within a stratum, units go by their random numbers, the first ones
        to the first part.
        """
        part, owed = pinned.copy(), [Fraction(0)] * len(self.shares)
        order = np.lexsort((random_numbers(self.seed, texts), strata))
        starts = np.flatnonzero(np.diff(strata[order], prepend=-1))
        for units in np.split(order, starts[1:]) if len(order) else ():
            fixed = part[units][part[units] != _FREE]
            taken = np.bincount(fixed, minlength=len(owed)).tolist()
            counts = _targets(len(units), taken, self.shares, owed)
            new = np.repeat(np.arange(len(owed)), np.array(counts) - taken)
            part[units[part[units] == _FREE]] = new
        return part

    def _missed(self, codes: Codes, free: npt.NDArray[np.bool_]) -> list[str]:
        """A line per part whose number of samples, of those that are not held out, differs from its
        fraction by more than a tenth of it and more than one sample.
        """
        notes, of = list[str](), int(free.sum())
        for number, share in enumerate(map(float, self.shares)):
            got = int(np.sum(free & (codes == number)))
            if abs(got - share * of) > max(share * of / 10, 1):
                has = f"warning: {self.names[number]} has {100 * got / of:.3g} % of {of:,} samples"
                notes.append(f"{has}, not the {100 * share:.3g} % that were asked for")
        return notes

    def _check(self, parts: Parts, held: Ints, wild: npt.NDArray[np.bool_]) -> None:
        """Raises an error for a part without samples, or with only wild types that were drawn."""
        for number, name in enumerate(self.names):
            own = parts.codes == number
            mutants = not own.any() or (own & ~(wild & (held == _FREE))).any()
            if own.any() and (mutants or wild.all() or self.by not in _BY_GENES):
                continue
            if any(one.startswith(f"{name}_unseen") for one in parts):
                continue
            what = "only wild types" if own.any() else f"none of {len(own):,} samples"
            hint = "use larger fractions, or another seed"
            if self.by in ("component", "pair"):
                hint += ", or split by gene or genotype: genes connect most samples"
            raise InputError(f"split {self.dataset.path}: part {name} gets {what}", hint)


def place(
    dataset: Any, genes: Perturbed, own: Codes, of_gene: Codes, names: list[str], separate: bool
) -> Parts:
    """Decides into which part each sample falls: its own, or if that is -1 the one that has all of
    its genes. Other samples are unplaced, or in PART_unseenN: PART is the last part of one of their
    genes, N the number of their genes that no sample of the first part perturbs.

    A gene of the first part that no sample of it perturbs moves to the last part of its samples.
    """
    part, by_genes = own.copy(), np.flatnonzero(own == _FREE)
    if not len(by_genes):
        return Parts(dataset, part, names)
    some = genes.take(by_genes)
    of, starts = some.of, some.ptr[:-1]
    last = np.maximum.reduceat(of_gene[some.genes], starts)
    seen = np.zeros(len(of_gene), bool)
    seen[genes.genes[(own == 0)[genes.of]]] = True
    seen[some.genes[(last == 0)[of]]] = True
    moves = np.full(len(of_gene), 0, np.int16)
    np.maximum.at(moves, some.genes, last[of])
    of_gene = np.where((of_gene == 0) & ~seen, moves, of_gene)
    last = np.maximum.reduceat(of_gene[some.genes], starts)
    straddles = np.minimum.reduceat(of_gene[some.genes], starts) != last
    unseen = np.add.reduceat(~seen[some.genes], starts, dtype=np.int64)
    width = int(unseen.max()) + 1
    places = last.astype(np.int64) * width + unseen if separate else np.zeros_like(unseen)
    beside, number = np.unique(places[straddles], return_inverse=True)
    part[by_genes] = last
    part[by_genes[straddles]] = len(names) + number
    more = [f"{names[k // width]}_unseen{k % width}" for k in beside.tolist()]
    for name in {*more} & {*names}:
        raise _wrong(f"found part {name}, a name of samples that straddle parts", "rename it")
    return Parts(dataset, part, names + (more if separate else [UNPLACED] * len(beside)))


def _shares(fractions: Mapping[str, Any]) -> list[Fraction]:
    """Exact fractions, whose sum is 1: 1 / 3 and np.float32(0.1) are the nearest simple ones."""
    found = list[Fraction]()
    for name, value in fractions.items():
        if isinstance(value, (bool, str)) or not isinstance(value, (Real, Decimal)):
            raise TypeError(
                f"split: found {name}={value!r:.100}, expected a fraction of the samples, or one "
                "of the settings seed, stratify, straddling, wildtypes, hold_out, pin"
            )
        if not 0 < float(value) <= 1 or name in ("", UNPLACED) or not name.isprintable():
            hint = f"write {float(value) / 100:g} for {value} %" if 1 < float(value) <= 100 else ""
            raise _wrong(f"found {name}={value}, expected a part and a fraction above 0", hint)
        found.append(Fraction(float(value)).limit_denominator(10**6))
    total = sum(found, Fraction(0))
    if abs(total - 1) > Fraction(1, 10**5):
        shown = ", ".join(f"{name}={value}" for name, value in fractions.items())
        raise _wrong(f"found {shown}, which add up to {float(total):.6g}, expected 1", "")
    return [share / total for share in found]


def _targets(
    count: int, pinned: list[int], shares: Sequence[Fraction], owed: list[Fraction]
) -> list[int]:
    """How many of a stratum's units each part gets: floor(count × share), and the others go to the
    parts that earlier strata and rounding owe most. A part with more pinned units keeps these, and
    the others share the rest. owed is kept up to date.
    """
    closed, full = set[int](), {*range(len(shares))}
    while full:
        left = count - sum(pinned[k] for k in closed)
        total = sum(share for k, share in enumerate(shares) if k not in closed)
        exact = [
            Fraction(pinned[k]) if k in closed else left * share / total
            for k, share in enumerate(shares)
        ]
        got = [int(one) for one in exact]
        uneven = [k for k, one in enumerate(exact) if one != got[k]]
        uneven.sort(key=lambda k: -(owed[k] + exact[k] - got[k]))
        for k in uneven[: count - sum(got)]:
            got[k] += 1
        full = {k for k, n in enumerate(pinned) if n > got[k]}
        closed |= full
    owed[:] = [before + count * share - n for before, share, n in zip(owed, shares, got)]
    return got


def _of_units(pins: Ints, units: Ints, count: int, by: str) -> Codes:
    """The part that each unit is pinned to, by the pins of its samples."""
    found, some = np.full(count, _FREE, np.int16), pins != _FREE
    found[units[some]] = pins[some]
    if np.any(found[units[some]] != pins[some]):
        raise _wrong(f"pin: found samples of one {by} in two parts", "pin them in one part")
    return found


def _unknown(doing: str, what: str, name: str, known: list[str]) -> SettingsError:
    message, _, hint = str(unknown_name(what, name, known)).partition("\nhint: ")
    return _wrong(f"{doing}{message}", hint)


def _wrong(message: str, hint: str) -> SettingsError:
    return SettingsError(f"split: {message}", hint or "see help(tcbuild.Dataset.split)")
