"""Boolean gpr rules, such as "(YAL038W or YOR347C) and YGL062W": which genes a reaction needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

# A compiled rule is in postfix order, so that nested parentheses cannot exhaust the stack: gene
# indices, and these operators.
AND, OR = -1, -2
NEVER_DELETED = -3  # a gene that is not in the graph

_TOKEN = re.compile(r"[()]|&&?|\|\|?|[^\s()&|]+")
_OPERATORS = {"and": AND, "&": AND, "&&": AND, "or": OR, "|": OR, "||": OR}


def compile_rule(text: str, genes: Mapping[str, int]) -> tuple[int, ...]:
    """Compiles a rule to postfix order; a text without a rule gives an empty one. `and` binds
    tighter than `or`. An invalid rule is a ValueError.
    """
    postfix: list[int] = []
    waiting: list[int | str] = []  # operators and opened parentheses
    operand_next = True
    for token in _TOKEN.findall(text):
        operator = _OPERATORS.get(token.lower())
        if operand_next != (operator is None and token != ")"):
            raise ValueError(
                f"found {token!r}, expected {'a gene or (' if operand_next else 'and, or, or )'}"
            )
        if operator is not None:
            while waiting and (waiting[-1] == AND or waiting[-1] == operator):
                postfix.append(int(waiting.pop()))
            waiting.append(operator)
        elif token == "(":
            waiting.append(token)
            continue
        elif token == ")":
            while waiting and waiting[-1] != "(":
                postfix.append(int(waiting.pop()))
            if not waiting:
                raise ValueError("found a ) without a (")
            waiting.pop()
        else:
            postfix.append(genes.get(token, NEVER_DELETED))
        operand_next = operator is not None
    if waiting and (operand_next or "(" in waiting):
        raise ValueError("found the end, expected a gene or a closing parenthesis")
    return (*postfix, *(int(operator) for operator in reversed(waiting)))


def holds(rule: tuple[int, ...], deleted: Collection[int]) -> bool:
    """Whether a compiled rule is true if the deleted genes are false. No rule is always true."""
    values: list[bool] = []
    for item in rule:
        if item == AND or item == OR:
            right, left = values.pop(), values.pop()
            values.append(left and right if item == AND else left or right)
        else:
            values.append(item not in deleted)
    return not values or values[0]


def genes_of_rule(text: str) -> list[str]:
    """The names of the genes in a rule, each once, in the order of their first mention."""
    names = (token for token in _TOKEN.findall(text) if token not in "()")
    return list(dict.fromkeys(name for name in names if name.lower() not in _OPERATORS))


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A rule with other names of genes, written with the fewest parentheses."""

    def join(operator: int, left: tuple[int, str], right: tuple[int, str]) -> tuple[int, str]:
        parts = [part if op in (0, operator) else f"({part})" for op, part in (left, right)]
        return operator, (" and " if operator == AND else " or ").join(parts)

    return _fold(text, lambda gene: (0, names.get(gene, gene)), join, (0, ""))[1]


def alternatives(text: str, most: int) -> list[list[str]]:
    """The sets of genes that each make a rule true, each once: the leftmost gene varies slowest.
    More than most, counted before repeated ones are dropped, are a ValueError. No rule has none.
    """

    def join(operator: int, left: list[list[str]], right: list[list[str]]) -> list[list[str]]:
        count = len(left) * len(right) if operator == AND else len(left) + len(right)
        if count > most:
            raise ValueError(f"found more than {most:,} alternative sets of genes in a rule")
        if operator == OR:
            return left + right
        return [list(dict.fromkeys([*some, *more])) for some in left for more in right]

    found: dict[frozenset[str], list[str]] = {}
    none: list[list[str]] = []
    for genes in _fold(text, lambda gene: [[gene]], join, none):
        found.setdefault(frozenset(genes), genes)
    return [*found.values()]


_Value = TypeVar("_Value")


def _fold(
    text: str,
    gene: Callable[[str], _Value],
    join: Callable[[int, _Value, _Value], _Value],
    empty: _Value,
) -> _Value:
    """The value of a rule, from those of its genes; empty without a rule."""
    names = genes_of_rule(text)
    values: list[_Value] = []
    for item in compile_rule(text, {name: index for index, name in enumerate(names)}):
        if item == AND or item == OR:
            right, left = values.pop(), values.pop()
            values.append(join(item, left, right))
        else:
            values.append(gene(names[item]))
    return values[0] if values else empty
