"""Boolean gpr rules, such as "(YAL038W or YOR347C) and YGL062W": which genes a reaction needs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

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
