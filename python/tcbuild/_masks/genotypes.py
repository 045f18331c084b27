"""Repeated genotypes of a batch, whose masks are read once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")


def per_genotype(
    genes: npt.NDArray[np.integer[Any]], ptr: npt.NDArray[np.int64], find: Callable[[int], T]
) -> list[T]:
    """find(b) for each sample b, called for the first of those that delete the same genes.

    genes, ptr: sample b deletes genes[ptr[b]:ptr[b + 1]], ascending
    """
    known: dict[bytes, T] = {}
    found = []
    for sample, (start, end) in enumerate(pairwise(ptr.tolist())):
        key = genes[start:end].tobytes()
        if key not in known:
            known[key] = find(sample)
        found.append(known[key])
    return found
