"""Which names of genes an unknown one may be, by the rules of the program's package ingest/names,
whose table of cases tests both.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """At most 3 names that take the fewest edits, one, or two from 7 characters, and of them those
    that share the longest prefix with it. Leading zeros of numbers take no edit.
    """
    word, limit = name.lower(), 2 if len(name) >= 7 else 1
    found = []
    for one in known:
        other = one.lower()
        if _without_zeros(word) == _without_zeros(other):
            edits = 0
        elif abs(len(word) - len(other)) <= limit:
            edits = _edits(word, other)
        else:
            continue
        if edits <= limit and edits < len(other) and not _replaces_digit(word, other):
            found.append((edits, -len(os.path.commonprefix([word, other])), one))
    return [one for *rank, one in sorted(found) if rank == [*min(found)[:2]]][:3]


def _without_zeros(name: str) -> str:
    return re.sub("(^|[^0-9])0+([0-9])", r"\1\2", name)


def _replaces_digit(a: str, b: str) -> bool:
    """RAD55 and RAD50 are two genes, and not one of them misspelled."""
    x, y = (sorted(re.sub("[^0-9]", "", name)) for name in (a, b))
    return len(x) == len(y) and x != y


def _edits(a: str, b: str) -> int:
    """The Levenshtein distance in which swapping two neighbours counts once."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a):
        row = [i + 1]
        for j, y in enumerate(b):
            row.append(min(last[j] + (x != y), last[j + 1] + 1, row[j] + 1))
            if i and j and x == b[j - 1] and a[i - 1] == y:
                row[-1] = min(row[-1], before[j - 1] + 1)
        before, last = last, row
    return last[-1]
