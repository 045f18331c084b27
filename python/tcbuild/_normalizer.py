"""Normalisation of phenotypes, fitted on training samples, for NumPy arrays and torch tensors."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tcbuild._table.statistics import Statistics

if TYPE_CHECKING:
    from tcbuild._dataset import Dataset

Kind = Literal["standard", "min-max", "quantile"]
_KINDS = ("standard", "min-max", "quantile")
_POINTS = 1000  # of a quantile scale at most
_TYPE = "tcbuild normalizer 1"


@dataclass(frozen=True)
class Scale:
    """How one phenotype is normalised.

    count: values that it was fitted on
    shift, scale: a value becomes (value - shift) / scale
    values, levels: of a quantile scale instead: values[i] becomes levels[i], and what lies between
        or beyond them goes in a straight line
    """

    name: str
    count: int
    shift: float
    scale: float
    values: tuple[float, ...] = ()
    levels: tuple[float, ...] = ()


@dataclass(frozen=True)
class Normalizer:
    """Brings phenotypes to one scale and back. Missing values, NaN, stay missing.

        train = dataset[train_indices]
        normalizer = tcbuild.Normalizer.fit(train, ["fitness", "growth"])
        target = normalizer.transform(batch.phenotypes[:, [0, 1]])
        normalizer.save("normalizer.json")
        prediction = tcbuild.Normalizer.load("normalizer.json").inverse(output)

    kind: `standard`: mean 0 and standard deviation 1 (of Dataset.statistics); `min-max`: 0 to 1;
        `quantile`: the share of smaller values, 0 to 1, by up to 1,000 quantiles
    scales: one per phenotype, in the order of the last axis of what is normalised
    logical_content: of the dataset it was fitted on

    Values outside of those that it was fitted on become levels outside, never cut, so inverse is
    exact for them too.
    """

    kind: Kind
    scales: tuple[Scale, ...]
    logical_content: str

    @classmethod
    def fit(
        cls, dataset: Dataset, phenotypes: str | Sequence[str], kind: Kind = "standard"
    ) -> Normalizer:
        """Fits on all samples of a dataset or view, so pass the view of the training samples.

        A phenotype with fewer than two different values is a ValueError.
        """
        if kind not in _KINDS:
            raise ValueError(f"fit a normalizer: kind {kind!r}\nhint: use one of {_KINDS}")
        names = [phenotypes] if isinstance(phenotypes, str) else list(phenotypes)
        if not names:
            raise ValueError("fit a normalizer: found no phenotype\nhint: name one")
        scales = tuple(_fit(name, dataset.phenotype(name), kind) for name in names)
        return cls(kind, scales, dataset.manifest["logical_content"])

    def transform(self, values: Any) -> Any:
        """Normalises an array or tensor [..., P] of P phenotypes, of one in any shape."""
        return self._each(values, _forward)

    def inverse(self, levels: Any) -> Any:
        """What transform made of it."""
        return self._each(levels, _back)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as JSON; the file appears complete."""
        text = json.dumps({"type": _TYPE, **asdict(self)}, indent=1)
        building = Path(f"{path}.building")
        building.write_text(f"{text}\n", encoding="utf-8")
        os.replace(building, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Normalizer:
        """Reads what save wrote; anything else is a ValueError."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if content.pop("type") != _TYPE or content["kind"] not in _KINDS:
                raise ValueError(f"it is not of type {_TYPE!r}")
            scales = tuple(_checked(scale, content["kind"]) for scale in content.pop("scales"))
            if not scales:
                raise ValueError("it is of no phenotype")
            return cls(scales=scales, **content)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(
                f"read {path}: {error!s:.200}, expected a normalizer\n"
                "hint: name a file that Normalizer.save wrote"
            ) from error

    def _each(self, values: Any, convert: Any) -> Any:
        """Converts each phenotype's values by its scale."""
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(values, torch.Tensor):
            library: Any = torch
        else:
            library, values = np, np.asarray(values)
        if not str(values.dtype).removeprefix("torch.").startswith(("float", "bfloat", "int")):
            raise TypeError(f"normalise: found {values.dtype}, expected numbers")
        if len(self.scales) == 1:
            return convert(library, values, self.scales[0])
        if not values.shape or values.shape[-1] != len(self.scales):
            raise ValueError(
                f"normalise: found the shape {tuple(values.shape)}, expected a last axis of "
                f"{len(self.scales)}, one for each of {[scale.name for scale in self.scales]}"
            )
        columns = [convert(library, values[..., i], scale) for i, scale in enumerate(self.scales)]
        return library.stack(columns, -1)


def _fit(name: str, values: Any, kind: Kind) -> Scale:
    found = Statistics.of(values)
    low, high = found.quantiles[0.0], found.quantiles[1.0]
    if not low < high or not math.isfinite(high - low):
        raise ValueError(
            f"fit a normalizer: phenotype {name!r:.100} has {found.count:,} values from {low} to "
            f"{high}, expected two different ones\nhint: leave it out, or fit on more samples"
        )
    if kind == "standard":
        return Scale(name, found.count, found.mean, found.sd)
    if kind == "min-max":
        return Scale(name, found.count, low, high - low)
    levels = np.linspace(0, 1, min(_POINTS, found.count))
    points = np.quantile(values[~np.isnan(values)], levels)
    # A value that many samples have is several quantiles: it gets the middle of their levels.
    distinct, rank = np.unique(points, return_inverse=True)
    middle = np.bincount(rank, levels) / np.bincount(rank)
    return Scale(name, found.count, 0.0, 1.0, tuple(distinct.tolist()), tuple(middle.tolist()))


def _forward(library: Any, values: Any, scale: Scale) -> Any:
    if not scale.values:
        return (values - scale.shift) / scale.scale
    return _interpolate(library, values, scale.values, scale.levels)


def _back(library: Any, levels: Any, scale: Scale) -> Any:
    if not scale.values:
        return levels * scale.scale + scale.shift
    return _interpolate(library, levels, scale.levels, scale.values)


def _interpolate(
    library: Any, found: Any, points: tuple[float, ...], levels: tuple[float, ...]
) -> Any:
    """The level of each value, in a straight line between and beyond the points."""
    if library is np:
        wide, kind = found.astype(np.float64), np.result_type(found, np.float16)
        xs, ys = np.array(points), np.array(levels)
    else:  # in 32 bits, neighbouring points could be the same
        wide, kind = found.double().contiguous(), found.dtype
        xs, ys = wide.new_tensor(points), wide.new_tensor(levels)
    left = library.clip(library.searchsorted(xs, wide) - 1, 0, len(points) - 2)
    slope = (ys[left + 1] - ys[left]) / (xs[left + 1] - xs[left])
    converted = ys[left] + (wide - xs[left]) * slope
    return converted.astype(kind) if library is np else converted.to(kind)


def _checked(content: dict[str, Any], kind: str) -> Scale:
    scale = Scale(
        **{**content, "values": tuple(content["values"]), "levels": tuple(content["levels"])}
    )
    numbers = [scale.shift, scale.scale, *scale.values, *scale.levels]
    if not all(isinstance(number, float) and math.isfinite(number) for number in numbers):
        raise ValueError(f"{scale.name}: its numbers are not finite")
    ascending = all(np.all(np.diff(points) > 0) for points in (scale.values, scale.levels))
    points = len(scale.values)
    if not ascending or scale.scale <= 0 or points != len(scale.levels):
        raise ValueError(f"{scale.name}: its points do not ascend")
    if (points >= 2) != (kind == "quantile"):
        raise ValueError(f"{scale.name}: it is of another kind than {kind}")
    return scale
