"""tcbuild.compare: forms and variants learn the same, and what it prints follows from figures."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from argparse import Namespace

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import tcbuild as reader
from conftest import REPOSITORY
from tcbuild.compare.__main__ import _plan
from tcbuild.compare._report import Result, page, recommendation, storage_table, training_table
from tcbuild.compare._train import Model, Row
from torch_cases import VARIANTS, built_case

BASELINE = Row("incidence", "shared", 4, 0, "cpu", "as given")


def losses(dataset, form):
    torch.manual_seed(0)
    model = Model(dataset, form, hidden=4, layers=2).double()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    found = []
    for batch in itertools.islice(model.loader(dataset, 5), 6):
        loss = model.loss(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


@pytest.mark.parametrize("case", ["everything", "sparse", "dense"])
def test_forms_and_variants_learn_the_same(tcbuild, tmp_path, case):
    datasets = map(reader.open, built_case(tcbuild, case, "all", tmp_path).datasets.values())
    found = {
        (dataset.variant, form): losses(dataset, form)
        for dataset, form in itertools.product(datasets, Model.forms)
    }
    assert len(found) == len(VARIANTS) * 3
    expected = found["incidence", "masks"]
    assert len({*expected}) == len(expected)
    for key, each in found.items():
        assert each == pytest.approx(expected, rel=1e-9, abs=1e-12), key


def options(**changes):
    factors = dict(form=["shared", "masks"], batch=[4, 28], workers=[0], device=["cpu"])
    return Namespace(**factors | {"folders": ["as given", "/dev/shm"], "cross": False} | changes)


def test_one_factor_changes_at_a_time():
    rows = _plan(["incidence", "indices"], options())
    assert rows[0] == BASELINE and len(rows) == 6
    changed = [sum(a != b for a, b in zip(row, BASELINE)) for row in rows]
    assert sorted(changed) == [0, 1, 1, 1, 1, 2]
    assert rows[changed.index(2)] == BASELINE._replace(dataset="indices", form="masks")
    assert len(_plan(["incidence", "indices"], options(cross=True))) == 16


def result(rates, per_sample=20, **changes):
    figures = {"cpu_s": 0.1, "load_ms": 1, "open_ms": 5, "sent_bytes": 58, "host_bytes": 5e8}
    rounds = [figures | {"it_per_s": rate, "card_bytes": None} for rate in rates]
    storage = {"dataset": "incidence", "samples": 100, "shared": 10**6, "per_sample": per_sample}
    return Result(BASELINE._replace(**changes), storage | {"build_s": 1, "prove_s": 2}, rounds)


def test_the_recommendation_is_the_fastest_row():
    rows = [result([9, 11, 10]), result([2, 3], form="masks"), result([6, 7], batch=28)]
    first, *others = recommendation(rows)
    assert re.search(
        r"shared, incidence, batch 4.*no other row reaches.* 40 samples/s \(36 to 44\)", first
    )
    (other,) = others
    assert "need masks" in other and "4 times as slow" in other


def test_overlapping_ranges_are_said():
    rows = [result([9, 12], per_sample=2000), result([8, 10], dataset="smaller")]
    (sentence,) = recommendation(rows)
    assert "smaller" in sentence and "2 rows may be the fastest" in sentence
    assert "least disk, 20 B a sample" in sentence


def test_tables_mark_what_failed_and_what_is_extrapolated():
    failed = result([])
    failed.rounds.append({"failure": "out of memory"})
    table = training_table([result([1]), failed])
    assert "out of memory" in table[3] and re.search(" 1 +1 to 1 +4 ", table[2])
    assert "none" in recommendation([failed])[0]
    (_, header, line, _) = storage_table([result([1]).storage], 10_000)
    assert "all 10,000" in header and "~1.2 MB" in line
    (_, _, line, _) = storage_table([result([1]).storage], 100)
    assert "~" not in line
    html = page(table, [result([1]), failed])
    assert html.count("<circle") == 1 and "<script" not in html and "out of memory" in html


def run(folder, *arguments):
    command = [sys.executable, "-m", "tcbuild.compare", *map(str, arguments), "--seconds", "1"]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_datasets_are_built_and_compared(tcbuild, tmp_path):
    built = built_case(tcbuild, "everything", "all", tmp_path, [])
    inputs = ["sets", "--build", built.graph, built.perturbations, "--set", "allow_wildtype=true"]
    rows = ["--form", "shared", "--batch", "4", "8", "--workers", "0", "1"]
    done = run(tmp_path, *inputs, *rows, "--samples", 10)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "compare.json").read_text())
    assert len(found["rows"]) == 7 + 3 and len({*os.listdir(tmp_path / "sets")}) == 7
    for row in found["rows"]:
        assert len(row["rounds"]) >= 2 and all(each["it_per_s"] > 0 for each in row["rounds"])
        files = [file for file in (tmp_path / "sets" / row["row"]["dataset"]).rglob("*")]
        on_disk = sum(file.stat().st_size for file in files if file.is_file())
        costs = row["storage"]
        assert costs["shared"] + costs["per_sample"] * costs["samples"] == pytest.approx(on_disk)
    assert "Recommendation: " in done.stdout and "<svg" in (tmp_path / "compare.html").read_text()


@pytest.mark.slow
def test_datasets_of_other_samples_are_refused(tcbuild, tmp_path):
    for name in ("sparse", "dense"):
        built = built_case(tcbuild, name, "all", tmp_path / name, ["incidence"])
        built.datasets["incidence"].rename(tmp_path / f"{name}-set")
    done = run(tmp_path, tmp_path, "--form", "masks", "--batch", 4, "--workers", 0)
    assert done.returncode == 1 and "compare: train" in done.stderr and "\nhint: " in done.stderr
    assert not (tmp_path / "compare.json").exists()
