"""Repeated genotypes of a batch, whose masks are worked out once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

T = TypeVar("T")


def per_genotype(
    genes: npt.NDArray[np.integer[Any]], ptr: npt.NDArray[np.int64], find: Callable[[int], T]
) -> list[T]:
    """find(b) for each sample b, called for the first of those that delete the same genes.

    genes, ptr: sample b deletes genes[ptr[b]:ptr[b + 1]], ascending
    """
    firsts, numbers = _distinct(genes, ptr)
    found = [find(b) for b in firsts]
    return [found[number] for number in numbers]


class Genotypes(NamedTuple):
    """The genotypes of a batch in which most samples repeat one, on its device.

    genes, ptr: genotype g deletes genes[ptr[g]:ptr[g + 1]]. numbers: int64 [B], each sample's
    """

    genes: Tensor
    ptr: Tensor
    numbers: Tensor

    @classmethod
    def of(
        cls, genes: npt.NDArray[np.integer[Any]], ptr: npt.NDArray[np.int64]
    ) -> Genotypes | None:
        """On the host; None if few samples repeat one, so that it costs more than it saves."""
        firsts, numbers = _distinct(genes, ptr)
        if 2 * len(firsts) >= len(numbers):
            return None
        parts = [genes[ptr[b] : ptr[b + 1]] for b in firsts]
        ends = np.cumsum([0, *map(len, parts)])
        found = np.concatenate(parts).astype(np.int64), ends, np.array(numbers)
        return cls(*map(torch.from_numpy, found))

    def to(self, device: torch.device) -> Genotypes:
        return Genotypes(*(each.to(device, non_blocking=True) for each in self))


def _distinct(
    genes: npt.NDArray[np.integer[Any]], ptr: npt.NDArray[np.int64]
) -> tuple[list[int], list[int]]:
    """The first sample of each genotype, and the number of each sample's genotype."""
    known: dict[bytes, int] = {}
    firsts: list[int] = []
    numbers: list[int] = []
    for sample, (start, end) in enumerate(pairwise(ptr.tolist())):
        number = known.setdefault(genes[start:end].tobytes(), len(known))
        if number == len(firsts):
            firsts.append(sample)
        numbers.append(number)
    return firsts, numbers
