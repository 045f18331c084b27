"""A loader that goes on where it was: after a batch, on other ranks, with other workers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from tcbuild._dataset import opened
from tcbuild._masks.layout import Form
from tcbuild.torch._batch import collate
from tcbuild.torch._order import Order


class ResumableLoader(torch.utils.data.DataLoader[Any]):
    """torch's DataLoader that, with an Order as its sampler, goes on after the last batch given:
    workers and the sampler are ahead of it.

    device: where batches are moved; None leaves them where they are
    """

    def __init__(self, *arguments: Any, device: Any = None, **options: Any):
        self.device = device
        self._batches = self._total = 0  # given in this epoch, and of the whole epoch
        self._resumed = 0  # batches given in this epoch before it was resumed
        self._position: int | None = None  # after the last batch given
        super().__init__(*arguments, **options)

    @property
    def _order(self) -> Order | None:
        whole = isinstance(self.sampler, Order) and self.batch_size is not None
        return self.sampler if whole else None  # type: ignore[return-value]

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        if (order := self._order) is None:
            yield from map(self._moved, super().__iter__())
            return
        _warn_of_all_samples(order)
        start, step = order.position, (self.batch_size or 1) * order.num_replicas
        self._total = len(self)
        before, self._resumed = self._resumed, 0
        self._position, self._batches = start, before
        try:
            for number, batch in enumerate(super().__iter__(), 1):
                self._position = min(start + number * step, order.samples)
                self._batches = before + number
                yield self._moved(batch)
        finally:
            self._total = 0
        order.set_epoch(order.epoch + 1)
        self._position, self._batches = None, 0

    def _moved(self, batch: Any) -> Any:
        return batch if self.device is None else batch.to(self.device)

    def __len__(self) -> int:
        """Batches of the epoch: those given before it was resumed, and those left."""
        return self._total or self._resumed + super().__len__()

    def state_dict(self) -> dict[str, Any]:
        """Seed, epoch and position, for any number of ranks and workers. Empty without an Order."""
        if (order := self._order) is None:
            _warn_of_no_order("save the state of a loader: found no Order as its sampler")
            return {}
        position = {} if self._position is None else {"position": self._position}
        return order.state_dict() | position | {"batches": self._batches}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues after the last batch that was returned before the state was saved.

        Args:
            state: of state_dict; a ValueError if it belongs to other samples
        """
        if (order := self._order) is None or not state:
            found = "the empty state of a loader without an Order" if order else "no Order"
            _warn_of_no_order(f"resume a loader: found {found} as its sampler")
            return
        order.load_state_dict(state)
        self._resumed = self._batches = state["batches"]
        self._position = order.position


def _warn_of_no_order(found: str) -> None:
    hint = "sampler=tcbuild.torch.Order(dataset, seed)"
    warnings.warn(f"{found}, so a resumed epoch begins again\nhint: {hint}", stacklevel=3)


def _warn_of_all_samples(order: Order) -> None:
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return
    if order.num_replicas == 1 < (ranks := torch.distributed.get_world_size()):
        warnings.warn(
            f"load batches: each of {ranks} ranks takes all samples\n"
            "hint: Order(dataset, seed, num_replicas, rank)",
            stacklevel=3,
        )


class DataLoader(ResumableLoader):
    """torch's DataLoader, with all of its options, whose batches are Batch.

    Args:
        dataset: a tcbuild.Dataset, a view or a folder; also a Subset or ConcatDataset of them
        batch_size: samples per batch
        shuffle: torch's order, from a list of all indices
        sampler: an Order needs no list, and resumes within an epoch
        masks: `stacked` [B, E] per mask, `concatenated` [B * E], or None, for a MaskGenerator
        attributes: names of attributes to include, for `batch.attribute(name)`
        **options: torch's, and `device`, to which batches are moved (default: the CPU)

    Examples:
        >>> order = tcbuild.torch.Order(dataset, seed=1)
        >>> loader = tcbuild.torch.DataLoader(dataset, 28, sampler=order)
        >>> for epoch in range(2):
        ...     for batch in loader:  # each epoch has its own order
        ...         saved = loader.state_dict()
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        *,
        masks: Form | None = "stacked",
        attributes: Sequence[str] = (),
        **options: Any,
    ):
        collate_fn = partial(collate, masks=masks, attributes=tuple(attributes))
        options.setdefault("collate_fn", collate_fn)
        super().__init__(opened(dataset), batch_size, shuffle, sampler, **options)
