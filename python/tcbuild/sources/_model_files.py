"""The files of genome-scale metabolic models: YAML of cobrapy and RAVEN, and SBML."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

import yaml

from tcbuild._masks.rules import renamed
from tcbuild.sources._files import open_text

Element = ElementTree.Element


@dataclass
class Reaction:
    """A reaction, or a node of one: its rule, flux bounds, and coefficients by metabolite."""

    id: str
    rule: str
    subsystem: str
    lower: float  # NaN without a bound
    upper: float
    reversible: bool
    metabolites: dict[str, float] = field(default_factory=dict)
    origin: str = ""  # the reaction of a node


@dataclass
class Model:
    metabolites: list[str]
    reactions: list[Reaction]


def read_model(file: str) -> Model:
    """Reads a model in the format of its name's ending. ValueError if it is wrong."""
    with open_text(file) as opened:
        text = opened.read()
    ending = file.removesuffix(".gz").rpartition(".")[2].lower()
    if ending in ("yml", "yaml"):
        model = _read_yaml(text)
    elif ending in ("xml", "sbml"):
        model = _read_sbml(text)
    else:
        raise ValueError("found another ending, expected .yml, .yaml, .xml or .sbml")
    if not model.metabolites or not model.reactions:
        raise ValueError("found no metabolites or no reactions, expected both")
    known = set(model.metabolites)
    for reaction in model.reactions:
        if unknown := reaction.metabolites.keys() - known:
            raise ValueError(f"reaction {reaction.id}: metabolites lack {min(unknown)!r}")
    return model


def _number(text: str, infinite: bool = False) -> float:
    value = float(text)
    if math.isnan(value) or math.isinf(value) and not infinite:
        raise ValueError(f"found {text!r}, expected a number")
    return value


