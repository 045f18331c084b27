"""Ontologies in OBO, and the genes that their terms annotate."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import polars as pl
from obonet.read import get_sections

from tcbuild.errors import InputError
from tcbuild.sources._edges import add_edges
from tcbuild.sources._files import open_text, read_csv
from tcbuild.sources._genes import Column
from tcbuild.sources._graph import Graph

_TERM = "gene_ontology"
_GAF = (
    "db db_object_id db_object_symbol qualifier go_id reference evidence with_from aspect "
    "db_object_name db_object_synonym db_object_type taxon date assigned_by extension "
    "gene_product_form"
).split()


def gaf(file: str | os.PathLike[str]) -> pl.DataFrame:
    """Reads annotations of genes with terms.

    Args:
        file: in the format GAF 1 or 2; may be compressed

    Examples:
        >>> annotations = tcbuild.sources.gaf("sgd.gaf")
    """
    found = read_csv(file, header=False, comment="!")
    found.columns = _GAF[: found.width]
    return found


def add_ontology(
    graph: Graph,
    file: str | os.PathLike[str],
    annotations: pl.DataFrame,
    *,
    gene: Column = "db_object_id",
    relations: Mapping[str, str] | None = None,
    where: pl.Expr | None = None,
    max_dropped: float = 0.5,
) -> None:
    """Adds the terms of an ontology that are not obsolete as nodes gene_ontology, and their
    relations to each other and to genes.

    Alternative ids, and obsolete terms with one replacement, mean the current term.

    Args:
        graph: has the genes already
        file: an ontology in OBO; may be compressed (.gz)
        annotations: as gaf reads them. A gene and a term share an edge of the relation
            has_annotation, with all evidence and qualifiers; those with NOT make no edges
        gene: the column of genes, by any name
        relations: those that become edges, by their names in the file; else is_a and part_of
        where: which annotations are read
        max_dropped: the largest share of annotations that unknown or ambiguous names may drop

    Examples:
        >>> annotations = tcbuild.sources.gaf("sgd.gaf")
        >>> tcbuild.sources.add_ontology(graph, "go.obo", annotations)
    """
    try:
        with open_text(file) as lines:
            _, terms, _, header = get_sections(lines)
        current = _current(terms)
    except (ValueError, LookupError) as error:
        message = f"read ontology {file}: {' '.join(str(error).split()):.300}"
        raise InputError(message, "use an ontology in OBO as released") from error
    space = header.get("default-namespace", [""])[0]
    nodes = [term for term in terms if term.get("is_obsolete") != "true"]
    graph[_TERM] = pl.DataFrame(
        {
            "id": [term["id"] for term in nodes],
            "name": [_plain(term.get("name", "")) for term in nodes],
            "namespace": [_plain(term.get("namespace", space)) for term in nodes],
        }
    )
    graph.account.add(_TERM, len(terms), len(nodes), {"obsolete": len(terms) - len(nodes)})
    parents = [(t["id"], "is_a", other) for t in nodes for other in t.get("is_a", ())]
    parents += [(t["id"], *r.split()[:2]) for t in nodes for r in t.get("relationship", ())]
    chosen = {"is_a": "is_a", "part_of": "part_of"} if relations is None else relations
    for name in dict.fromkeys(chosen.values()):
        pairs = [
            (a, current.get(b, b)) for a, relation, b in parents if chosen.get(relation) == name
        ]
        if pairs:
            edges = pl.DataFrame([*dict.fromkeys(pairs)], ["src", "dst"], orient="row")
            kind = (_TERM, name, _TERM)
            add_edges(graph, kind, edges, src="src", dst="dst", undirected=False, max_dropped=1)
    kind = ("gene", "has_annotation", _TERM)
    holds = ~pl.col("qualifier").fill_null("").str.contains("(?i)not")
    add_edges(
        graph,
        kind,
        annotations,
        src=gene,
        dst=pl.col("go_id").replace(current),
        keep=["evidence", "qualifier"],
        where=holds if where is None else holds & where,
        undirected=False,
        max_dropped=max_dropped,
    )
    texts = pl.col("evidence", "qualifier").drop_nulls().unique(maintain_order=True).str.join("|")
    graph[kind] = graph[kind].group_by("src", "dst", maintain_order=True).agg(texts)


def _current(terms: list[dict[str, Any]]) -> dict[str, str]:
    """The current terms of alternative ids, and of obsolete terms that one term replaces."""
    found: dict[str, dict[str, Any]] = {}
    for term in terms:
        if found.setdefault(term["id"], term) is not term:
            raise ValueError(f"found term {term['id']} twice")
    obsolete = {id for id, term in found.items() if term.get("is_obsolete") == "true"}
    current: dict[str, str] = {}
    for id in found.keys() - obsolete:
        for other in found[id].get("alt_id", ()):
            if current.setdefault(other, id) != id:
                raise ValueError(f"found {other} as alternative id of two terms")
    for id in found.keys() - obsolete:
        current.pop(id, None)
    for id in obsolete - current.keys():
        seen, at = {id}, id
        while at in obsolete and at not in current and len(found[at].get("replaced_by", ())) == 1:
            at = found[at]["replaced_by"][0]
            if at in seen:
                break
            seen.add(at)
        at = current.get(at, at)
        if at in found and at not in obsolete:
            current[id] = at
    return current


def _plain(text: str) -> str:
    """A text with its escapes resolved."""
    return re.sub(r"\\(.)", lambda m: {"W": " ", "n": "\n", "t": "\t"}.get(m[1], m[1]), text)
