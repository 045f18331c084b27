"""PyG's OnDiskDataset: a row per sample in SQLite."""

from __future__ import annotations

from typing import Any

import torch
from torch_geometric.data import OnDiskDataset

from systems import Positions, Record, Source, System

TYPES = {"genes": torch.int32, "phenotypes": torch.float64, "removed": torch.int32}


class OnDisk(System):
    def write(self, source: Source) -> None:
        stored = _Samples(str(self.folder))
        rows = ({k: torch.from_numpy(v) for k, v in vars(record).items()} for record in source)
        stored.extend(list(rows), batch_size=1024)
        stored.close()

    def open(self) -> Any:
        return _Samples(str(self.folder))

    def __getitem__(self, index: int) -> Record:
        return Positions(**{name: value.numpy() for name, value in self.file.get(index).items()})


class _Samples(OnDiskDataset):
    def __init__(self, root: str):
        schema = {name: {"dtype": kind, "size": (-1,)} for name, kind in TYPES.items()}
        super().__init__(root, schema=schema)

    def serialize(self, data: Any) -> Any:
        return data

    def deserialize(self, data: Any) -> Any:
        return data
