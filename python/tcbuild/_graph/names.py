"""What the name of a gene means, by the rules of the program's package ingest/names, whose table of
cases tests both: the id of a gene of the graph or of another that its sources know, then the name
by which genes are called, then further names; then the same in any case, if the graph ignores case;
then ids without their version, and numbers as pandas writes them (7157.0).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from tcbuild._graph.near import near_names
from tcbuild.errors import UnknownNameError

# Texts that mean a missing value, as in pandas.read_csv.
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
_VERSIONED = r"((?:ENS[A-Z]*[GTP][0-9]{11}|[NX][MRP]_[0-9]+)\.[0-9]+|[1-9][0-9]*\.0)\Z"
_MONTHS = (
    "jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|mär|mrz|mai|okt|dez|janv|févr|mars|avr|juin"
    "|juil|août|déc|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|fev|out|mrt|mei|maj"
)
_DATE = re.compile(  # what Excel makes of SEP7 and MARCH1
    rf"((?i:[0-9]{{1,2}}[-. ]+(?:{_MONTHS})\.?(?:[-. ]+(?:[0-9]{{2}}){{1,2}})?)"
    rf"|(?i:(?:{_MONTHS})[- ]0[0-9])"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)-[0-9]{2}"
    r"|(?:19|20)[0-9]{2}[-/](?:0[1-9]|1[0-2])[-/][0-3][0-9](?:[ T]00:00:00)?"
    r"|[0-9]{1,2}/[0-9]{1,2}/(?:[0-9]{2}){1,2}|[0-9]{1,2}\.[0-9]{1,2}\.(?:19|20)[0-9]{2}"
    r"|[0-9]{1,2}[月월] ?[0-9]{1,2}[日일])\Z"
)


class Names:
    """Finds genes by id, name and aliases in nodes/gene (genes) and names/gene (others)."""

    def __init__(self, genes: pa.Table, others: pa.Table | None, ignore_case: bool):
        tables = [genes] if others is None else [genes, others]
        self.ids: list[str] = [text for t in tables for text in t.column("id").to_pylist()]
        self._genes = len(genes)
        self._versioned = re.compile(_VERSIONED, re.IGNORECASE if ignore_case else 0)
        called = [names for t in tables for names in _texts(t, "name")]
        further = [names for t in tables for names in _texts(t, "aliases")]
        self._levels = [[[text] for text in self.ids], called, further]
        self._exact = owners_of_names(self._levels)
        self._folded = owners_of_names(self._levels, str.lower) if ignore_case else {}
        # By which genes are shown: their own name, unless it means another gene, or several.
        self.labels = [
            next((name for name in called[gene] if self._exact[name] == [gene]), self.ids[gene])
            for gene in range(self._genes)
        ]

    def owners(self, name: str) -> list[int]:
        """The genes that have a name; those below the number of genes are in the graph."""
        found = self._exact.get(name) or self._folded.get(name.lower())
        if not found and self._versioned.match(name):
            return self.owners(name.rpartition(".")[0])
        return found or []

    def has(self, name: str) -> bool:
        """Whether a gene, in the graph or not, has a name as it is written."""
        return name in self._exact

    def is_in_graph(self, gene: int) -> bool:
        return gene < self._genes

    def gene(self, name: str) -> int | None:
        """The index of the gene of the graph that a name means."""
        owners = self.owners(name)
        return owners[0] if len(owners) == 1 and self.is_in_graph(owners[0]) else None

    def index(self, name: str, doing: str = "") -> int:
        """The index of the gene that a name means, UnknownNameError if that is not one."""
        owners = self.owners(name)
        ids = [self.ids[gene] for gene in owners]
        outside = all(gene >= self._genes for gene in owners)
        if len(owners) == 1 and not outside:
            return owners[0]
        shown = f"{name[:100]!r}"
        if owners and not outside:
            why = f"name {shown} is ambiguous: it is a name of {' and '.join(ids)}"
            hint = "write the id of the gene that is meant"
        elif owners:
            why = f"gene {shown} ({' or '.join(ids)}) is not in the graph ({self._genes:,} genes)"
            hint = "build the dataset on a graph that has the gene"
        elif is_date(name):
            why = f"{shown} is a date, as Excel makes of names such as SEP7"
            hint = "write the gene's name again"
        else:
            why = f"found no gene {shown} among {self._genes:,}"
            known = [
                name
                for name, genes in self._exact.items()
                if len(genes) == 1 and genes[0] < self._genes
            ]
            near = near_names(name, known)
            example = f"names are, for example, {', '.join(map(repr, self.labels[:5]))}"
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else example
        raise UnknownNameError(f"{doing}{why}\nhint: {hint}")


def is_date(name: str) -> bool:
    """Whether a name is a date, as Excel makes of names such as SEP7."""
    return _DATE.match(name) is not None


def owners_of_names(
    levels: Sequence[Iterable[Sequence[str]]], fold: Callable[[str], str] = str
) -> dict[str, list[int]]:
    """The genes of each name at the first level that has it, in order."""
    found: dict[str, list[int]] = {}
    for level in levels:
        added: dict[str, list[int]] = {}
        for gene, names in enumerate(level):
            for name in names:
                if (key := fold(name)) not in found and gene not in added.get(key, ()):
                    added.setdefault(key, []).append(gene)
        found |= added
    return found


def _texts(table: pa.Table, column: str) -> list[list[str]]:
    """The names in each row of a column of texts, or of lists. In text, | joins aliases."""

    def names(row: Any) -> list[Any]:
        if isinstance(row, str):
            return row.split("|") if column == "aliases" else [row]
        return row if isinstance(row, list) else []

    if column not in table.column_names:
        return [[] for _ in range(len(table))]
    return [
        [text for text in names(row) if isinstance(text, str) and text and "|" not in text]
        for row in table.column(column).to_pylist()
    ]
