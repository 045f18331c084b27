"""where and split give what the command line gives; parts.audit what pandas says."""

from __future__ import annotations

import os
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import tcbuild as reader
from cases import SHARDS
from test_selections import random_numbers

FRACTIONS = {"train": 0.5, "val": 0.25, "test": 0.25}


@pytest.fixture(autouse=True)
def program(tcbuild, monkeypatch):
    monkeypatch.setenv("PATH", f"{tcbuild.binary.parent}:{os.environ['PATH']}")


@pytest.fixture(scope="module")
def built(built_once):
    return built_once(SHARDS, "all")


@pytest.fixture
def dataset(built):
    return reader.open(built.datasets["incidence"])


def test_where(tcbuild, dataset, tmp_path):
    where = "fitness < 0.5 and deletions() >= 2"
    tcbuild.run("select", dataset.path, "--where", where, "--out", tmp_path / "some.arrow")
    want = dataset.select(tmp_path / "some.arrow").indices.tolist()
    assert dataset.where(where).indices.tolist() == want
    assert dataset[::-2].where(where).indices.tolist() == [
        row for row in range(len(dataset))[::-2] if row in want
    ]
    with pytest.raises(reader.errors.SettingsError, match='"fitnes".*\nhint: did you mean fitness'):
        dataset.where("fitnes < 1")
    with pytest.raises(reader.errors.InputError, match="matches none of 300 samples"):
        dataset.where("fitness < -1e9")


@pytest.mark.parametrize(
    "settings",
    [
        {"by": "sample", "stratify": "medium"},
        {"by": "genotype", "seed": 2**64 - 3},
        {"by": "gene", "straddling": "parts", "seed": 5},
        {"by": "medium", "hold_out": ["temperature=30,medium=YPD"]},
    ],
)
def test_split(tcbuild, dataset, tmp_path, settings):
    fractions = ",".join(f"{part}={fraction}" for part, fraction in FRACTIONS.items())
    words = [
        f"--{key.replace('_', '-')}={one}"
        for key, value in settings.items()
        for one in (value if isinstance(value, list) else [value])
    ]
    command = ["split", dataset.path, "--fractions", fractions, "--out", tmp_path / "split"]
    printed = tcbuild.run(*command, *words).stdout.splitlines()
    parts = dataset.split(**FRACTIONS, **settings)
    order = [line.split()[0].split("/")[-1] for line in printed[1 : len(parts) + 1]]
    assert [f"{name}.arrow" for name in parts] == order
    for name, view in parts.items():
        want = dataset.select(tmp_path / f"split/{name}.arrow")
        assert view.indices.tolist() == want.indices.tolist()
    header = repr(parts).splitlines()[0].split()
    assert header == printed[0].split()
    assert f"<td>{len(parts['train'])}</td>" in parts._repr_html_()


@pytest.mark.parametrize("seed", range(5))
def test_components(tmp_path, seed):
    """Parts share no gene: components go, the largest first, where most samples are lacking."""
    random = np.random.default_rng(seed)
    groups = [[f"G{group}_{number}" for number in range(3)] for group in range(8)]
    genotypes = [
        frozenset(random.choice(groups[random.integers(8)], random.integers(1, 3), replace=False))
        for _ in range(60)
    ]
    frame = pd.DataFrame({"genes": ["|".join(sorted(genes)) for genes in genotypes]})
    graph = {"gene": pd.DataFrame({"id": sum(groups, [])})}
    dataset = reader.build(graph, frame, tmp_path / "dataset")
    parts = dataset.split(**FRACTIONS, by="component", seed=seed)

    merged: list[frozenset] = []  # components, by the order of their first samples
    for genes in genotypes:
        merged = [one for one in merged if one & genes] + [one for one in merged if not one & genes]
        of_these = [one for one in merged if one & genes]
        merged = [genes.union(*of_these), *merged[len(of_these) :]]
    first = {one: min(k for k, genes in enumerate(genotypes) if genes <= one) for one in merged}
    merged.sort(key=first.__getitem__)
    size = {one: sum(genes <= one for genes in genotypes) for one in merged}
    key = dict(zip(merged, random_numbers(seed, len(merged))))
    got = dict.fromkeys(FRACTIONS, 0)
    part_of = {}
    for one in sorted(merged, key=lambda one: (-size[one], key[one])):
        part_of[one] = max(got, key=lambda part: FRACTIONS[part] * 60 - got[part])
        got[part_of[one]] += size[one]
    for name, view in parts.items():
        want = [
            k
            for k, genes in enumerate(genotypes)
            if name in (part for one, part in part_of.items() if genes <= one)
        ]
        assert view.indices.tolist() == want
    assert all(entry.shared == 0 for entry in parts.audit().shared)
    with pytest.raises(reader.errors.SettingsError, match="with by component, whose parts"):
        dataset.split(**FRACTIONS, by="component", hold_out="genes=A")


