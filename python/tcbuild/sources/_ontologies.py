"""Ontologies in OBO, and the genes that their terms annotate."""

from __future__ import annotations

import os
import re
from typing import Any

import polars as pl
from obonet.read import get_sections

from tcbuild.errors import InputError
from tcbuild.sources._edges import add_edges
from tcbuild.sources._files import first_lines, open_text, read_csv
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
        file: in GAF 1 or 2; also compressed

    Examples:
        >>> annotations = tcbuild.sources.gaf("sgd.gaf")
    """
    found = read_csv(file, has_header=False, comment_prefix="!")
    found.columns = _GAF[: found.width]
    return found


def add_ontology(
    graph: Graph,
    file: str | os.PathLike[str],
    annotations: pl.DataFrame,
    *,
    gene: Column = "db_object_id",
    where: pl.Expr | None = None,
    max_dropped: float = 0.5,
) -> None:
    """Adds the terms of an ontology as nodes gene_ontology, with their relations is_a and part_of,
    and annotations of genes. Alternative ids, and obsolete terms with one replacement, mean the
    current term.

    Args:
        graph: with the genes
        file: in OBO; also .gz
        annotations: as gaf reads them; they become edges has_annotation, except those with NOT
        gene: the column of genes, by any name
        where: which annotations to read
        max_dropped: the largest share of annotations to drop for unknown or ambiguous names

    Examples:
        >>> annotations = tcbuild.sources.gaf("sgd.gaf")
        >>> tcbuild.sources.add_ontology(graph, "go.obo", annotations)
    """
    edges: dict[str, dict[tuple[str, str], None]] = {"is_a": {}, "part_of": {}}
    try:
        with open_text(file) as lines:
            _, terms, _, header = get_sections(lines)
        current, obsolete = _current(terms)
        nodes = [term for term in terms if term["id"] not in obsolete]
        for term in nodes:
            parents = [f"is_a {parent}" for parent in term.get("is_a", ())]
            for relation, parent, *_ in map(str.split, parents + term.get("relationship", [])):
                if parent in obsolete and relation in edges:
                    raise ValueError(f"found {relation} {parent} of {term['id']}, an obsolete term")
                if relation in edges:
                    edges[relation][term["id"], current.get(parent, parent)] = None
    except InputError:  # of the file
        raise
    except (ValueError, KeyError, EOFError, OSError) as error:
        message = f"read ontology {file}: {first_lines(error)}"
        raise InputError(message, "use an ontology in OBO as released") from error
    space = header.get("default-namespace", [""])[0]
    graph[_TERM] = pl.DataFrame(
        {
            "id": [term["id"] for term in nodes],
            "name": [_plain(term.get("name", "")) for term in nodes],
            "namespace": [_plain(term.get("namespace", space)) for term in nodes],
        }
    )
    graph.account.add(_TERM, len(terms), {"obsolete": len(obsolete)})
    for name, pairs in edges.items():
        if pairs:
            kind, rows = (_TERM, name, _TERM), pl.DataFrame([*pairs], ["src", "dst"], orient="row")
            add_edges(graph, kind, rows, src="src", dst="dst", undirected=False, max_dropped=1)
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


def _current(terms: list[dict[str, Any]]) -> tuple[dict[str, str], set[str]]:
    """The current terms of ids, also of alternative ones and of obsolete terms that one term
    replaces; and all obsolete terms.
    """
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
    current |= {id: id for id in found.keys() - obsolete}  # rather than an alternative id
    for id in obsolete - current.keys():
        at = id
        for _ in obsolete:  # a circle of replacements ends here
            replacements = found.get(at, {}).get("replaced_by", ())
            if at in current or len(replacements) != 1:
                break
            at = replacements[0]
        current[id] = current.get(at, id)
    return current, obsolete


def _plain(text: str) -> str:
    """A text with its escapes resolved."""
    return re.sub(r"\\(.)", lambda m: {"W": " ", "n": "\n", "t": "\t"}.get(m[1], m[1]), text)
