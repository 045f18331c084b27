"""Statistics of a column of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
        count, nan = len(present), float("nan")
        mean, found = nan, [nan] * len(quantiles)
        if count:
            mean, found = float(present.mean()), np.quantile(present, quantiles).tolist()
        sd = float(present.std(ddof=1)) if count > 1 else nan
        return cls(count, len(values) - count, mean, sd, dict(zip(quantiles, found)))
