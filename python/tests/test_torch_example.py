"""The training example runs on the program's dataset, and learns."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from conftest import REPOSITORY
from torch_cases import built_case


def test_every_step_has_its_loss(tcbuild, tmp_path):
    dataset = built_case(tcbuild, "dense", "all", tmp_path, ["incidence"]).datasets["incidence"]
    command = [sys.executable, REPOSITORY / "python/examples/train_gin.py", dataset]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    done = subprocess.run(
        [*map(str, command), "--batch-size", "2"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    losses = [float(line.split()[-1]) for line in done.stdout.splitlines()]
    assert len({*losses}) > 4 and all(loss >= 0 for loss in losses)
