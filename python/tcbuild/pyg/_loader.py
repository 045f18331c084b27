"""Loaders of batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tcbuild
from tcbuild._dataset import opened
from tcbuild.pyg._collate import Collater
from tcbuild.pyg._dataset import Dataset
from tcbuild.torch._loader import ResumableLoader


class DataLoader(ResumableLoader):
    """torch's DataLoader, with all of its options, whose batches are Batch.

    Args:
        dataset: a Dataset, a Subset or ConcatDataset of some; or a tcbuild.Dataset, a view, or a
            folder, with one phenotype
        batch_size: samples per batch
        shuffle: torch's order. sampler=tcbuild.torch.Order(dataset, seed) needs no list of all
            indices, and resumes within an epoch
        follow_batch: keys of node types to which KEY_batch and KEY_ptr are added
        attributes: names of attributes to include, for `batch.attribute(name)`
        **options: torch's, and `device`, on which batches are made

    Examples:
        >>> loader = tcbuild.pyg.DataLoader(tcbuild.pyg.Dataset(dataset, ["fitness"]), 28)
    """

    collater: Callable[..., Any] = Collater
    dataset_type: type[Dataset] = Dataset

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        follow_batch: Sequence[str] | str | None = None,
        attributes: Sequence[str] = (),
        **options: Any,
    ):
        options.pop("collate_fn", None)  # Lightning passes on the one that it finds
        self.follow_batch, self.attributes = follow_batch, attributes  # where Lightning looks
        collate = self.collater(follow_batch, attributes)
        if isinstance(found := opened(dataset), tcbuild.Dataset):
            found = self.dataset_type(found)
        super().__init__(found, batch_size, shuffle, collate_fn=collate, **options)
