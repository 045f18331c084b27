"""The benchmarks run, and what they measure is what they say."""

from __future__ import annotations

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
    assert "us, masks" in header and [row.split()[0] for row in rows] == list(datasets)
    assert all(float(row.split()[1]) > 0 for row in rows)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
def test_workers_import_no_pandas(datasets):
    """Which takes 0.4 s and 60 MB of each; only torch_geometric does it."""
    options = ["--kind", "torch", "--workers", 1, "--batches", 3, "--batch-size", 4]
    _, fork, spawn = lines_of("workers.py", datasets["incidence"], *options)
    assert fork.split()[:2] == ["tcbuild.torch", "fork"] and "pandas" not in fork
    assert spawn.split()[:2] == ["tcbuild.torch", "spawn"] and "pandas" not in spawn