def _content(text: str) -> Any:
    """A YAML document, with every scalar as text: the metabolite NO is no boolean. yaml.load takes
    eight times as long.
    """
    open_parts: list[list[Any]] = [[]]
    for event in yaml.parse(text, yaml.CBaseLoader):
        if isinstance(event, yaml.ScalarEvent):
            open_parts[-1].append(event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            open_parts.append([])
        elif isinstance(event, yaml.CollectionEndEvent):
            part: Any = open_parts.pop()
            if isinstance(event, yaml.MappingEndEvent):
                part = _folded({k: v} for k, v in zip(part[::2], part[1::2]))
            open_parts[-1].append(part)
        elif isinstance(event, yaml.AliasEvent):
            raise ValueError(f"found the YAML alias *{event.anchor}, expected values")
    if len(open_parts[0]) != 1:
        raise ValueError(f"found {len(open_parts[0])} YAML documents, expected one")
    return open_parts[0][0]


def _folded(entries: Any) -> dict[str, Any]:
    """The content of a map, which models write as a list of maps of one key each."""
    if isinstance(entries, dict):
        return entries
    found: dict[str, Any] = {}
    for entry in entries:
        if not isinstance(entry, dict) or entry.keys() & found.keys():
            raise ValueError(f"found {entry!r:.100}, expected keys, each once, with their values")
        found |= entry
    return found


def _read_yaml(text: str) -> Model:
    try:
        content = _content(text)
    except yaml.YAMLError:  # RAVEN once wrote names such as [cytochrome c]-L-lysine without quotes
        names = re.compile(r"""^( *- name: )([^"'\s].*)$""", re.MULTILINE)
        content = _content(names.sub(lambda m: m[1] + json.dumps(m[2]), text))
    sections = _folded(content)
    if absent := {"metabolites", "reactions"} - sections.keys():
        raise ValueError(f"found no section {min(absent)}")
    metabolites = [_text(_folded(entry).get("id")) for entry in sections["metabolites"]]
    return Model(metabolites, [_reaction(_folded(entry)) for entry in sections["reactions"]])


def _reaction(entry: dict[str, Any]) -> Reaction:
    id = _text(entry.get("id"))
    bounds = (_text(entry.get(key)) for key in ("lower_bound", "upper_bound"))
    lower, upper = (_number(text) if text else math.nan for text in bounds)
    names = entry.get("subsystem")
    subsystem = "|".join(map(_text, names)) if isinstance(names, list) else _text(names)
    if "metabolites" not in entry:
        raise ValueError(f"reaction {id}: found no metabolites")
    values = _folded(entry["metabolites"]).items()
    metabolites = {other: _number(_text(value)) for other, value in values}
    rule = _text(entry.get("gene_reaction_rule")).strip()
    return Reaction(id, rule, subsystem, lower, upper, lower < 0 < upper, metabolites)


def _text(value: Any) -> str:
    """A text; what YAML writes for none is an empty one."""
    if not isinstance(value, (str, type(None))):
        raise ValueError(f"found {value!r:.100}, expected a text")
    return "" if value in (None, "~", "null", "Null", "NULL") else value


def _read_sbml(text: str) -> Model:
    """Levels 2 and 3, with any version of the package fbc. As in cobrapy, ids lose the prefixes R_,
    M_ and G_, and their encoded characters are decoded.
    """
    named = re.sub(r"&(?!(?:amp|lt|gt|quot|apos);)(\w+);", lambda m: html.unescape(m[0]), text)
    root = ElementTree.fromstring(named)
    for element in root.iter():  # without namespaces
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
    if root.tag != "sbml":
        raise ValueError(f"found element {root.tag!r}, expected sbml")
    species = root.iterfind("model/listOfSpecies/species")
    reactions = map(_Shared(root).reaction, root.iterfind("model/listOfReactions/reaction"))
    return Model([_plain(one.attrib["id"], "M_") for one in species], [*reactions])


class _Shared:
    """What the reactions of an SBML model refer to: gene products, values of bounds, groups."""

    def __init__(self, root: Element):
        def each(path: str) -> Iterator[dict[str, str]]:
            return (element.attrib for element in root.iterfind(f"model/{path}"))

        self.genes = {}
        for product in each("listOfGeneProducts/geneProduct"):
            id, label = product["id"], product.get("label", "")
            self.genes[id] = _plain(id if id.startswith("G_") or not label else label, "G_")
        self.bounds = {
            p["id"]: p["value"] for p in each("listOfParameters/parameter") if "value" in p
        }
        for bound in each("listOfFluxBounds/fluxBound"):  # of fbc, version 1
            self.bounds[f"{bound['reaction']} {bound['operation']}"] = bound["value"]
        self.groups: dict[str, list[str]] = {}
        for group in root.iterfind("model/listOfGroups/group"):
            for member in group.iterfind("listOfMembers/member"):
                names = self.groups.setdefault(member.attrib["idRef"], [])
                names.append(group.attrib.get("name", ""))

    def reaction(self, element: Element) -> Reaction:
        id, notes = element.attrib.get("id", ""), _notes(element)
        lower = self._bound(element, "lowerFluxBound", "LOWER_BOUND", "greaterEqual")
        upper = self._bound(element, "upperFluxBound", "UPPER_BOUND", "lessEqual")
        reversible = lower < 0 < upper
        if math.isnan(lower) and math.isnan(upper):  # level 2 omits true
            reversible = element.attrib.get("reversible") not in ("false", "0")
        rule = notes.get("GENE ASSOCIATION", "")  # of level 2
        if (association := element.find("geneProductAssociation")) is not None:
            if len(association) != 1:
                raise ValueError(f"reaction {id}: found {len(association)} rules, expected one")
            rule = renamed(self._rule(association[0]), {})
        subsystem = "|".join(self.groups.get(id, [])) or notes.get("SUBSYSTEM", "")
        made = Reaction(_plain(id, "R_"), rule, subsystem, lower, upper, reversible)
        for side, sign in (("listOfReactants", -1), ("listOfProducts", 1)):
            for species in element.iterfind(f"{side}/speciesReference"):
                other = _plain(species.attrib["species"], "M_")
                value = sign * _number(species.attrib.get("stoichiometry") or "1")
                made.metabolites[other] = made.metabolites.get(other, 0) + value
        return made

    def _bound(self, element: Element, reference: str, local: str, operation: str) -> float:
        """In level 3, a reaction refers to a parameter; in level 2, its kinetic law has it."""
        id, name = element.attrib["id"], element.attrib.get(reference)
        if name and name not in self.bounds:
            raise ValueError(f"reaction {id}: found no value for its flux bound {name!r}")
        law = [parameter.attrib for parameter in element.iterfind("kineticLaw//*[@value]")]
        found = {parameter.get("id", "").upper(): parameter["value"] for parameter in law}.get(
            local
        )
        for key in (f"{id} {operation}", f"{id} equal", name or ""):
            found = self.bounds.get(key, found)
        return _number(found, infinite=True) if found else math.nan

    def _rule(self, element: Element) -> str:
        if element.tag == "geneProductRef":
            product = element.attrib["geneProduct"]
            if product not in self.genes:
                raise ValueError(f"found gene product {product!r}, which listOfGeneProducts lacks")
            return self.genes[product]
        if element.tag not in ("and", "or"):
            raise ValueError(f"found element {element.tag!r} in a rule, expected and, or")
        return "(" + f" {element.tag} ".join(map(self._rule, element)) + ")"


def _notes(element: Element) -> dict[str, str]:
    """The paragraphs "KEY: value" of an element's notes, at any depth."""
    notes = {}
    for note in element.iterfind("notes//*"):
        key, _, value = (note.text or "").partition(":")
        if len(note) == 0 and value.strip():
            notes[key.strip().upper().replace("_", " ")] = value.strip()
    return notes


def _plain(id: str, prefix: str) -> str:
    """An id without its prefix, decoded: G_YAL016C__45__B is YAL016C-B."""
    code = r"__0*(3[2-9]|[4-9][0-9]|1[01][0-9]|12[0-7])__"
    return re.sub(code, lambda match: chr(int(match[1])), id.removeprefix(prefix))
