"""Sizes that are worked out in a spec: `4 * width`, `channels // 16`, `max(8, channels / 4)`, `expand > 1`.

Names are the parameters of the block that the layer stands in, and the sizes of what comes in (`channels`, `height`,
`width`). Whole numbers only; a division that leaves a remainder is refused, `//` rounds down.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from archcalc.core.errors import close_guess

Value = int | bool | float | str
Scope = Mapping[str, Any]
LONGEST = 200  # characters of an expression
_LOOKS_LIKE = re.compile(r"[\w\s.+\-*/(),<>=!]+")
_ARITHMETIC = re.compile(r"[+\-*/<>=!]|\w\s*\(|\b(and|or|not)\b")


class Mistake(ValueError):
    """What is wrong with an expression."""


def evaluated(text: str, scope: Scope) -> Any:
    """The value of an expression; a word that is no name of the scope stays a word."""
    stripped = text.strip()
    if stripped in scope:
        return scope[stripped]
    if not _is_expression(stripped, scope):
        return text
    try:
        tree = ast.parse(stripped, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        raise Mistake(f"'{text}' is no expression that can be worked out") from None
    return _value(tree, scope)


def _is_expression(text: str, scope: Scope) -> bool:
    """Arithmetic in names or numbers, unlike `same` or `3x3 conv`."""
    if len(text) > LONGEST or not _LOOKS_LIKE.fullmatch(text):
        return False
    return bool(_ARITHMETIC.search(text))


def _value(node: ast.expr, scope: Scope) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        return node.value
    if isinstance(node, ast.Name):
        return _named(node.id, scope)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_number(node.left, scope), _number(node.right, scope))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, scope)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _value(node.operand, scope)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
        return _COMPARISONS[type(node.ops[0])](_value(node.left, scope), _value(node.comparators[0], scope))
    if isinstance(node, ast.BoolOp):
        holds = [bool(_value(each, scope)) for each in node.values]
        return all(holds) if isinstance(node.op, ast.And) else any(holds)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        return _FUNCTIONS[node.func.id](*(_number(each, scope) for each in node.args))
    raise Mistake(f"'{ast.unparse(node)}' is not understood: +, -, *, /, //, comparisons, min and max are")


def _number(node: ast.expr, scope: Scope) -> int:
    found = _value(node, scope)
    if not isinstance(found, int) or isinstance(found, bool):
        raise Mistake(f"'{ast.unparse(node)}' is not a whole number here")
    return found


def _named(name: str, scope: Scope) -> Any:
    if name not in scope:
        guess = close_guess(name, scope) or f"names that can be used here: {', '.join(sorted(scope)) or 'none'}"
        raise Mistake(f"there is no '{name}' here; {guess}")
    return scope[name]


def _divided(left: int, right: int) -> int:
    if not right or left % right:
        raise Mistake(f"{left} / {right} is no whole number; `//` rounds down")
    return left // right


def _floored(left: int, right: int) -> int:
    if not right:
        raise Mistake(f"{left} // 0 cannot be worked out")
    return left // right


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divided,
    ast.FloorDiv: _floored,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max}