def test_wrong_splits(dataset):
    with pytest.raises(reader.errors.SettingsError, match="add up to 0.9, expected 1"):
        dataset.split(train=0.9, by="gene")
    with pytest.raises(reader.errors.SettingsError, match="found a view.*\nhint: "):
        dataset[:10].split(train=1, by="gene")
    with pytest.raises(TypeError, match="found stratfy='medium', expected a fraction"):
        dataset.split(train=1, by="sample", stratfy="medium")
    with pytest.raises(KeyError, match="did you mean 'train'"):
        dataset.split(train=1 / 3, a=2 / 3, by="sample")["trian"]
    with pytest.raises(reader.errors.SelectionError, match="found combinations"):
        dataset.combinations([0, 1, 2], 2).where("deletions() == 2")


def rows_of(views, phenotypes) -> pd.DataFrame:
    """The samples, one row each, by the slow way."""
    return pd.DataFrame(
        {
            "part": part,
            "id": sample.id,
            "genes": tuple(sample.perturbed.tolist()),
            "kinds": tuple(sample.perturbed_kinds.tolist()),
        }
        | dict(zip(phenotypes, sample.phenotypes.tolist()))
        for part, view in views.items()
        for sample in view
    )


def keys_of(rows: pd.DataFrame) -> dict[str, set]:
    return {
        "genes": {gene for genes in rows.genes for gene in genes},
        "pairs": {pair for genes in rows.genes for pair in combinations(sorted(genes), 2)},
        "genotypes": set(rows.genes),
        "cells": set(rows.id),
    }


def predictions(rows: pd.DataFrame, phenotype: str) -> pd.DataFrame:
    train = rows[rows.part == "train"].dropna(subset=phenotype)
    sizes = train.genes.map(len)
    wild, single = train[sizes == 0], train[sizes == 1]
    reference = (wild if len(wild) else single if len(single) else train)[phenotype].mean()
    effect = (single.groupby(["genes", "kinds"])[phenotype].mean() - reference).to_dict()
    additive = [
        reference + sum(effect.get(((gene,), (kind,)), 0) for gene, kind in zip(genes, kinds))
        for genes, kinds in zip(rows.genes, rows.kinds)
    ]
    return pd.DataFrame({"mean": train[phenotype].mean(), "additive": additive}, rows.index)


@pytest.mark.parametrize("seed", range(4))
def test_audit(tmp_path, seed):
    random = np.random.default_rng(seed)
    genes = [f"G{number}" for number in range(8)]
    kinds = ["deletion", "CRISPRa"]
    samples = []
    for number in range(120):
        some = random.choice(genes, random.integers(seed % 2, 4), replace=False)
        samples.append(
            {
                "sample_id": f"s{number % 110}",
                "genes": "|".join(some),
                "kinds": "|".join(random.choice(kinds, len(some))),
                "fitness": random.normal() if random.random() < 0.8 else None,
                "other": float(len(some)) + random.normal(),
                "other_sd": 1.0 + number % 3,
            }
        )
    frame = pd.DataFrame(samples)
    if seed == 3:
        frame = frame.drop(columns="kinds")
    dataset = reader.build(
        {"gene": pd.DataFrame({"id": genes})},
        frame,
        tmp_path / "dataset",
        allow_wildtype=True,
        allow_duplicate_ids=True,
        removing_kinds=None if seed == 3 else ["deletion"],
    )
    by = ["sample", "genotype", "gene", "sample"][seed]
    parts = dataset.split(**FRACTIONS, by=by, seed=seed)
    audit, views = parts.audit(), {name: parts[name] for name in FRACTIONS}
    rows = rows_of(views, dataset.phenotype_names)
    keys = {part: keys_of(rows[rows.part == part]) for part in views}
    assert {tuple(entry) for entry in audit.shared} == {
        ("train", part, what, len(found & keys["train"][what]), len(found))
        for part in ("val", "test")
        for what, found in keys[part].items()
    }
    labels = [name for name, entry in dataset.phenotypes.items() if not entry.statistic_of]
    assert len(audit.scores) == len(labels) * len(views) * 2
    for score in audit.scores:
        some = rows[(rows.part == score.part) & rows[score.phenotype].notna()]
        predicted = predictions(rows, score.phenotype)[score.baseline][some.index]
        assert score.samples == len(some)
        assert np.isclose(score.mse, ((predicted - some[score.phenotype]) ** 2).mean())
        varies = predicted.max() - predicted.min() > 1e-12
        pearson = predicted.corr(some[score.phenotype]) if varies else np.nan
        assert np.isclose(score.pearson, pearson, equal_nan=True)
    assert "train" in repr(audit) and audit._repr_html_().count("<table>") == 2
