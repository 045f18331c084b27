"""Every variant and codec shows the masks that the oracle works out."""

from __future__ import annotations

import pytest

from cases import CASES, CASES_AND_RULES, Case, write_case
from oracle import expected, read_graph, read_samples

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


@pytest.mark.parametrize(("case", "rule"), CASES_AND_RULES, ids=[f"{case.name}-{rule}" for case, rule in CASES_AND_RULES])
def test_builds_show_the_masks_of_the_oracle(tcbuild, tmp_path, case, rule):
    graph, perturbations = write_case(case, tmp_path)
    cell = read_graph(graph)
    want = list(expected(cell, read_samples(perturbations, cell), rule))

    logical_contents = {}
    for name, command in BUILDS.items():
        dataset = tmp_path / name
        options = ["--reaction-rule", rule]
        if case.wildtypes:
            options.append("--allow-wildtype")
        if command != INCIDENCE:
            options += ["--shards", case.shards]
        tcbuild.run(*command, "--graph", graph, "--perturbations", perturbations, "--out", dataset, *options)
        shown = tcbuild.samples(dataset, len(want))
        assert len(shown) == len(want), name
        for got, sample in zip(shown, want):
            assert got == sample, name
            assert list(got["masks"]) == list(sample["masks"]), f"{name}: the order of masks"
        logical_contents[name] = tcbuild.manifest(dataset)["logical_content"]
    assert len(set(logical_contents.values())) == 1, logical_contents


def test_inspect_shows_the_samples_asked_for(tcbuild, tmp_path):
    case = next(case for case in CASES if case.name == "several values in each shard")
    graph, perturbations = write_case(case, tmp_path)
    cell = read_graph(graph)
    want = list(expected(cell, read_samples(perturbations, cell), "all"))
    for name, command in BUILDS.items():
        dataset = tmp_path / name
        tcbuild.run(*command, "--graph", graph, "--perturbations", perturbations, "--out", dataset)
        for first, end in [(0, 1), (99, 102), (case.samples - 1, case.samples)]:
            assert tcbuild.samples(dataset, end, first) == want[first:end], name


@pytest.mark.parametrize("command", BUILDS.values(), ids=BUILDS.keys())
def test_a_wild_type_is_refused_unless_allowed(tcbuild, tmp_path, command):
    graph, perturbations = write_case(Case("wild types", wildtypes=3), tmp_path)
    dataset = tmp_path / "dataset"
    done = tcbuild.run(*command, "--graph", graph, "--perturbations", perturbations, "--out", dataset, exit_code=3)
    assert "perturbations.tsv:" in done.stderr and "hint: " in done.stderr
    assert not dataset.exists()


@pytest.mark.parametrize("command", BUILDS.values(), ids=BUILDS.keys())
def test_an_unknown_gene_is_refused_unless_ignored(tcbuild, tmp_path, command):
    graph, perturbations = write_case(CASES[0], tmp_path)
    known = perturbations.read_text(encoding="utf-8")
    header, first, rest = known.split("\n", 2)
    perturbations.write_text(f"{header}\nNOSUCHGENE|{first}\n{rest}", encoding="utf-8")

    dataset = tmp_path / "dataset"
    inputs = ["--graph", graph, "--perturbations", perturbations, "--out", dataset]
    done = tcbuild.run(*command, *inputs, exit_code=3)
    assert "perturbations.tsv:2" in done.stderr and '"NOSUCHGENE"' in done.stderr
    assert not dataset.exists()

    tcbuild.run(*command, *inputs, "--unknown-genes", "drop-gene")
    perturbations.write_text(known, encoding="utf-8")
    cell = read_graph(graph)
    assert tcbuild.samples(dataset, 1) == list(expected(cell, read_samples(perturbations, cell), "all"))[:1]
