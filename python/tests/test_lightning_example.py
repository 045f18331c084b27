"""The DataModule of the examples feeds a trainer of Lightning with every sample of its parts."""

from __future__ import annotations

import sys
import warnings

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytorch_lightning = pytest.importorskip(
    "pytorch_lightning", reason="pytorch-lightning is not installed"
)

import tcbuild as package
from conftest import REPOSITORY
from torch_cases import built_case, want_mask

sys.path.insert(0, str(REPOSITORY / "python/examples"))
from lightning_data import Cells


class Model(pytorch_lightning.LightningModule):
    """Learns one number, and notes the samples that it was given."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(()))
        self.seen = {"train": [], "val": []}
        self.kept = {}

    def note(self, part, batch):
        self.seen[part] += batch.sample_ids
        kept = batch.masks["gene"].sum(1).tolist()
        self.kept |= zip(batch.sample_ids, kept)
        return ((self.weight - batch.phenotype("fitness").nan_to_num()) ** 2).mean()

    def training_step(self, batch, _):
        return self.note("train", batch)

    def validation_step(self, batch, _):
        self.note("val", batch)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def test_a_trainer_sees_each_sample_of_its_part(tcbuild, tmp_path):
    built = built_case(tcbuild, "everything", "all", tmp_path, ["indices"])
    path = built.datasets["indices"]
    parts = package.open(path).split(train=0.7, val=0.3, by="sample")
    parts.save(tmp_path / "parts.tsv")
    model = Model()
    trainer = pytorch_lightning.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        num_sanity_val_steps=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer.fit(model, Cells(path, tmp_path / "parts.tsv", batch_size=4, num_workers=1))
    assert model.weight.item() != 0
    for part, view in parts.items():
        want = [sample.id for sample in view]
        assert sorted(model.seen[part]) == sorted(want)
    assert model.kept == {
        sample["sample_id"]: sum(want_mask(sample, "gene")) for sample in built.want
    }
