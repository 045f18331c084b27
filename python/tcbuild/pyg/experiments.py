"""The experiments of a dataset's samples, as torchcell has them in its records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tcbuild


class Column(NamedTuple):
    """A column of a phenotype. Attributes of its experiment are named {prefix}NAME{suffix}."""

    place: int  # among the dataset's phenotypes
    prefix: str
    suffix: str  # #2 for the second experiment with the label in a record, and so on

    def attribute(self, name: str) -> str:
        return f"{self.prefix}{name}{self.suffix}"


class Experiments:
    """Which columns belong to which phenotype, and in which order a sample's values come.

    In a dataset of a torchcell store, fitness and fitness#2 are one phenotype of two experiments.
    In others, each column is a phenotype, and a sample is one experiment.

    columns: per phenotype its columns, in the order of the dataset
    statistics: the phenotype that a statistic belongs to
    """

    def __init__(self, stored: tcbuild.Dataset):
        self.stored = stored
        self.from_store = "dataset_name" in stored.attribute_names
        self.columns: dict[str, list[Column]] = {}
        self.statistics: dict[str, str] = {}
        for index, told in enumerate(stored.phenotypes.values()):
            label, prefix, suffix = self._experiment(told.statistic_of or told.name)
            name = told.name.removesuffix(suffix)
            self.columns.setdefault(name, []).append(Column(index, prefix, suffix))
            if told.statistic_of:
                self.statistics[name] = label

    def _experiment(self, column: str) -> tuple[str, str, str]:
        """Label, prefix and suffix of the experiment that a label's column belongs to."""
        attributes = self.stored.attribute_names
        found = re.fullmatch(r"(.*)(#\d+)", column)
        for label, suffix in ([(found[1], found[2])] if found else []) + [(column, "")]:
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
        numbers = [column.attribute("experiment") for _, column in columns]
        known = self.stored.attribute_names
        for (_, column), number in zip(columns, numbers):
            if column.suffix and number not in known:
                raise ValueError(
                    f"open {self.stored.path}: several experiments of a sample, and no attribute "
                    f"{number!r} that says in which order\n"
                    "hint: build the dataset again, with all attributes"
                )
        return Measured(
            np.array([column.place for _, column in columns], np.int64),
            np.array([rank for rank, _ in columns], np.int64),
            numbers if any(number in known for number in numbers) else [],
            np.array([self._is_fitness(names[rank]) for rank, _ in columns], bool),
            np.zeros(len(columns), np.int64),
        )

    def _is_fitness(self, name: str) -> bool:
        return self.from_store and name == "fitness"

    @cached_property
    def _ranks(self) -> npt.NDArray[np.int64]:
        """The rank of each sample where torchcell's store is read: by their numbers as text."""
        numbers = np.arange(len(self.stored))
        ranks = np.empty_like(numbers)
        ranks[np.argsort(numbers.astype(str), kind="stable")] = numbers
        return ranks

    def _indexed(self, found: Sequence[tuple[npt.NDArray[Any], ...]]) -> dict[Any, list[int]]:
        """The samples with each key, ascending; keys in the order in which torchcell meets them.

        found: arrays of samples, of the numbers of their experiments, and of keys
        """
        samples, numbers, keys = map(np.concatenate, zip(*found))
        order = np.lexsort((numbers, self._ranks[samples]))
        samples, keys = samples[order], keys[order]
        names, firsts, places = np.unique(keys, return_index=True, return_inverse=True)
        by_name = np.split(
            samples[np.argsort(places, kind="stable")], np.cumsum(np.bincount(places))
        )
        return {
            names.tolist()[name]: np.unique(by_name[name]).tolist() for name in np.argsort(firsts)
        }

    def _each(self) -> Iterator[tuple[str, Column, npt.NDArray[Any], npt.NDArray[Any]]]:
        """Label, column, samples and their numbers of each experiment that samples may have."""
        for label in self.labels:
            for column in self.columns[label]:
                values = self.stored.phenotype(self.stored.phenotype_names[column.place])
                samples = np.flatnonzero(~np.isnan(values))
                yield label, column, samples, self._numbers(column)[samples]

    def _all(self) -> Iterator[tuple[Column, npt.NDArray[Any], npt.NDArray[Any]]]:
        """The experiments of all samples: of a table, one each, whatever was measured."""
        if self.from_store:
            yield from (each[1:] for each in self._each())
        else:
            samples = np.arange(len(self.stored))
            yield Column(0, "", ""), samples, np.zeros(len(samples))

    def _numbers(self, column: Column) -> npt.NDArray[np.float64]:
        """The number of an experiment in each record."""
        name = column.attribute("experiment")
        if name not in self.stored.attribute_names:
            return np.zeros(len(self.stored))
        numbers: npt.NDArray[np.float64] = np.nan_to_num(self.stored.attribute(name), nan=0)
        return numbers

    @cached_property
    def by_label(self) -> dict[str, list[int]]:
        return self._indexed(
            [
                (samples, numbers, np.full(len(samples), label))
                for label, _, samples, numbers in self._each()
            ]
        )

    @cached_property
    def by_dataset_name(self) -> dict[str, list[int]]:
        if not self.from_store:
            raise ValueError(
                f"index {self.stored.path}: found no attribute dataset_name\n"
                "hint: only datasets of torchcell stores have it, if it is among --attributes"
            )
        return self._indexed(
            [
                (samples, numbers, self._noted(column, "dataset_name")[samples].astype(str))
                for _, column, samples, numbers in self._each()
            ]
        )

    @cached_property
    def by_perturbation_count(self) -> dict[int, list[int]]:
        told = self.stored.manifest
        if told["options"]["unknown_genes"] == "drop-gene" and told["counts"]["unknown_genes"]:
            raise ValueError(
                f"index {self.stored.path}: {told['counts']['unknown_genes']:,} genes were dropped "
                "from samples, so the numbers of perturbations are unknown\n"
                "hint: build it with --unknown-genes drop-sample"
            )
        _, lengths = self._deleted
        found = []
        for column, samples, numbers in self._all():
            counts = lengths.astype(np.float64)
            if column.attribute("perturbation_count") in self.stored.attribute_names:
                noted = self._noted(column, "perturbation_count")
                counts = np.where(np.isnan(noted), counts, noted)
            found.append((samples, numbers, counts[samples].astype(np.int64)))
        return self._indexed(found)

    @cached_property
    def by_gene(self) -> dict[str, list[int]]:
        return self._by_gene(False)

    @cached_property
    def by_deletion(self) -> dict[str, list[int]]:
        return self._by_gene(True)

    def _by_gene(self, deletions: bool) -> dict[str, list[int]]:
        """The samples that perturb each gene, or only those where the type ends in deletion."""
        genes, lengths = self._deleted
        names, by_sample = np.array(self.stored.genes), np.split(genes, np.cumsum(lengths)[:-1])
        found = []
        for column, samples, numbers in self._all():
            counts = lengths[samples]
            wanted = np.ones(counts.sum(), bool)
            if column.attribute("perturbation_type") in self.stored.attribute_names:
                texts = self._noted(column, "perturbation_type")[samples]
                flags = (_wanted(*told, deletions) for told in zip(texts, counts.tolist()))
                wanted = np.fromiter(chain.from_iterable(flags), bool, len(wanted))
            keys = names[np.concatenate([by_sample[sample] for sample in samples.tolist()])]
            arrays = np.repeat(samples, counts), np.repeat(numbers, counts), keys
            found.append(tuple(array[wanted] for array in arrays))
        return self._indexed(found)

    @cached_property
    def _deleted(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The deleted genes of all samples, and how many each sample deletes."""
        genes, ptr, _ = self.stored.perturbations(range(len(self.stored)))
        return genes, np.diff(ptr)

    def _noted(self, column: Column, name: str) -> npt.NDArray[Any]:
        return self.stored.attribute(column.attribute(name))

    def label_table(self, names: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
        """Per phenotype a column; of several experiments the last value. Rows are in the order in
        which torchcell reads them.
        """
        order = np.argsort(self._ranks)
        table: dict[str, npt.NDArray[Any]] = {"index": order}
        for name in names:
            last = np.full(len(order), np.nan)
            latest = np.full(len(order), -1.0)
            for column in self.columns[name]:
                values = self.stored.phenotype(self.stored.phenotype_names[column.place])
                numbers = np.where(np.isnan(values), -2, self._numbers(column))
                last = np.where(numbers > latest, values, last)
                latest = np.maximum(latest, numbers)
            table[name] = (_clamped(last) if self._is_fitness(name) else last)[order]
        return table


def _wanted(types: str | None, genes: int, deletions: bool) -> list[bool]:
    """For each gene that a sample deletes, whether an experiment with these types perturbs it, or
    deletes it.
    """
    if types is None:
        return [True] * genes
    return [
        any(kind.endswith("deletion") or not deletions for kind in text.split("+") if kind)
        for text in types.split("|")
    ]


def _clamped(fitness: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Fitness as torchcell's schema has it: never negative."""
    return np.where(fitness <= 0, 0.0, fitness)


class Measured(NamedTuple):
    """Reads phenotypes of a sample, in the order in which torchcell has them."""

    columns: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.int64]  # of their phenotypes among those wanted
    numbers: list[str]  # attributes with the numbers of their experiments; empty if all are 0
    fitness: npt.NDArray[np.bool_]
    zeros: npt.NDArray[np.int64]

    def of(
        self, sample: tcbuild.Sample
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Values, ranks of their phenotypes, and numbers of their experiments."""
        values = sample.phenotypes[self.columns]
        values[self.fitness & (values <= 0)] = 0
        there = (values == values).nonzero()[0]
        numbers = self.zeros
        if self.numbers:
            noted = sample.attributes
            numbers = np.array([int(noted.get(name) or 0) for name in self.numbers], np.int64)
            there = there[np.lexsort((self.ranks[there], numbers[there]))]
        return values[there].astype(np.float32), self.ranks[there], numbers[there]
