"""Random datasets of all variants, beside what the oracle works out of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import tcbuild as reader
from cases import CASES, write_case
from oracle import Graph, expected, read_graph, read_samples

VARIANTS = {
    "incidence": ("incidence",),
    "indices": ("dataset", "--mode", "indices"),
    "full-masks": ("dataset", "--mode", "full-masks"),
}


@dataclass(frozen=True)
class Built:
    datasets: dict[str, Path]  # by variant
    want: list[dict]  # per sample the oracle's object
    cell: Graph
    graph: Path
    perturbations: Path


def built_case(
    tcbuild, name: str, rule: str, folder: Path, variants: Iterable[str] = VARIANTS
) -> Built:
    case = next(case for case in CASES if case.name == name)
    graph, perturbations = write_case(case, folder)
    datasets = {}
    for variant in variants:
        datasets[variant] = folder / variant
        options = ["--allow-wildtype"] if case.wildtypes else []
        inputs = ["--graph", graph, "--perturbations", perturbations, "--out", datasets[variant]]
        tcbuild.run(*VARIANTS[variant], *inputs, "--reaction-rule", rule, *options)
    cell = read_graph(graph)
    return Built(
        datasets,
        list(expected(cell, read_samples(perturbations, cell), rule)),
        cell,
        graph,
        perturbations,
    )


def want_mask(sample: dict, name: str) -> list[bool]:
    """A mask of the oracle's sample: true where it keeps."""
    removed = set(sample["masks"][name]["removed"])
    return [position not in removed for position in range(sample["masks"][name]["size"])]


def opened(dataset: reader.Dataset | Path) -> reader.Dataset:
    """A dataset, or the one in a folder."""
    return dataset if isinstance(dataset, reader.Dataset) else reader.open(dataset)
