"""Filters: pandas' expressions about samples, with two rules of their own.

A comparison with a missing value is false: pandas keeps it for != and `not in`. So

    fitness != 1                becomes    fitness != 1 and fitness == fitness

And a text compared with a number is an error; pandas finds it false. So is a comment: the name
fitness#2 has a sign that begins one, unless it is in backticks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from tcbuild._files.manifest import PERTURBATION_INDICES
from tcbuild._table.columns import lists
from tcbuild._table.sample_columns import SampleColumns
from tcbuild.errors import DatasetError, InputError, SettingsError, unknown_name

_DELETIONS = "deletions"  # a column of every dataset: the number of deleted genes
_SYNTAX = (
    'write a comparison, as in fitness > 0.5 and medium == "YPD"; a column whose name is no word '
    "is in backticks: `growth rate` > 1"
)
_TYPES = 'compare numbers with numbers, texts with texts: medium == "YPD", temperature == 30'
_MISSING = "fitness.isna() is true for missing values, fitness.notna() for others"
_MASKS = 'combine masks: dataset[dataset.deletes("VPS8") & (dataset.phenotype("fitness") < 1)]'
_INFERRED = {"floating": "number", "integer": "number", "mixed-integer-float": "number"}
_INFERRED |= {"boolean": "condition", "string": "text"}  # by pandas, for what a method returns
# A text; a name in backticks; an operator that binds as words do, as in pandas.
_TOKEN = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|`([^`]*)`|([&|])""")


def keeps(samples: SampleColumns, expression: str) -> npt.NDArray[np.bool_]:
    """For which samples an expression is true: bool [N]. It is an error if there is none."""
    doing, names = f"select samples where {expression[:200]!r}", dict[str, str]()

    def plain(token: re.Match[str]) -> str:
        text, name, operator = token.groups()
        if name is None:
            return text or (" and " if operator == "&" else " or ")
        names[f"BACKTICKS_{len(names)}"] = name
        return f"BACKTICKS_{len(names) - 1}"

    pandas, no_names, series = import_module("pandas"), dict[str, Any](), dict[str, Any]()

    def evaluated(node: ast.AST) -> Any:
        return pandas.eval(ast.unparse(node), "pandas", "python", no_names, no_names, [series])

    bare = _TOKEN.sub(" ", expression)
    try:
        if "#" in bare:
            raise SettingsError("found #, expected no comment", _SYNTAX)
        tree = ast.parse(f"({_TOKEN.sub(plain, expression)}\n)", mode="eval")
        columns = {name: _column(samples, names.get(name, name)) for name in _named(tree)}
        series |= {name: pandas.Series(values) for name, values in columns.items()}
        found = evaluated(_Conditions(columns, evaluated).of(tree.body))
    except DatasetError as error:
        hint = _backticks(samples, bare) or error.hint
        raise type(error)(f"{doing}: {error.message}", hint) from None
    except Exception as error:  # whatever pandas raises for what it cannot evaluate
        why = f"{doing}: {error}"[:1000]
        raise SettingsError(why, _backticks(samples, bare) or _SYNTAX) from error
    kept = np.broadcast_to(np.asarray(found, bool), len(samples._rows))
    if not kept.any():
        raise InputError(
            f"{doing}: it matches none of {len(samples._rows):,} samples, expected at least one",
            "check names and units; a comparison with a missing value is false",
        )
    return kept


