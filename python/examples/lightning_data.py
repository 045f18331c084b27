"""A Lightning DataModule for a dataset: batches of samples, on the trainer's device.

    pip install './python[torch]' pytorch-lightning

    trainer.fit(model, Cells("cell/indices", "split/train.arrow", "split/val.arrow"))

The parts are what `tcbuild split` writes. Lightning moves a batch by its `to`, and the model asks
it for batch.masks and batch.phenotype("fitness").
"""

from typing import Any

import pytorch_lightning

import tcbuild
import tcbuild.torch


class Cells(pytorch_lightning.LightningDataModule):
    def __init__(self, path: str, train: str, val: str, **options: Any):
        super().__init__()
        stored = tcbuild.open(path)
        self.train, self.val = (stored.select(of) for of in (train, val))
        self.options = {"batch_size": 28, "num_workers": 2} | options

    def train_dataloader(self) -> tcbuild.torch.DataLoader:
        return tcbuild.torch.DataLoader(self.train, shuffle=True, **self.options)

    def val_dataloader(self) -> tcbuild.torch.DataLoader:
        return tcbuild.torch.DataLoader(self.val, **self.options)
