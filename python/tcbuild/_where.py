"""Filters: pandas' expressions about samples, with two rules of their own.

A comparison with a missing value is false: pandas keeps it for != and `not in`. So

    fitness != 1                becomes    fitness != 1 and fitness == fitness

And a text compared with a number is an error; pandas finds it false.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tcbuild._files.manifest import PERTURBATION_INDICES
from tcbuild._table.columns import ends
from tcbuild._table.samples import Samples
from tcbuild.errors import DatasetError, InputError, SettingsError, unknown_name

DELETIONS = "deletions"  # a column that every dataset has: the number of deleted genes

_SYNTAX = (
    'write a comparison, as in fitness > 0.5 and medium == "YPD"; a column whose name is no word '
    "is in backticks: `growth rate` > 1"
)
_TYPES = 'compare numbers with numbers, texts with texts: medium == "YPD", temperature == 30'
_MISSING = "fitness.isna() is true for missing values, fitness.notna() for others"
_MASKS = 'combine masks: dataset[dataset.deletes("VPS8") & (dataset.phenotype("fitness") < 1)]'
# A text; a name in backticks; an operator that binds as words do, as in pandas.
_TOKEN = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|`([^`]*)`|([&|])""")


def keeps(samples: Samples, expression: str) -> npt.NDArray[np.bool_]:
    """For which samples an expression is true: bool [N]. It is an error if there is none."""
    doing = f"select samples where {expression[:200]!r}"
    quoted: dict[str, str] = {}

    def plain(token: re.Match[str]) -> str:
        text, name, operator = token.groups()
        if name is not None:
            quoted[f"BACKTICKS_{len(quoted)}"] = name
            return f"BACKTICKS_{len(quoted) - 1}"
        return text or (" and " if operator == "&" else " or ")

    try:
        tree = ast.parse(f"({_TOKEN.sub(plain, expression)}\n)", mode="eval")
        columns, kind_of = _columns(tree, samples, quoted)
        checked = ast.unparse(_Checks(kind_of).condition(tree.body))
        pandas = import_module("pandas")
        series = {name: pandas.Series(values) for name, values in columns.items()}
        found = pandas.eval(
            checked, engine="python", resolvers=[series], local_dict={}, global_dict={}
        )
    except _WrongError as error:
        raise SettingsError(f"{doing}: {error.args[0]}", error.args[1]) from None
    except DatasetError:
        raise
    except Exception as error:  # whatever pandas raises for what it cannot evaluate
        raise SettingsError(f"{doing}: {error}"[:1000], _SYNTAX) from error
    kept = np.broadcast_to(np.asarray(found, bool), len(samples))
    if not kept.any():
        raise InputError(
            f"{doing}: it matches none of {len(samples):,} samples, expected at least one",
            "check names and units; a comparison with a missing value is false",
        )
    return kept


class _WrongError(Exception):
    """A mistake in an expression, and a hint."""


def _columns(
    tree: ast.Expression, samples: Samples, quoted: dict[str, str]
) -> tuple[dict[str, npt.NDArray[Any]], Callable[[str], str]]:
    """The columns that an expression names, and of each whether it is a number or a text."""
    functions = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for name in {node.id for node in functions if isinstance(node, ast.Name)}:
        if name.startswith("delet"):
            raise _WrongError(f"found the function {name}, expected columns", _MASKS)
    named = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n not in functions}
    known = [name for name in samples.columns if name != PERTURBATION_INDICES] + [DELETIONS]
    found = {}
    for name in sorted(named):
        column = quoted.get(name, name)
        if column.lower() in ("nan", "null", "none", "na"):
            raise _WrongError(f"found {column}, expected a value", _MISSING)
        if column not in known:
            message, _, hint = str(unknown_name("column", column, known)).partition("\nhint: ")
            raise _WrongError(message, f"{hint} A text is in quotes")
        if column == DELETIONS and DELETIONS in samples.columns:
            why = "found a column deletions, a name reserved for the number of deleted genes"
            raise _WrongError(why, "rename the column, and build the dataset again")
        found[name] = counts(samples) if column == DELETIONS else samples[column]
    texts = {name for name in found if _is_text(samples, quoted.get(name, name))}
    return found, lambda name: "text" if name in texts else "number"


