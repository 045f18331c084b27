"""What names of strains and alleles say: YAL001C_tsq508 is YAL001C, temperature-sensitive."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from tcbuild._graph.names import Names
from tcbuild.errors import InputError

DELETION, DAMP, TS, OTHER = KINDS = ("deletion", "damp", "ts", "other")

_DELTAS = ("Δ", "∆", "-delta", "-del", "delta")  # Greek capital delta, and the increment sign
_SUPPRESSOR = re.compile(r"[-_]supp?[0-9]*\Z", re.I)
_SEPARATORS = "_-:;,|+/& "  # between the genes of a name that names several
# L4A is a substitution in cdc42-L4A and an alias of a ribosomal protein; so is S1 of YAL001C_S1, a
# suppressor strain.
_DESIGNATION = re.compile(r"[A-Za-z]?[0-9]+[A-Za-z]?\Z")
_SUPPRESSOR_STRAIN = re.compile(r"S[0-9]+\Z")
# Open reading frames of the nucleus (YAL016C-B), mitochondria (Q0010) and the 2-micron plasmid
# (R0010W); tRNAs (tK(CUU)K) and other RNAs (YNCA0001W).
_SYSTEMATIC = re.compile(
    r"(Y[A-P][LR][0-9]{3}[WC](-[A-Z])?|Q[0-9]{4}|R[0-9]{4}[WC]"
    r"|T[A-Z]([A-Z]{2})?\([ACGTUN]{3}\)[A-Q][0-9]*|YNC[A-Q][0-9]{4}[WC])\Z",
    re.I,
)
_OF_STRAINS = {"sn": DELETION, "dma": DELETION, "tsq": TS, "tsa": TS, "ts": TS, "damp": DAMP}


class Mention(NamedTuple):
    """A gene as a screen names it.

    gene: its index in the graph; -1 if the name means no gene of the graph, or several
    label: its id, or the name if that means no gene of the graph
    several: the genes of a text that names several, such as YAL001C_YAL002W
    """

    text: str
    kind: str
    gene: int
    label: str
    is_marker: bool = False
    several: tuple[str, ...] = ()


class Alleles:
    """Finds the genes and kinds of names.

    markers: genes whose deletion is part of every strain. yeast: names may be of yeast's strains
        and alleles, in lower case; otherwise NKX2-1 is a gene, and Kras is not KRAS
    """

    def __init__(self, names: Names, markers: Collection[str] = (), yeast: bool = True):
        self._names, self._yeast = names, yeast
        found = [names.gene(name.upper()) for name in markers]
        self._marker_genes = {gene for gene in found if gene is not None}
        self._markers = {name.upper() for name in markers}

    def of_strain(self, strain: str, allele: str = "") -> list[Mention]:
        """YAL001C_tsq508, or YBR150C+YDR034C_tm1234 for a strain with several mutations. allele
        names them, joined by + in the same order, and counts for what the strain does not say.
        """
        orfs, _, suffix = strain.partition("_")
        genes = orfs.split("+")
        alleles = allele.split("+") if allele else [""] * len(genes)
        if len(alleles) != len(genes):
            raise InputError(
                f"found {len(genes)} genes in strain {strain!r} and {len(alleles)} in its allele "
                f"name {allele!r}, expected the same number",
                _CORRECT,
            )
        _refuse_empty(genes, strain, "gene name, expected one such as YAL001C")
        mentions = []
        for name, own in zip(genes, alleles):
            kind, several = self._kind(name, own, suffix, len(genes) > 1)
            mention = self._gene(name, kind)
            if not several and len(genes) == 1 and (several := self._several(strain)):
                mention = mention._replace(text=strain)
            mentions.append(mention._replace(several=several or mention.several))
        return mentions

    def of_alleles(self, text: str) -> list[Mention]:
        """Alleles by their names alone: act1-129_hoΔ_ost3Δ."""
        parts = text.split("_")
        _refuse_empty(parts, text, "allele name, expected one such as tfc3-g349e or vps8Δ")
        return [self._allele(part) for part in parts]

    def of_name(self, name: str) -> Mention:
        """A gene, which is deleted, or of yeast a strain (YAL001C_tsq508) or an allele (cdc28-4,
        TFC3 - DAMP).
        """
        whole = self._gene(name, DELETION)
        if not self._yeast or whole.is_marker or whole.several or self.is_whole(name):
            return whole
        orf, _, suffix = name.partition("_")
        if suffix and self.is_whole(orf):
            return self._gene(orf, _kind_of_strain(suffix.lower()) or OTHER)
        allele = self._allele(name.replace(" - ", "-"))
        return allele if self.is_whole(allele.text) else whole

    def parts(self, names: Sequence[str], lists: bool = False) -> list[list[Mention]]:
        """What names mention, each a gene, or several with | between them."""
        split = [name.split("|") if lists and not self._is_name(name) else [name] for name in names]
        return [[self.of_name(part.strip()) for part in each] for each in split]

    def is_whole(self, name: str) -> bool:
        """Whether a name is a gene's, in the graph or not; what follows it is an allele."""
        return bool(self._names.owners(self._spelling(name)) or _SYSTEMATIC.match(name))

    def is_like_a_gene(self, name: str) -> bool:
        found = self.of_name(name)
        return bool(found.several) or self.is_whole(found.text)

    def _spelling(self, name: str) -> str:
        """Alleles of yeast are written in lower case, and its genes in upper case."""
        if self._yeast and not self._names.has(name) and self._names.has(name.upper()):
            return name.upper()
        return name

    def _gene(self, name: str, kind: str) -> Mention:
        spelled = self._spelling(name)
        gene = self._names.gene(spelled)
        label = spelled if gene is None else self._names.ids[gene]
        is_marker = name.upper() in self._markers or gene in self._marker_genes
        number = -1 if gene is None else gene
        return Mention(name, kind, number, label, is_marker, self._several(name))

    def _allele(self, allele: str) -> Mention:
        """The gene is the longest prefix, up to a hyphen, that names one: YBL008W-A is no allele of
        YBL008W.
        """
        whole = Mention(allele, OTHER, -1, allele, several=self._several(allele))
        if whole.several:
            return whole
        name, deleted = _cut_delta(allele)
        if deleted:
            return self._gene(name, DELETION)
        end = len(name)
        while end > 0:
            mention = self._gene(name[:end], _kind_of_allele(name[end:]))
            if mention.is_marker or self.is_whole(mention.text):
                return mention
            end = name.rfind("-", 0, end)
        return whole

    def _kind(
        self, orf: str, allele: str, suffix: str, multiple: bool
    ) -> tuple[str, tuple[str, ...]]:
        """The kind of an allele of a strain, and the genes of one that names several."""
        kind = _kind_of_strain(suffix)
        if _SUPPRESSOR.search(allele):
            return OTHER, ()
        if kind and not multiple:
            return kind, ()
        if not (allele or suffix) or (allele and allele.lower() == orf.lower()):
            return DELETION, ()
        if not allele:
            return OTHER, ()
        found = self._allele(allele)
        is_of_another = self._is_of_another(found.text, orf)
        return OTHER if is_of_another else found.kind, found.several

    def _is_of_another(self, allele: str, owner: str) -> bool:
        """Whether an allele's gene is another one than its owner."""
        owners, others = (self._names.owners(self._spelling(name)) for name in (allele, owner))
        is_ambiguous = len(owners) > 1 and any(map(self._names.is_in_graph, owners))
        if is_ambiguous or not self.is_whole(allele):
            return False
        if owners and others:
            return owners[0] != others[0]
        return allele.lower() != owner.lower()

    def _several(self, name: str) -> tuple[str, ...]:
        """Two genes of a name that names several, whatever else it has: YAL001C_YAL002W. Taken for
        an allele of the first, it would delete that gene alone.
        """
        cuts = [at for at, sign in enumerate(name) if sign in _SEPARATORS]
        if not cuts or self._is_name(name):
            return ()
        for first in (at for at in cuts if self._is_name(name[:at])):
            for start in (at + 1 for at in cuts if at >= first):
                hyphen = "-" in name[len(name[:start].rstrip(_SEPARATORS)) : start]
                for end in (at for at in (len(name), *reversed(cuts)) if at > start):
                    is_allele = hyphen and name[end : end + 1] == "-"  # as in sdo1-VMA1-ts
                    if not is_allele and self._is_second(name[start:end], hyphen):
                        return name[:first], name[start:end]
        return ()

    def _is_second(self, part: str, hyphen: bool) -> bool:
        """Whether a part of a name is another gene, and not a strain (dma1, not DMA1) or a
        substitution, over which only a gene's own id takes precedence.
        """
        if _kind_of_strain(part.lower()) and not self._names.has(part):
            return False
        is_strain = self._yeast and _SUPPRESSOR_STRAIN.match(part)
        if is_strain or hyphen and _DESIGNATION.match(part):
            owners = self._names.owners(self._spelling(part))
            return bool(owners) and self._names.ids[owners[0]].lower() == part.lower()
        return self._is_name(part)

    def _is_name(self, part: str) -> bool:
        return self.is_whole(_cut_delta(part)[0])


_CORRECT = "correct the strain, or name the columns of strains and alleles"


def _refuse_empty(parts: Sequence[str], strain: str, expected: str) -> None:
    if "" in parts:
        raise InputError(f"strain {strain!r}: found an empty {expected}", _CORRECT)


def _cut_delta(allele: str) -> tuple[str, bool]:
    """An allele without its sign of deletion."""
    for delta in _DELTAS:
        if allele.endswith(delta) and allele != delta:
            return allele.removesuffix(delta), True
    return allele, False


def _kind_of_allele(rest: str) -> str:
    """The kind by what follows the gene's name."""
    if not rest:
        return DELETION
    if _SUPPRESSOR.search(rest):
        return OTHER
    return DAMP if rest.strip("-_()").lower() == "damp" else TS


def _kind_of_strain(suffix: str) -> str | None:
    """The kind by what follows the gene in a strain's id (Costanzo et al. 2010, 2016); None if that
    does not say it, as tm of strains with several mutations.
    """
    if _SUPPRESSOR.search("_" + suffix):
        return OTHER
    letters = re.match("[a-z]*", suffix)
    return _OF_STRAINS.get(letters[0]) if letters else None
