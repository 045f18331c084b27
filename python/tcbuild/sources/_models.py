"""Genome-scale metabolic models: reactions, metabolites, and the genes that reactions need."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from xml.etree.ElementTree import ParseError

import polars as pl
from yaml import YAMLError

from tcbuild._masks.rules import alternatives, compile_rule, genes_of_rule, renamed
from tcbuild.errors import InputError
from tcbuild.sources._account import AMBIGUOUS, UNKNOWN
from tcbuild.sources._files import first_lines
from tcbuild.sources._graph import Graph
from tcbuild.sources._model_files import Reaction, read_model

_MOST = 10_000  # sets of genes of a reaction; rules of published models have at most some dozens
_ENDS = {"src": pl.String, "dst": pl.String}


def add_model(
    graph: Graph,
    file: str | os.PathLike[str],
    *,
    combinations: bool = False,
    max_dropped: float = 0.5,
) -> None:
    """Adds a metabolic model: nodes reaction and metabolite, edges gene__gpr__reaction and
    reaction__rmr__metabolite. Unknown genes in rules count as present.

    Args:
        graph: with the genes
        file: YAML of cobrapy or RAVEN (.yml, .yaml), or SBML (.xml, .sbml); also .gz
        combinations: a node per alternative set of genes and direction, as torchcell has them, in
            place of one per reaction
        max_dropped: the largest share of unknown or ambiguous genes in rules

    Examples:
        >>> tcbuild.sources.add_model(graph, "model.yml")
    """
    try:
        model = read_model(os.fspath(file))
        names = {gene for reaction in model.reactions for gene in genes_of_rule(reaction.rule)}
        meant, ambiguous = graph._rows("gene", names)
        ids = {name: graph["gene"]["id"][row] for name, row in meant.items()}
        nodes = [node for r in model.reactions for node in _nodes(r, ids, combinations)]
        _check_ids("metabolite", model.metabolites)
        _check_ids("reaction", [reaction.id for reaction in model.reactions])
        _check_ids("reaction", [node.id for node in nodes])
    except InputError:  # of the file
        raise
    except (ValueError, KeyError, TypeError, EOFError, OSError, YAMLError, ParseError) as error:
        found = f"found no {error}" if isinstance(error, KeyError) else first_lines(error)
        raise InputError(
            f"read model {file}: {found}",
            "use a complete model in the YAML of cobrapy and RAVEN, or in SBML",
        ) from error
    columns = {"id": "id", "gpr": "rule", "subsystem": "subsystem"}
    columns |= {"lower_bound": "lower", "upper_bound": "upper"}
    columns |= {"reaction": "origin"} if combinations else {}
    graph["metabolite"] = pl.DataFrame({"id": model.metabolites}, {"id": pl.String})
    graph["reaction"] = pl.DataFrame(
        {column: [getattr(node, value) for node in nodes] for column, value in columns.items()}
    )
    sides = [(n.id, other, value) for n in nodes for other, value in n.metabolites.items()]
    graph["reaction", "rmr", "metabolite"] = pl.DataFrame(
        sides, _ENDS | {"stoichiometry": pl.Float64}, orient="row"
    )
    needs = [(gene, node.id) for node in nodes for gene in genes_of_rule(node.rule)]
    inside = set(ids.values())
    pairs = [pair for pair in needs if pair[0] in inside]
    graph["gene", "gpr", "reaction"] = pl.DataFrame(pairs, _ENDS, orient="row")
    graph.account.add("reaction", len(model.reactions), {})
    graph.account.add("metabolite", len(model.metabolites), {})
    graph.account.add("reaction__rmr__metabolite", len(sides), {})
    if needs:
        lost = Counter(gene for gene, _ in needs if gene not in inside)
        several = sum(lost[name] for name in ambiguous)
        dropped = {UNKNOWN: lost.total() - several, AMBIGUOUS: several}
        graph.account.add("gene__gpr__reaction", len(needs), dropped, lost, max_dropped)


def _nodes(reaction: Reaction, ids: Mapping[str, str], combinations: bool) -> Iterator[Reaction]:
    """The nodes of a reaction, with ids of genes in their rules.

    A node of combinations needs all its genes, so a reaction's rule is true if and only if one of
    its nodes is left. Only reversible reactions have nodes _rev.
    """
    compile_rule(reaction.rule, {})  # an error if it is wrong
    if any(ids.get(name, name) != name for name in genes_of_rule(reaction.rule)):
        reaction = replace(reaction, rule=renamed(reaction.rule, ids))
    if not combinations:
        yield reaction
        return
    sets = {f"comb{k}": genes for k, genes in enumerate(alternatives(reaction.rule, _MOST))}
    for name, genes in (sets or {"noGene": []}).items():
        node = replace(reaction, rule=" and ".join(genes), origin=reaction.id)
        least = 0.0 if reaction.reversible else reaction.lower
        yield replace(node, id=f"{reaction.id}_{name}_fwd", lower=least)
        if reaction.reversible:
            back = {other: -value for other, value in reaction.metabolites.items()}
            rev = f"{reaction.id}_{name}_rev"
            yield replace(node, id=rev, lower=0.0, upper=-reaction.lower, metabolites=back)


def _check_ids(kind: str, ids: Sequence[str]) -> None:
    for text, times in Counter(ids).items():
        if times > 1 or not text or text != text.strip():
            raise ValueError(f"found {kind} {text!r} {times} times, expected ids, each once")
