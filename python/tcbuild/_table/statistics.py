"""Statistics of a column of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_STEP = 1 << 20  # values at a time, so that no copy of all is made
QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Statistics:
    """Of the values that are there; NaN where there are too few.

    count: values that are there. missing: samples without one. sd: standard deviation of a sample,
    as pandas has it (divided by count - 1). quantiles: values by their share, interpolated
    linearly; 0 is the smallest value and 1 the largest.
    """

    count: int
    missing: int
    mean: float
    sd: float
    quantiles: dict[float, float]

    @classmethod
    def of(
        cls, values: npt.NDArray[np.float64], quantiles: Sequence[float] = QUANTILES
    ) -> Statistics:
        present = values[~np.isnan(values)]
        count = len(present)
        nan = float("nan")
        mean = float(present.mean()) if count else nan
        steps = (present[start : start + _STEP] - mean for start in range(0, count, _STEP))
        sd = (
            math.sqrt(sum(float(step @ step) for step in steps) / (count - 1)) if count > 1 else nan
        )
        found = [nan] * len(quantiles)
        if count:
            found = np.quantile(present, quantiles, overwrite_input=True).tolist()
        return cls(count, len(values) - count, mean, sd, dict(zip(quantiles, found)))
