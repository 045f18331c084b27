"""A Lightning DataModule for a dataset: batches of samples, on the trainer's device.

    pip install './python[torch]' pytorch-lightning

    trainer.fit(model, Cells("cell/indices", "parts.tsv"))

The parts train and val are what parts.save writes. Lightning moves a batch by its `to`, and the
model asks it for batch.masks and batch.phenotype("fitness").
"""

from typing import Any

import pytorch_lightning

import tcbuild
import tcbuild.torch


class Cells(pytorch_lightning.LightningDataModule):
    def __init__(self, path: str, parts: str, **options: Any):
        super().__init__()
        split = tcbuild.open(path).parts(parts)
        self.train, self.val = split["train"], split["val"]
        self.options = {"batch_size": 28, "num_workers": 2} | options

    def train_dataloader(self) -> tcbuild.torch.DataLoader:
        return tcbuild.torch.DataLoader(self.train, shuffle=True, **self.options)

    def val_dataloader(self) -> tcbuild.torch.DataLoader:
        return tcbuild.torch.DataLoader(self.val, **self.options)
