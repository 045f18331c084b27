"""A trainer of Lightning on two ranks gives each sample to one of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
pytest.importorskip("pytorch_lightning", reason="pytorch-lightning is not installed")

from conftest import REPOSITORY
from torch_cases import built_case

TRAINING = """
import json, sys
import pytorch_lightning as pl, torch
from tcbuild import torchcell

class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.weight, self.seen = torch.nn.Parameter(torch.zeros(())), []
    def training_step(self, batch, _):
        self.seen += batch.sample_id
        assert len(batch["gene"].perturbation_indices_ptr) == len(batch) + 1
        return ((self.weight - batch.phenotypes.nan_to_num()) ** 2).mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

if __name__ == "__main__":
    path, out = sys.argv[1:]
    dataset = torchcell.Dataset(path, ["fitness"])
    loader = torchcell.DataLoader(dataset, 4, shuffle=True, follow_batch=["perturbation_indices"])
    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", devices=2, strategy="ddp", logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    model = Model()
    trainer.fit(model, loader)
    with open(f"{out}/{trainer.global_rank}.json", "w") as file:
        json.dump([model.seen, model.weight.item()], file)
"""


def test_two_ranks_share_an_epoch(tcbuild, tmp_path):
    built = built_case(tcbuild, "everything", "all", tmp_path, ["incidence"])
    script = tmp_path / "training.py"
    script.write_text(TRAINING)
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, script, built.datasets["incidence"], tmp_path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    (first, weight), (second, same) = (
        json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1)
    )
    assert weight == same != 0
    assert sorted(first + second) == sorted(sample["sample_id"] for sample in built.want)
