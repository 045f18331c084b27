"""Every variant and codec shows the masks that the oracle works out."""

from __future__ import annotations

import pytest

from builds import BUILDS
from cases import CASES, CASES_AND_RULES, SHARDS, Case, write_case
from oracle import expected, read_graph, read_samples


@pytest.mark.parametrize(
    ("case", "rule"), CASES_AND_RULES, ids=[f"{case.name}-{rule}" for case, rule in CASES_AND_RULES]
)
def test_builds_show_the_masks_of_the_oracle(tcbuild, built_once, case, rule):
    datasets, want, _ = built_once(case, rule)
    for name, dataset in datasets.items():
        shown = tcbuild.samples(dataset, len(want))
        assert len(shown) == len(want), name
        for got, sample in zip(shown, want):
            assert got == sample, name
            assert list(got["masks"]) == list(sample["masks"]), f"{name}: the order of masks"
    assert len({tcbuild.manifest(dataset)["logical_content"] for dataset in datasets.values()}) == 1


def test_inspect_shows_the_samples_asked_for(tcbuild, built_once):
    datasets, want, _ = built_once(SHARDS, "all")
    for name, dataset in datasets.items():
        for first, end in [(0, 1), (99, 102), (SHARDS.samples - 1, SHARDS.samples)]:
            assert tcbuild.samples(dataset, end, first) == want[first:end], name


@pytest.mark.parametrize("command", BUILDS.values(), ids=BUILDS.keys())
def test_a_wild_type_is_refused_unless_allowed(tcbuild, tmp_path, command):
    graph, perturbations = write_case(Case("wild types", wildtypes=3), tmp_path)
    dataset = tmp_path / "dataset"
    done = tcbuild.run(
        *command, "--graph", graph, "--perturbations", perturbations, "--out", dataset, exit_code=3
    )
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
    assert (
        tcbuild.samples(dataset, 1)
        == list(expected(cell, read_samples(perturbations, cell), "all"))[:1]
    )
