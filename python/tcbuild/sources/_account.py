"""What became of the rows of each source."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from tcbuild.errors import InputError

FILTERED, PAIR_AGAIN = "filtered out", "of repeated pairs"
UNKNOWN, AMBIGUOUS, NO_NODE = "of unknown genes", "of ambiguous names", "of unknown nodes"
_LOST = (UNKNOWN, AMBIGUOUS, NO_NODE)


class Account(dict[str, dict[str, Any]]):
    """By source: rows, kept, dropped by reason, and how often each unknown name occurs."""

    def add(
        self,
        made: str,
        rows: int,
        dropped: Mapping[str, int],
        unknown: Mapping[str, int] | None = None,
        max_dropped: float = 1,
    ) -> None:
        """Adds a source. It is an error if it keeps no row, or loses a greater share of the rows
        that its filter keeps to names than max_dropped.
        """
        kept, dropped = rows - sum(dropped.values()), {why: n for why, n in dropped.items() if n}
        counts = {"rows": rows, "kept": kept, "dropped": dropped}
        self[made] = counts | {"unknown_names": dict(sorted((unknown or {}).items()))}
        lost = sum(n for why, n in dropped.items() if why in _LOST)
        if not kept or lost > max_dropped * (rows - dropped.get(FILTERED, 0)):
            raise InputError(
                f"read {self.line(made)}; expected to keep rows, and to lose at most "
                f"{max_dropped:.4g} of them to names",
                "check that it is the right file, and the columns of names; add_names adds other "
                "names of genes, and max_dropped allows a greater share",
            )

    def line(self, made: str) -> str:
        """The account of one source."""
        source = self[made]
        text = f"{made}: kept {source['kept']:,} of {source['rows']:,} rows"
        if why := _why(source):
            text += f"; dropped: {why}"
        if names := [*source["unknown_names"]]:
            more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
            text += f"; unknown names: {', '.join(names[:5])}{more}"
        return text

    def __repr__(self) -> str:
        return "\n".join(map(self.line, self))

    def _repr_html_(self) -> str:
        pandas = import_module("pandas")
        rows = [
            (made, f"{of['rows']:,}", f"{of['kept']:,}", f"{of['rows'] - of['kept']:,}", _why(of))
            for made, of in self.items()
        ]
        frame = pandas.DataFrame(rows, columns=["", "rows", "kept", "dropped", "why"])
        with pandas.option_context("display.max_colwidth", None):
            return str(frame.to_html(index=False, justify="left"))


def _why(source: Mapping[str, Any]) -> str:
    return ", ".join(f"{n:,} {reason}" for reason, n in source["dropped"].items())
