"""MosaicML streaming: MDS shards, read by StreamingDataset from the local disk."""

from __future__ import annotations

from typing import Any

from streaming import MDSWriter, StreamingDataset
from torch.utils.data import DataLoader

from systems import Loading, Positions, Record, Source, System

COLUMNS = {"genes": "ndarray:int32", "phenotypes": "ndarray:float64", "removed": "ndarray:int32"}


class Mosaic(System):
    def write(self, source: Source) -> None:
        with MDSWriter(out=str(self.folder), columns=COLUMNS) as out:
            for record in source:
                out.write(vars(record))

    def open(self) -> StreamingDataset:
        return _Samples(local=str(self.folder), batch_size=1)

    def __getitem__(self, index: int) -> Record:
        record: Record = self.file[index]
        return record

    def loader(self, loading: Loading, collate: Any) -> DataLoader[Any]:
        return DataLoader(
            _Samples(local=str(self.folder), batch_size=loading.batch_size, shuffle=True),
            loading.batch_size,
            num_workers=loading.workers,
            collate_fn=collate,
        )


class _Samples(StreamingDataset):
    def __getitem__(self, index: int) -> Record:
        return Positions(**super().__getitem__(index))