def _backticks(samples: SampleColumns, bare: str) -> str:
    """The hint for a column whose name an expression has outside backticks; empty for none."""
    names = sorted((one for one in samples.columns if not one.isidentifier()), key=len)
    near = [one for one in names if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", bare)]
    return f"put the name in backticks, as in pandas: `{near[-1]:.100}`" if near else ""


def _named(tree: ast.AST) -> list[str]:
    """The columns that an expression names; what it calls is a function."""
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for name in (func.id for func in calls if isinstance(func, ast.Name)):
        if name.startswith("delet"):
            raise SettingsError(f"found the function {name}, expected columns", _MASKS)
    nodes = (node for node in ast.walk(tree) if node not in calls)
    return sorted({node.id for node in nodes if isinstance(node, ast.Name)})


def _column(samples: SampleColumns, name: str) -> npt.NDArray[Any]:
    known = [name for name in samples.columns if name != PERTURBATION_INDICES]
    if name == _DELETIONS and name in known:
        why = "found a column deletions, a name reserved for the number of deleted genes"
        raise SettingsError(why, "rename the column, and build the dataset again")
    if name.lower() in ("nan", "null", "none", "na") and name not in known:
        raise SettingsError(f"found {name}, expected a value", _MISSING)
    if name != _DELETIONS and name not in known:
        why, _, hint = str(unknown_name("column", name, [*known, _DELETIONS])).partition("\nhint: ")
        raise SettingsError(
            why, f"{hint} Texts are in quotes, and {_DELETIONS} counts deleted genes"
        )
    if name != _DELETIONS:
        values: npt.NDArray[Any] = samples.column(name)
        return values
    _, bounds = lists(samples.to_arrow([PERTURBATION_INDICES]).column(0))
    return np.diff(bounds).astype(float)  # like all numbers, so that nothing overflows


class _Conditions:
    """Rewrites conditions so that missing values make them false, and checks what they compare."""

    def __init__(
        self, columns: Mapping[str, npt.NDArray[Any]], evaluated: Callable[[ast.AST], Any]
    ):
        self._columns, self._evaluated = columns, evaluated

    def of(self, node: ast.expr) -> ast.expr:
        """A condition that is true or false for every sample."""
        if isinstance(node, ast.BoolOp):
            return ast.BoolOp(node.op, [self.of(value) for value in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
            return ast.Compare(self.of(node.operand), [ast.Eq()], [ast.Constant(False)])
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            parts = map(self._comparison, sides, node.ops, sides[1:])
            return ast.BoolOp(ast.And(), [part for some in parts for part in some])
        if (kind := self._kind(node)) in ("number", "text"):
            why = f"found a {kind}, expected a comparison: {_shown(node)}"
            raise SettingsError(why, _SYNTAX)
        return ast.Compare(node, [ast.Eq()], [ast.Constant(True)])

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> list[ast.expr]:
        comparison, others = ast.Compare(left, [op], [right]), [right]
        shown = _shown(comparison)
        if not _named(left) and (not _named(right) or isinstance(op, (ast.In, ast.NotIn))):
            raise SettingsError(f"expected a column, not in quotes: {shown}", _SYNTAX)
        if isinstance(op, (ast.In, ast.NotIn)):
            others = right.elts if isinstance(right, ast.List) else []
            if not others:
                why = f"expected a list in brackets: {shown}"
                raise SettingsError(why, 'write medium in ["YPD", "SC"] or fitness in [0.5, 1]')
        elif isinstance(op, (ast.Is, ast.IsNot)):
            raise SettingsError(f"expected == or !=: {shown}", _MISSING)
        kinds = {found for one in (left, *others) if (found := self._kind(one))}
        if len(kinds) > 1:
            raise SettingsError(f"found {' and '.join(sorted(kinds))}: {shown}", _TYPES)
        if kinds == {"condition"}:
            return [ast.Compare(self.of(left), [op], [self.of(right)])]
        if not isinstance(op, (ast.NotEq, ast.In, ast.NotIn)):
            return [comparison]
        sides = [side for side in (left, right) if _named(side)]
        return [comparison, *(ast.Compare(side, [ast.Eq()], [side]) for side in sides)]

    def _kind(self, node: ast.expr) -> str | None:
        """Whether an expression is a number, a text or a condition; None if only pandas knows."""
        if isinstance(node, ast.Name):
            return "text" if self._columns[node.id].dtype == object else "number"
        if isinstance(node, ast.Constant) and node.value is None:
            raise SettingsError("found None, expected a value", _MISSING)
        if isinstance(node, ast.Constant):
            kinds = {bool: "condition", str: "text", int: "number", float: "number"}
            return kinds.get(type(node.value))
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            return "condition"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
            return "condition"
        if isinstance(getattr(node, "func", node), (ast.Attribute, ast.Subscript)):
            values = np.atleast_1d(np.asarray(self._evaluated(node), object))
            return _INFERRED.get(import_module("pandas").api.types.infer_dtype(values))
        parts = [
            getattr(node, name) for name in ("operand", "left", "right") if hasattr(node, name)
        ]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            parts = node.args
        if any(self._kind(part) not in ("number", None) for part in parts):
            raise SettingsError(f"expected numbers: {_shown(node)}", _TYPES)
        return "number" if parts else None


def _shown(node: ast.AST) -> str:
    return ast.unparse(node)[:200]
