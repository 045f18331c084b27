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
        for end in (index[0], index[-1]) if index else ():
            position(end, len(rows))
        places = as_array(index)
    elif hasattr(index, "__array__"):
        places = _array(np.asarray(index), len(rows))
    else:
        found = list(index)
        if found and all(map(is_bool, found)):
            places = _array(np.array(found, bool), len(rows))
        else:
            places = positions(found, len(rows))
    return take(rows, np.where(places < 0, places + len(rows), places))


def positions(indices: Iterable[Any], length: int) -> npt.NDArray[np.int64]:
    """Indices, none of them a boolean, after checking that samples have them."""
    found = list(indices)
    if {*map(type, found)} <= {int}:
        return _array(np.array(found, np.int64), length)
    return np.array([position(item, length) for item in found], np.int64)


def _array(index: npt.NDArray[Any], length: int) -> npt.NDArray[np.int64]:
    if index.ndim != 1:
        raise TypeError(
            f"select samples: found an array of {index.ndim} dimensions, expected one\n"
            f"hint: {_HINT}"
        )
    if index.dtype == np.bool_:
        if len(index) != length:
            raise IndexError(
                f"select samples: found {len(index):,} booleans, expected one for each of the "
                f"{length:,} samples"
            )
        return np.flatnonzero(index)
    if not len(index):
        return np.empty(0, np.int64)
    if index.dtype.kind not in "iu":
        raise TypeError(
            f"select samples: found an array of {index.dtype}, expected integers or booleans\n"
            f"hint: {_HINT}"
        )
    for end in (int(index.min()), int(index.max())):
        position(end, length)
    return index.astype(np.int64, copy=False)


def is_bool(index: object) -> bool:
    """Whether it is one bool, NumPy's or torch's."""
    return isinstance(index, (bool, np.bool_)) or (
        str(getattr(index, "dtype", "")) == "torch.bool" and np.ndim(index) == 0  # type: ignore[arg-type]
    )
