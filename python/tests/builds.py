"""How each variant and codec is built."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from cases import Case, write_case
from oracle import Graph, expected, read_graph, read_samples

INCIDENCE = ("incidence",)
INDICES = ("dataset", "--mode", "indices")
FULL_MASKS = ("dataset", "--mode", "full-masks")

# How each build is asked for, by its name.
BUILDS = {
    "incidence": INCIDENCE,
    "indices-raw": (*INDICES, "--codec", "raw"),
    "indices-delta": (*INDICES, "--codec", "delta"),
    "indices-zstd": (*INDICES, "--codec", "zstd"),
    "full-masks-raw": (*FULL_MASKS, "--codec", "raw"),
    "full-masks-bits": (*FULL_MASKS, "--codec", "bits"),
    "full-masks-zstd": (*FULL_MASKS, "--codec", "zstd"),
}


class Built(NamedTuple):
    datasets: dict[str, Path]  # by the names of their builds
    want: list[dict]  # per sample the oracle's object
    cell: Graph


def build(
    tcbuild, case: Case, folder: Path, rule: str = "all", builds: Iterable[str] = BUILDS
) -> Built:
    """Builds a case in a folder."""
    graph, perturbations = write_case(case, folder)
    datasets = {name: folder / name for name in builds}

    def run(name: str) -> None:
        options = ["--reaction-rule", rule] + ["--allow-wildtype"] * bool(case.wildtypes)
        if case.attributes:
            options += ["--attributes", ",".join(case.attributes)]
        if BUILDS[name] != INCIDENCE:
            options += ["--shards", case.shards]
        tcbuild.run(
            *BUILDS[name],
            "--graph",
            graph,
            "--perturbations",
            perturbations,
            "--out",
            datasets[name],
            *options,
        )

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, datasets))  # for their errors
    cell = read_graph(graph)
    return Built(datasets, list(expected(cell, read_samples(perturbations, cell), rule)), cell)