def _is_text(samples: Samples, column: str) -> bool:
    return column != DELETIONS and not pa.types.is_floating(samples.schema.field(column).type)


def counts(samples: Samples) -> npt.NDArray[np.int64]:
    """The number of genes that each sample deletes."""
    found = np.empty(len(samples), np.int64)
    for places, rows, table in samples._table.read([PERTURBATION_INDICES], samples._rows):
        chunks = [np.diff(ends(chunk)) for chunk in table.column(0).chunks]
        found[places] = np.concatenate(chunks)[rows]
    return found


class _Checks:
    """Rewrites conditions so that missing values make them false, and checks kinds of values."""

    def __init__(self, kind_of: Callable[[str], str]):
        self._kind_of = kind_of

    def condition(self, node: ast.expr) -> ast.expr:
        """A condition that is true or false for every sample."""
        if isinstance(node, ast.BoolOp):
            return ast.BoolOp(node.op, [self.condition(value) for value in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
            return ast.UnaryOp(ast.Not(), self.condition(node.operand))
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            parts = map(self._comparison, sides, node.ops, sides[1:])
            return ast.BoolOp(ast.And(), [part for some in parts for part in some])
        if (kind := self._kind(node)) in ("number", "text", "list"):
            raise _WrongError(f"found a {kind}, expected a comparison: {_shown(node)}", _SYNTAX)
        return ast.Compare(node, [ast.Eq()], [ast.Constant(True)])

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> list[ast.expr]:
        kinds = self._kind(left), self._kind(right)
        shown = _shown(ast.Compare(left, [op], [right]))
        if isinstance(op, (ast.In, ast.NotIn)):
            if not isinstance(right, ast.List) or not right.elts:
                why = f"found no list, expected numbers or texts in brackets: {shown}"
                raise _WrongError(why, 'write in [0.5, 1] or in ["YPD", "SC"]')
            kinds = kinds[0], {self._kind(one) for one in right.elts}.pop()
            if any(self._kind(one) != kinds[1] for one in right.elts):
                raise _WrongError(f"found numbers and texts in one list: {shown}", _TYPES)
        elif isinstance(op, (ast.Is, ast.IsNot)):
            raise _WrongError(f"found {shown}, expected == or !=", _MISSING)
        if None not in kinds and kinds[0] != kinds[1]:
            raise _WrongError(f"found {kinds[0]} and {kinds[1]}: {shown}", _TYPES)
        if kinds[0] == "condition":
            left, right = self.condition(left), self.condition(right)
        found: list[ast.expr] = [ast.Compare(left, [op], [right])]
        if isinstance(op, (ast.NotEq, ast.In, ast.NotIn)) and kinds[0] != "condition":
            sides = [s for s in (left, right) if not isinstance(s, (ast.Constant, ast.List))]
            found += [ast.Compare(side, [ast.Eq()], [side]) for side in sides]
        return found

    def _kind(self, node: ast.expr) -> str | None:
        """Whether an expression is a number, a text or a condition; None if only pandas knows."""
        if isinstance(node, ast.Name):
            return self._kind_of(node.id)
        if isinstance(node, ast.Constant):
            if node.value is None:
                raise _WrongError("found None, expected a value", _MISSING)
            kinds = {bool: "condition", str: "text", int: "number", float: "number"}
            return kinds.get(type(node.value))
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            return "condition"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
            return "condition"
        if isinstance(node, ast.List):
            return "list"
        parts = [
            getattr(node, name) for name in ("operand", "left", "right") if hasattr(node, name)
        ]
        if any(self._kind(part) not in ("number", None) for part in parts):
            raise _WrongError(f"found {_shown(node)}, expected numbers", _TYPES)
        return "number" if parts else None


def _shown(node: ast.AST) -> str:
    return ast.unparse(node)[:200]
