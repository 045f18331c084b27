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
from tcbuild.compare.__main__ import _arguments, _plan
from tcbuild.compare._page import page
from tcbuild.compare._report import Result, recommendation, storage_table, training_table
from tcbuild.compare._train import Model, Row
from tcbuild.errors import SettingsError
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


def result(rates, per_sample=20, cpu_s=0.1, **changes):
    figures = {"cpu_s": cpu_s, "load_ms": 1, "open_ms": 5, "sent_bytes": 58, "host_bytes": 5e8}
    rounds = [figures | {"it_per_s": rate, "card_bytes": None} for rate in rates]
    storage = {"dataset": "incidence", "samples": 100, "shared": 10**6, "per_sample": per_sample}
    return Result(BASELINE._replace(**changes), storage | {"build_s": 1, "prove_s": 2}, rounds)


def test_the_recommendation_is_the_fastest_row():
    rows = [result([9, 11, 10]), result([2, 3, 2], form="masks"), result([1, 1, 1], batch=28)]
    first, other = recommendation(rows, False)
    assert re.search(
        r"shared, incidence, batch 4.*no other row reaches.* 40 samples/s \(36 to 44\)", first
    )
    assert "need masks" in other and "5 times as long as shared, incidence, batch 4," in other


def test_batch_sizes_are_compared_by_samples_and_forms_at_one_batch_size():
    rows = [result([10, 10, 10]), result([5, 5, 5], form="masks"), result([8, 8, 8], batch=28)]
    first, other = recommendation(rows, False)
    assert "shared, incidence, batch 28" in first and "224 samples/s" in first
    assert "masks, incidence, batch 4" in other and " 2 times as long as shared, inc" in other
    rows = [result([10] * 3, cpu_s=0.1), result([20] * 3, cpu_s=0.2, batch=28)]
    assert "batch 28" in recommendation(rows, True)[0]


def test_overlapping_ranges_are_said():
    rows = [result([9, 12, 10], per_sample=2000), result([8, 10, 9], dataset="smaller")]
    rows.append(result([9, 9, 9], dataset="smaller", form="filtered"))
    first, *apart, other = recommendation(rows, False)
    assert "smaller" in first and "3 rows may be the fastest" in first
    assert "least disk, 20 B a sample" in first
    assert {line.split(",")[0].split()[-1] for line in apart} == {"shared", "filtered"}
    assert "not distinguishable" in other and "times" not in other


@pytest.mark.parametrize("rounds, told_apart", [(2, False), (3, True)])
def test_two_rounds_have_the_widest_range_of_all(rounds, told_apart):
    rows = [result([10] * rounds), result([9] * rounds, per_sample=2, dataset="smaller")]
    rows.append(result([2, 3, 2][:rounds], form="masks"))
    first = recommendation(rows, False)[0]
    assert ("smaller" in first) != told_apart and ("--seconds" in first) != told_apart


def test_a_busy_machine_is_ranked_by_cpu_time():
    rows = [result([9] * 3, cpu_s=0.2), result([3] * 3, cpu_s=0.1, dataset="lean")]
    rows.append(result([99] * 3, cpu_s=0.01, workers=2))  # whose workers' time is left out
    rows.append(result([99] * 3, cpu_s=0.3, form="masks"))
    first, other = recommendation(rows, True)
    assert re.search("busy.*0 workers.*shared, lean.* 25 CPU ms/sample", first)
    assert "3 times the CPU time of shared, lean" in other
    assert "2 workers" in recommendation(rows, False)[0]
    assert "none" in recommendation([result([9], device="cuda")], True)[0]


def test_tables_mark_what_failed():
    failed = result([])
    failed.rounds.append({"failure": "out of memory"})
    _, table, _ = training_table([result([1]), failed])
    _, trained, other = table.splitlines()
    assert "out of memory" in other and re.search(" 4 +4 to 4 +25 ", trained)
    assert "none" in recommendation([failed], False)[0]
    assert "1 MB" in storage_table([result([1]).storage])[1]
    html = page([table], [result([1]), failed])
    assert html.count("<circle") == 1 and "<script" not in html and "out of memory" in html


@pytest.mark.parametrize(
    "mistake", ["--device gpu", "--device cuda:99", "--folders nowhere", "--out nowhere/x"]
)
def test_mistakes_are_refused_before_any_work(monkeypatch, mistake):
    monkeypatch.setattr(sys, "argv", ["compare", "absent", *mistake.split()])
    with pytest.raises(SettingsError, match="read .*" + mistake.split()[0]) as refused:
        _arguments()
    assert str(refused.value).count("\n") == 1 and refused.value.hint


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
    assert "\nRecommendation" in done.stdout and "<svg" in (tmp_path / "compare.html").read_text()


@pytest.mark.slow
def test_datasets_of_other_samples_are_refused(tcbuild, tmp_path):
    for name in ("sparse", "dense"):
        built = built_case(tcbuild, name, "all", tmp_path / name, ["incidence"])
        built.datasets["incidence"].rename(tmp_path / f"{name}-set")
    done = run(tmp_path, tmp_path, "--form", "masks", "--batch", 4, "--workers", 0)
    assert done.returncode == 1 and "compare: train" in done.stderr and "\nhint: " in done.stderr
    assert not (tmp_path / "compare.json").exists()
