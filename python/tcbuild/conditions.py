"""Conditions on samples, each on one column: what Dataset.where takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild.columns import by_word, lists, numbers, ranks
from tcbuild.errors import unknown_name
from tcbuild.manifest import PERTURBATION_INDICES, SAMPLE_ID

Bounds = tuple[float | None, float | None]  # both inclusive; None is no bound


class Condition(NamedTuple):
    """holds says for the rows of a column which meet it."""

    column: str
    holds: Callable[[pa.ChunkedArray], npt.NDArray[np.bool_]]


def deletes(wanted: str | Sequence[str], genes: Mapping[str, int]) -> Condition:
    """All of some genes, given their indices by name, are deleted."""
    names = _names("genes", wanted)
    for name in names:
        if name not in genes:
            raise unknown_name("gene", name, genes)
    indices = sorted({genes[name] for name in names})

    def holds(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
        found = [np.empty(0, bool)]
        for deleted, bounds in lists(column):
            # A tenth of the time that np.isin takes.
            hits = np.flatnonzero(np.logical_or.reduce([deleted == gene for gene in indices]))
            rows = np.searchsorted(bounds, hits, side="right") - 1
            found.append(np.bincount(rows, minlength=len(bounds) - 1) == len(indices))
        return np.concatenate(found)

    return Condition(PERTURBATION_INDICES, holds)


def deletions(wanted: int | Bounds) -> Condition:
    """The number of deleted genes."""
    meets = _number("deletions", wanted)

    def holds(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
        counts = [np.diff(bounds) for _, bounds in lists(column)]
        return meets(np.concatenate([np.empty(0, np.int32), *counts]))

    return Condition(PERTURBATION_INDICES, holds)


def named(wanted: str | Sequence[str]) -> Condition:
    """The sample's id is one of some."""
    ids = pa.array(_names("sample_ids", wanted), pa.string())
    return Condition(SAMPLE_ID, lambda column: ranks(column, ids) >= 0)


def number(name: str, wanted: Any) -> Condition:
    """A phenotype or attribute that is a number is in a range, one of several, or not missing."""
    meets = _number(name, wanted)
    return Condition(name, lambda column: meets(numbers(column)))


def text(name: str, wanted: Any) -> Condition:
    """An attribute that is text is one of some, or not missing."""
    accepted = None if wanted is None else set(_names(name, wanted))

    def meets(words: list[str | None]) -> npt.NDArray[np.bool_]:
        if accepted is None:
            return np.array([word is not None for word in words])
        return np.array([word in accepted for word in words])

    return Condition(name, lambda column: by_word(column, meets, bool))


def by_name(
    what: str, wanted: str | Sequence[str] | Mapping[str, Any] | None, known: Collection[str]
) -> Iterator[tuple[str, Any]]:
    """The condition on each column that is named."""
    if wanted is None:
        return
    if not isinstance(wanted, Mapping):
        wanted = dict.fromkeys(_names(f"{what}s", wanted))
    for name, condition in wanted.items():
        if name not in known:
            raise unknown_name(what, str(name), known)
        yield name, condition


def _names(what: str, wanted: Any) -> list[str]:
    names = [wanted] if isinstance(wanted, str) else wanted
    if (
        not isinstance(names, (Sequence, np.ndarray, set, frozenset))
        or not len(names)
        or not all(isinstance(name, str) for name in names)
    ):
        raise TypeError(f"where {what}: found {wanted!r:.100}, expected a text or a list of them")
    return list(names)


def _number(what: str, wanted: Any) -> Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]]:
    if wanted is None:
        return lambda values: ~np.isnan(values)
    if _is_number(wanted):
        return lambda values: values == wanted
    if isinstance(wanted, tuple) and len(wanted) == 2:
        if all(bound is None or _is_number(bound) for bound in wanted):
            low, high = (
                unbounded if bound is None else bound
                for bound, unbounded in zip(wanted, (-np.inf, np.inf))
            )
            return lambda values: (values >= low) & (values <= high)
    if isinstance(wanted, list) and all(map(_is_number, wanted)):
        return lambda values: np.isin(values, wanted)
    raise TypeError(
        f"where {what}: found {wanted!r:.100}, expected a number, a list of numbers, a pair (low, "
        "high) or None"
    )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and value == value
