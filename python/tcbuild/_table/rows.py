"""Which samples an index, a slice, a list or a boolean array selects."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tcbuild._table.columns import Rows, as_array, take

_HINT = "pass an index, a slice, a list or array of indices, or a boolean array"


def position(index: object, length: int) -> int:
    """An index from the end counted from the beginning."""
    if type(index) is not int and is_bool(index):
        raise TypeError(
            f"select a sample: found the boolean {index}, expected an index\n"
            "hint: dataset[booleans] takes an array of them, Subset(dataset, indices) their "
            "indices: np.flatnonzero(booleans)"
        )
    try:
        number = operator.index(index)  # type: ignore[arg-type]
    except TypeError:
        hint = f"{_HINT}; index_of(ID) is the index of a sample's id"
        raise TypeError(f"select samples: found {type(index).__name__}\nhint: {hint}") from None
    if not -length <= number < length:
        raise IndexError(
            f"select sample {number}: expected one of {length:,} samples\n"
            "hint: indices count from 0, or with -1 from the end; a view's count within it"
        )
    return number % length


def selects_several(index: object) -> bool:
    """Whether it is a slice or an ordered collection, such as a list, range, array or tensor."""
    if hasattr(index, "__array__"):
        return bool(np.ndim(index))
    return isinstance(index, (slice, Sequence)) and not isinstance(index, (str, bytes))


def selected(rows: Rows, index: Any) -> Rows:
    """The rows that a slice, a list of indices or a boolean array selects among rows."""
    if isinstance(index, slice):
        return rows[index]
    if isinstance(index, range):
        index = as_array(index)
    elif not hasattr(index, "__array__"):
        index = list(index)
        if not (index and all(map(is_bool, index))):
            return take(rows, positions(index, len(rows)))
    return take(rows, _places(np.asarray(index), len(rows)))


def positions(indices: Iterable[Any], length: int) -> npt.NDArray[np.int64]:
    """Indices, none of them a boolean, counted from the beginning."""
    found = list(indices)
    if {*map(type, found)} <= {int}:
        return _places(np.array(found, np.int64), length)
    return np.array([position(item, length) for item in found], np.int64)


def _places(index: npt.NDArray[Any], length: int) -> npt.NDArray[np.int64]:
    if index.dtype == np.bool_ and index.shape != (length,):
        raise IndexError(
            f"select samples: found {index.size:,} booleans, expected one for each of the "
            f"{length:,} samples"
        )
    if index.dtype == np.bool_:
        return np.flatnonzero(index)
    if index.ndim != 1 or (len(index) and index.dtype.kind not in "iu"):
        raise TypeError(
            f"select samples: found an array of {index.dtype} of {index.ndim} dimensions, expected "
            f"one of integers or booleans\nhint: {_HINT}"
        )
    for end in (index.min(), index.max()) if len(index) else ():
        position(int(end), length)
    index = index.astype(np.int64, copy=False)
    return np.where(index < 0, index + length, index)


def is_bool(index: object) -> bool:
    """Whether it is one bool, NumPy's or torch's."""
    return isinstance(index, bool) or str(getattr(index, "dtype", "")) in ("bool", "torch.bool")
