"""The training example runs, and the variants lead to the same loss."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from conftest import REPOSITORY
from torch_cases import VARIANTS, built_case


def test_variants_lead_to_the_same_loss(tcbuild, tmp_path):
    built_case(tcbuild, "everything", "all", tmp_path)
    example = REPOSITORY / "python/examples/train_masked_gin.py"
    command = [sys.executable, example, tmp_path, "--batch-size", "7", "--workers", "2"]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    header, *rows = (line.split() for line in done.stdout.splitlines())
    assert header == ["variant", "steps/s", "loss"] and [row[0] for row in rows] == list(VARIANTS)
    losses = [float(row[2]) for row in rows]
    assert max(losses) - min(losses) <= 1e-6 and losses[0] > 0
