"""Repeated genotypes of a batch, whose masks are worked out once."""

from __future__ import annotations

from collections.abc import Callable
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
    found: dict[bytes, T] = {}
    every = []
    for sample, (start, end) in enumerate(zip(ptr.tolist(), ptr[1:].tolist())):
        genotype = genes[start:end].tobytes()
        if genotype not in found:
            found[genotype] = find(sample)
        every.append(found[genotype])
    return every
