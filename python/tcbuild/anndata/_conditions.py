"""Conditions of cells, such as ctrl, A+ctrl and A+B, as the genes that they delete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from difflib import get_close_matches

_DELIMITERS = ("+", "_", " || ", ";", ",", "|", "/", " ")
_LISTED = 5  # names in an error


class ConditionError(ValueError):
    """A condition cannot be interpreted; `hint` says how to fix it."""

    def __init__(self, found: str, hint: str):
        super().__init__(found)
        self.hint = hint


class Conditions:
    """Takes conditions apart. Controls stand where a gene does, and delete nothing; one that
    contains the delimiter is a name all the same. genes: the graph's, None if unknown.
    """

    def __init__(self, delimiter: str, controls: Sequence[str], genes: Set[str] | None):
        if not delimiter:
            raise ValueError("read conditions: found an empty delimiter, expected a text")
        for name in controls:
            if not name or name.strip() != name:
                raise ValueError(
                    f"read conditions: found the control {name!r}, expected a name without spaces "
                    "around it"
                )
            if genes is not None and name in genes:
                raise ValueError(
                    f"read conditions: found the control {name!r}, which is a gene of the graph\n"
                    "hint: remove it from controls, or rename the gene"
                )
        self.delimiter, self.controls, self._genes = delimiter, frozenset(controls), genes
        self._spanning = sorted((name for name in controls if delimiter in name), key=len)[::-1]

    def deleted(self, condition: str) -> list[str]:
        """The genes of a condition, as often as it names them; ConditionError for a name that can
        only be a slip.
        """
        genes = [name for name in self.names(condition) if name not in self.controls]
        for name in genes:
            if not name:
                raise ConditionError(
                    f"found no name beside {self.delimiter!r}",
                    "correct the condition, or name another delimiter",
                )
            if name.strip() != name:
                raise ConditionError(
                    f"found {name!r}, expected a name without spaces around it",
                    "correct the condition, or name the delimiter with its spaces",
                )
            if "|" in name:
                raise ConditionError(
                    f"found {name!r}, expected a name without |, which separates genes in a set",
                    "correct the condition, or name the delimiter: delimiter='|'",
                )
        return genes

    def names(self, text: str) -> Iterator[str]:
        """The names of a condition, including controls."""
        while True:
            ends = (
                len(name)
                for name in self._spanning
                if f"{text}{self.delimiter}".startswith(name + self.delimiter)
            )
            end = next(ends, text.find(self.delimiter))
            if end < 0 or end == len(text):
                yield text
                return
            yield text[:end]
            text = text[end + len(self.delimiter) :]

    def check_known(self, genotypes: Mapping[str, list[str]], cells: Mapping[str, int]) -> None:
        """ConditionError for names that no gene has.

        genotypes: the genes of each condition. cells: how many have the condition
        """
        if self._genes is None:
            return
        unknown: Counter[str] = Counter()
        for condition, names in genotypes.items():
            for name in {*names} - self._genes:
                unknown[name] += cells[condition]
        if not unknown:
            return
        listed = ", ".join(f"{name!r} ({count:,})" for name, count in unknown.most_common(_LISTED))
        more = f" and {len(unknown) - _LISTED:,} more" if len(unknown) > _LISTED else ""
        raise ConditionError(
            f"found names, with their cells, that none of {len(self._genes):,} genes has: "
            f"{listed}{more}",
            self._meaning(unknown.most_common(1)[0][0]),
        )

    def _meaning(self, name: str) -> str:
        """What an unknown name may mean."""
        assert self._genes is not None
        for delimiter in _DELIMITERS:
            parts = name.split(delimiter)
            if len(parts) > 1 and self._genes >= {*parts} - self.controls:
                return f"{name!r:.100} is a list of genes: delimiter={delimiter!r}"
        if near := get_close_matches(name[:100], self._genes, 1):
            return f"did you mean {near[0]!r} by {name!r:.100}?"
        return (
            "correct the names, or name those of controls in controls; without genes=, the build "
            "decides by --unknown-genes"
        )
