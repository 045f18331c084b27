"""The benchmarks run, and what they measure is what they say."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

from conftest import REPOSITORY
from torch_cases import built_case

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def datasets(tcbuild, tmp_path_factory):
    folder = tmp_path_factory.mktemp("case")
    return built_case(tcbuild, "everything", "all", folder).datasets


def lines_of(benchmark, *arguments):
    command = [sys.executable, REPOSITORY / "python/benchmarks" / benchmark, *arguments]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=3000
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_batches_of_all_variants_are_timed(datasets):
    header, *rows = lines_of("batches.py", *datasets.values(), "--batches", 3)
    assert "fill_masks" in header and [row.split()[0] for row in rows] == list(datasets)
    assert all(float(row.split()[1]) > 0 for row in rows)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
def test_workers_import_no_pandas(datasets):
    """Which takes 0.4 s and 60 MB of each; only torch_geometric does it."""
    options = ["--kind", "torch", "--workers", 1, "--batches", 3, "--batch-size", 4]
    _, fork, spawn = lines_of("workers.py", datasets["incidence"], *options)
    assert fork.split()[:2] == ["tcbuild.torch", "fork"] and "pandas" not in fork
    assert spawn.split()[:2] == ["tcbuild.torch", "spawn"] and "pandas" not in spawn


def test_training_is_measured_phase_by_phase(datasets, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    options = ["--model", "filtered", "--batch-size", 2, "--workers", 1, "--ranks", 2]
    options += ["--hidden", 4, "--layers", 1, "--steps", 2, "--rounds", 1]
    files = ["--out", tmp_path / "out", "--trace", tmp_path / "trace.json"]
    header, _, row = lines_of("training.py", datasets["incidence"], *options, *files)
    columns = [cell.strip() for cell in header.split("|")[1:-1]]
    cells = dict(zip(columns, (cell.strip() for cell in row.split("|")[1:-1]), strict=True))
    assert [cells[name] for name in columns[:6]] == ["filtered", "tcbuild", "2", "2", "1", "2"]
    phases = columns[columns.index("it/s") + 1 : columns.index("host GB")]
    assert 97 <= sum(int(cells[phase].rstrip("%")) for phase in phases) <= 103
    (run,) = json.loads((tmp_path / "out.json").read_text())["runs"]
    first, second = run["result"]["rounds"][0]
    assert len(first["seconds"]) == 2 and first["losses"] != second["losses"]
    assert all(min(step) > 0 for rank in (first, second) for step in rank["seconds"])
    assert first["host_mb"] > 100 and first["workers_mb"] > 1
    traced = {
        each.get("name")
        for each in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    }
    assert traced >= set(phases)
    assert "it/s" in (tmp_path / "out.svg").read_text()
