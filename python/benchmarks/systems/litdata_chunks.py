"""LitData: chunks of 64 MB, read by StreamingDataset from the local disk."""

from __future__ import annotations

from typing import Any

import litdata
from torch.utils.data import DataLoader

from systems import Loading, Positions, Record, Source, System


class LitData(System):
    def write(self, source: Source) -> None:
        litdata.optimize(
            fn=lambda index: vars(source[index]),
            inputs=list(range(len(source))),
            output_dir=str(self.folder),
            chunk_bytes="64MB",
            num_workers=2,
            start_method="fork",
            keep_data_ordered=True,
            verbose=False,
        )

    def open(self) -> litdata.StreamingDataset:
        return _Samples(str(self.folder))

    def __getitem__(self, index: int) -> Record:
        record: Record = self.file[index]
        return record

    def loader(self, loading: Loading, collate: Any) -> DataLoader[Any]:
        return litdata.StreamingDataLoader(
            _Samples(str(self.folder), shuffle=True),
            batch_size=loading.batch_size,
            num_workers=loading.workers,
            collate_fn=collate,
        )


class _Samples(litdata.StreamingDataset):
    def __getitem__(self, index: Any) -> Record:
        return Positions(**super().__getitem__(index))
