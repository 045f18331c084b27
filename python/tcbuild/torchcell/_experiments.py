"""The experiments of a dataset's samples, as torchcell has them in its records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tcbuild
from tcbuild._lazy import lazy_property
from tcbuild._table.columns import bounds_of, ragged

# torchcell's labels that are truth values.
_TRUTHS = {"is_essential", "is_synthetic_lethal", "is_synthetic_rescue"}
# Attributes of experiments, and what stands for a missing one.
_NOTED: dict[str, Any] = {"dataset_name": None, "perturbation_type": None}
_NOTED |= {"experiment": np.nan, "perturbation_count": np.nan}


class Column(NamedTuple):
    """A column of a phenotype. Attributes of its experiment are named {prefix}NAME{suffix}."""

    place: int  # among the dataset's phenotypes
    prefix: str
    suffix: str  # #2 for the second experiment with the label in a record, and so on
    key: str  # its name in the record
    part: str  # of a vector, the name of its member

    def attribute(self, name: str) -> str:
        return f"{self.prefix}{name}{self.suffix}"


class Experiments:
    """Which columns belong to which phenotype, and in which order a sample's values come.

    In a dataset of a torchcell store, fitness and fitness#2 are one phenotype of two experiments,
    and calmorph.A101 and calmorph.C101 one phenotype that is a vector, in torchcell's order. In
    others, each column is a phenotype, and a sample is one experiment.

    columns: per phenotype its columns, in the order in which a sample's values come
    statistics: the phenotype that a statistic belongs to
    """

    def __init__(self, stored: tcbuild.Dataset):
        self.stored = stored
        self.from_store = "dataset_name" in stored.attribute_names
        self.columns: dict[str, list[Column]] = {}
        self.statistics: dict[str, str] = {}
        self._parsed: dict[str, list[tuple[int, dict[str, float | None]]]] = {}
        known = stored.phenotypes
        parted = [(name.partition("."), each.statistic_of) for name, each in known.items()]
        # Where two labels have a statistic B, that of the label A is A.B.
        vectors = {name for (name, dot, _), of in parted if dot and name != of}
        self._vectors = vectors if self.from_store else set()
        for index, phenotype in enumerate(known.values()):
            label, prefix, suffix = self._experiment(phenotype.statistic_of or phenotype.name)
            name, part = self._member(phenotype.name.removesuffix(suffix))
            key = phenotype.name.removesuffix(suffix)
            if name != label:
                self.statistics[name] = label
                key = key.removeprefix(f"{label}.")
            self.columns.setdefault(name, []).append(Column(index, prefix, suffix, key, part))
        for name in self._vectors:
            parts = {column.part for column in self.columns[name]} - {""}
            listed = parts == {str(number) for number in range(len(parts))}
            self.columns[name].sort(
                key=lambda each: (int(each.part or 0) if listed else 0, each.part)
            )

    def _member(self, name: str) -> tuple[str, str]:
        """A phenotype, and the name of its member if it is a vector."""
        vector, _, part = name.partition(".")
        return (vector, part) if vector in self._vectors else (name, "")

    def _experiment(self, column: str) -> tuple[str, str, str]:
        """Label, prefix and suffix of the experiment that a label's column belongs to."""
        attributes = self.stored.attribute_names
        found = re.fullmatch(r"(.*)(#\d+)", column)
        for name, suffix in ([(found[1], found[2])] if found else []) + [(column, "")]:
            label, _ = self._member(name)
            if label in self._vectors:
                # torchcell names the statistic of a vector as the vector, and more.
                label = min((v for v in self._vectors if f"{label}_".startswith(f"{v}_")), key=len)
            prefix = f"{label}." if f"{label}.dataset_name" in attributes else ""
            if not suffix or (self.from_store and f"{prefix}dataset_name{suffix}" in attributes):
                break
        return label, prefix, suffix

    @property
    def labels(self) -> list[str]:
        """The phenotypes that are no statistics."""
        return [name for name in self.columns if name not in self.statistics]

    def measured(self, names: Sequence[str]) -> Measured:
        """What reads phenotypes of samples."""
        columns = [
            (rank, column) for rank, name in enumerate(names) for column in self.columns[name]
        ]
        known = self.stored.attribute_names
        numbers = [column.attribute("experiment") for _, column in columns]
        for (_, column), number in zip(columns, numbers):
            if column.suffix and number not in known:
                raise ValueError(
                    f"open {self.stored.path}: several experiments of a sample, and no attribute "
                    f"{number!r} that says in which order\n"
                    "hint: build the dataset again, with all attributes"
                )
        noted = list(dict.fromkeys(number for number in numbers if number in known))
        not_finite: dict[str, dict[str, int]] = {}
        for place, (_, column) in enumerate(columns):
            if (name := column.attribute("not_finite")) in known:
                not_finite.setdefault(name, {})[column.key] = place
        return Measured(
            np.array([column.place for _, column in columns], np.int64),
            np.array([rank for rank, _ in columns], np.int64),
            noted,
            np.array([noted.index(name) if name in noted else -1 for name in numbers], np.int64),
            not_finite,
            np.array([self._is_fitness(names[rank]) for rank, _ in columns], bool),
        )

    def _is_fitness(self, name: str) -> bool:
        return self.from_store and name == "fitness"

    @lazy_property
    def _ranks(self) -> npt.NDArray[np.int64]:
        """The rank of each sample where torchcell's store is read: by their numbers as text."""
        numbers = np.arange(len(self.stored))
        ranks = np.empty_like(numbers)
        ranks[np.argsort(numbers.astype(str), kind="stable")] = numbers
        return ranks

    def _indexed(self, samples: Any, numbers: Any, keys: Any) -> dict[Any, list[int]]:
        """The samples with each key, ascending; keys in the order in which torchcell meets them."""
        order = np.lexsort((numbers, self._ranks[samples]))
        found = import_module("pandas").Series(samples[order]).groupby(keys[order], sort=False)
        return {key: sorted({*each}) for key, each in found.agg(list).items()}

    def _labeled(self) -> Iterator[tuple[Column, str, npt.NDArray[np.int64]]]:
        """Column, label and samples of each experiment, last of those without a number."""
        for label in self.labels:
            there: dict[str, npt.NDArray[np.bool_]] = {}
            first: dict[str, Column] = {}
            for column in self.columns[label]:
                first.setdefault(column.suffix, column)
                there[column.suffix] = self._read(column)[1] | there.get(column.suffix, False)
            for suffix, column in first.items():
                yield column, label, np.flatnonzero(there[suffix])
        for column in self._slots:
            without: dict[str, list[int]] = {}
            for sample, found in self._not_finite(column.attribute("not_finite")):
                for label, value in found.items():
                    if value is None:
                        without.setdefault(label, []).append(sample)
            for label, samples in without.items():
                yield column, label, np.array(samples)

    @lazy_property
    def _slots(self) -> list[Column]:
        """What the attributes of each experiment that a record may have are named by."""
        names = (
            re.fullmatch(r"((?:.*\.)?)dataset_name((?:#\d+)?)", name)
            for name in self.stored.attribute_names
        )
        return [Column(0, name[1], name[2], "", "") for name in names if name]

    def _read(self, column: Column) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """The values of all samples, and which of them their records have."""
        values = self.stored.phenotype(self.stored.phenotype_names[column.place]).copy()
        there = ~np.isnan(values)
        for sample, found in self._not_finite(column.attribute("not_finite")):
            if (value := found.get(column.key)) is not None:
                values[sample], there[sample] = value, True
        return values, there

    def _not_finite(self, name: str) -> list[tuple[int, dict[str, float | None]]]:
        """The samples with such an attribute, and what it says."""
        if name not in self._parsed:
            texts: Any = ()
            if name in self.stored.attribute_names:
                texts = self.stored.attribute(name)
            self._parsed[name] = [(i, json.loads(text)) for i, text in enumerate(texts) if text]
        return self._parsed[name]

    @lazy_property
    def _experiments(self) -> Any:
        """The experiments of all samples; a sample of a table is one, whatever was measured."""
        pandas, found = import_module("pandas"), []
        for column in self._slots if self.from_store else [Column(0, "", "", "", "")]:
            frame = pandas.DataFrame({name: self._noted(column, name) for name in _NOTED})
            found.append(frame.dropna(subset=["dataset_name"]) if self.from_store else frame)
        table = pandas.concat(found).rename_axis("sample").reset_index()
        deleted = pandas.Series(self._deleted[1][table["sample"]])
        counts = table["perturbation_count"].fillna(deleted).astype(np.int64)
        return table.assign(perturbation_count=counts, experiment=table["experiment"].fillna(0))

    def _noted(self, column: Column, name: str) -> npt.NDArray[Any]:
        """An attribute of an experiment of all samples."""
        if (attribute := column.attribute(name)) in self.stored.attribute_names:
            return self.stored.attribute(attribute)
        return np.full(len(self.stored), _NOTED[name])

    def _numbers(self, column: Column) -> npt.NDArray[np.float64]:
        """The number of an experiment in each record."""
        numbers: npt.NDArray[np.float64] = np.nan_to_num(self._noted(column, "experiment"))
        return numbers

    @lazy_property
    def by_label(self) -> dict[str, list[int]]:
        found = [
            (samples, self._numbers(column)[samples], np.full(len(samples), label))
            for column, label, samples in self._labeled()
        ]
        return self._indexed(*map(np.concatenate, zip(*found))) if found else {}

    @lazy_property
    def by_dataset_name(self) -> dict[str, list[int]]:
        if not self.from_store:
            raise ValueError(
                f"index {self.stored.path}: found no attribute dataset_name\n"
                "hint: only datasets of torchcell stores have it, if it is among --attributes"
            )
        return self._by("dataset_name")

    @lazy_property
    def by_perturbation_count(self) -> dict[int, list[int]]:
        self._all_genes_are_known("the numbers of perturbations are")
        return self._by("perturbation_count")

    def _by(self, key: str) -> dict[Any, list[int]]:
        table = self._experiments
        return self._indexed(*(table[name].to_numpy() for name in ("sample", "experiment", key)))

    def _all_genes_are_known(self, what: str) -> None:
        noted = self.stored.manifest["account"].get("noted", [])
        dropped = sum(n["rows"] for n in noted if n["reason"] == "unknown_left_out")
        if dropped:
            raise ValueError(
                f"index {self.stored.path}: {dropped:,} genes were dropped from samples, so "
                f"{what} unknown\n"
                'hint: build it with unknown_genes="drop-sample"'
            )

    @lazy_property
    def by_gene(self) -> dict[str, list[int]]:
        """The samples that perturb each gene."""
        self._all_genes_are_known("which samples perturb them is")
        genes, sizes = self._deleted
        starts, table = bounds_of(sizes), self._experiments
        samples, counts = table["sample"].to_numpy(), sizes[table["sample"]]
        flags = map(_wanted, table["perturbation_type"], table["perturbation_count"], counts)
        wanted = np.fromiter(chain.from_iterable(flags), bool, counts.sum())
        names = np.array(self.stored.genes)[genes[ragged(starts[samples], counts)]]
        numbers = np.repeat(table["experiment"].to_numpy(), counts)
        return self._indexed(np.repeat(samples, counts)[wanted], numbers[wanted], names[wanted])

    @lazy_property
    def _deleted(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The deleted genes of all samples, and how many each sample deletes."""
        genes, ptr, _ = self.stored.perturbations(range(len(self.stored)))
        return genes, np.diff(ptr)

    def label_table(self, names: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
        """Per phenotype a column; of several experiments the last value, of a vector none. Rows are
        in the order in which torchcell reads them.
        """
        order = np.argsort(self._ranks)
        table: dict[str, npt.NDArray[Any]] = {"index": order}
        for name in names:
            last = np.full(len(order), np.nan)
            latest = np.full(len(order), -1.0)
            for column in self.columns[name] if name not in self._vectors else ():
                values, _ = self._read(column)
                numbers = np.where(np.isnan(values), -2, self._numbers(column))
                last = np.where(numbers > latest, values, last)
                latest = np.maximum(latest, numbers)
            if self._is_fitness(name):
                last = np.where(last <= 0, 0.0, last)  # as its schema has it
            elif self.from_store and name in _TRUTHS:
                last = _truths(last)
            table[name] = last[order]
        return table


def _wanted(types: str | None, perturbations: int, genes: int) -> list[bool]:
    """For each gene that a sample deletes, whether an experiment perturbs it."""
    if not (perturbations and types):
        return [perturbations > 0 and types is None] * genes
    return [any(text.split("+")) for text in types.split("|")]


def _truths(values: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """0 and 1 as truth values; with others than these, NaN where missing."""
    missing = np.isnan(values)
    if not missing.any():
        return values.astype(bool)
    return values if missing.all() else np.where(missing, values, (values != 0).astype(object))


class Measured(NamedTuple):
    """Reads phenotypes of samples, in the order in which torchcell has them."""

    columns: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.int64]  # of their phenotypes among those wanted
    numbers: list[str]  # attributes with numbers of experiments
    numbered: npt.NDArray[np.int64]  # which of them each column has; -1 for none
    not_finite: dict[str, dict[str, int]]  # per attribute, what its names are among the columns
    fitness: npt.NDArray[np.bool_]  # whether negative values become 0

    def of(
        self,
        phenotypes: npt.NDArray[np.float64],
        noted: Mapping[str, Sequence[Any]],
        each_has_one: bool,
    ) -> tuple[npt.NDArray[Any], ...]:
        """Values of samples, ranks of their phenotypes, numbers of their experiments; and where
        each sample's begin and the last one's end.

        phenotypes: [B, P]. noted: per attribute that is read its values. each_has_one: a sample
        without any has one NaN, as the first phenotype
        """
        if not len(self.columns):
            count = len(phenotypes) if each_has_one else 0
            zeros = np.zeros(count, np.int64)
            found = np.full(count, np.nan, np.float32), zeros, zeros.copy()
            return *found, np.minimum(np.arange(len(phenotypes) + 1), count)
        values = phenotypes[:, self.columns]
        present = ~np.isnan(values)
        for name, places in self.not_finite.items():
            for row, text in enumerate(noted[name]):
                for key, value in json.loads(text).items() if text else ():
                    if key in places and value is not None:
                        values[row, places[key]], present[row, places[key]] = value, True
        values[self.fitness & (values <= 0)] = 0
        without = present.sum(axis=1) == 0
        if each_has_one:
            present[without, 0] = True
        samples, places_of = present.nonzero()
        numbers = np.zeros(len(samples), np.int64)
        if self.numbers:
            listed = np.array([noted[name] for name in self.numbers], np.float64)
            listed = np.concatenate([np.nan_to_num(listed), np.zeros((1, len(values)))])
            numbers = listed[self.numbered[places_of], samples].astype(np.int64)
            numbers[without[samples]] = 0
            order = np.lexsort((self.ranks[places_of], numbers, samples))
            samples, places_of, numbers = samples[order], places_of[order], numbers[order]
        found = values[samples, places_of].astype(np.float32), self.ranks[places_of], numbers
        return *found, np.searchsorted(samples, np.arange(len(values) + 1))
