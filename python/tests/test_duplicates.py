"""--duplicates mean makes the numbers of torchcell's MeanExperimentDeduplicator, to 12 digits."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path

import mpmath
import numpy as np
import pyarrow as pa
import pytest

from conftest import Tcbuild
from test_torchcell import GENES, experiment, write_graph, write_store

# label, its statistic
STORES = {
    "fitness": "fitness_std",
    "gene_interaction": "gene_interaction_p_value",
}


def make_records(label: str, count: int, seed: int) -> list[dict]:
    """Records as before torchcell's deduplication; few genotypes, one of them very often."""
    rng = random.Random(seed)
    records = []
    for i in range(count):
        genes = sorted(rng.sample(GENES[:12], rng.choice([1, 2, 2, 3])))
        if i % 3 == 0:
            genes = GENES[20:22]
        spread = rng.random()
        if label == "fitness" and rng.random() < 0.2:
            spread = None
        record = experiment(label, rng.gauss(0.7, 0.3), STORES[label], spread, genes)
        record["experiment"]["phenotype"][STORES[label]] = spread
        records.append(record)
    return records


def torchcell_mean(label: str, group: list[dict]) -> tuple[float, float]:
    """Value and statistic that torchcell 1.8 makes of a group of duplicates."""
    phenotypes = [record["experiment"]["phenotype"] for record in group]
    values = np.array([phenotype[label] for phenotype in phenotypes])
    statistics = [phenotype[STORES[label]] for phenotype in phenotypes]
    if len(group) == 1:  # torchcell copies the record
        return values[0], np.nan if statistics[0] is None else statistics[0]
    if label == "fitness":
        there = np.array([value for value in statistics if value is not None])
        return np.mean(values), np.sqrt(np.mean(there**2)) if len(there) else np.nan
    n = len(values)
    t = np.mean(values) / (np.std(values, ddof=1) / np.sqrt(n))
    mpmath.mp.dps = 30
    p = mpmath.betainc((n - 1) / 2, 0.5, 0, (n - 1) / (n - 1 + mpmath.mpf(t) ** 2), True)
    return np.mean(values), float(p)


def near(value: float) -> object:
    return pytest.approx(value, rel=1e-12, abs=0)


@pytest.mark.parametrize("label", STORES)
@pytest.mark.parametrize("count", [1, 30, 1500])
def test_means_are_torchcells(tcbuild: Tcbuild, tmp_path: Path, label: str, count: int) -> None:
    records = make_records(label, count, seed=count)
    write_store(
        tmp_path / "lmdb", {f"data_{i}": json.dumps(r).encode() for i, r in enumerate(records)}
    )
    graph = write_graph(tmp_path / "graph")
    given = ["--graph", graph, "--perturbations", tmp_path / "lmdb", "--out", tmp_path / "out"]
    tcbuild.run("incidence", *given, "--duplicates", "mean")

    groups = defaultdict(list)
    for i, record in enumerate(records):
        perturbed = record["experiment"]["genotype"]["perturbations"]
        groups[tuple(sorted(p["systematic_gene_name"] for p in perturbed))].append((i, record))
    table = pa.concat_tables(
        pa.ipc.open_file(part).read_all().unify_dictionaries()
        for part in sorted((tmp_path / "out/samples").glob("*.arrow"))
    ).to_pydict()
    assert len(table["sample_id"]) == len(groups)
    for row, (genes, members) in enumerate(groups.items()):
        value, statistic = torchcell_mean(label, [record for _, record in members])
        assert table["sample_id"][row] == str(members[0][0])
        assert [GENES[gene] for gene in table["perturbation_indices"][row]] == list(genes)
        assert table[label][row] == near(value)
        assert table[f"{label}_n"][row] == len(members)
        found = table[STORES[label]][row]
        if np.isnan(statistic):
            assert found is None
        else:
            assert found == near(statistic)
        values = [record["experiment"]["phenotype"][label] for _, record in members]
        spread = table[f"{label}_sd"][row]
        assert spread is None if len(values) == 1 else spread == near(np.std(values, ddof=1))

    account = tcbuild.manifest(tmp_path / "out")["account"]
    counts = account["repeats"]
    repeated = [members for members in groups.values() if len(members) > 1]
    assert counts["genotypes"] == len(groups)
    assert counts["repeated_genotypes"] == len(repeated)
    assert counts["repeated_samples"] == sum(map(len, repeated))
    assert account["rows"] == count
    merged = count - len(groups)
    dropped = [{"reason": "merged", "rows": merged}] if merged else []
    assert account.get("dropped", []) == dropped
