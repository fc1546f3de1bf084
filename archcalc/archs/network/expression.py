"""Sizes and conditions that are worked out in a spec: `4 * width`, `max(8, channels / 4)`, `when: expand > 1`.

Names are the parameters of the block that the layer stands in, and the sizes of what comes in (`channels`, `height`,
`width`). Whole numbers only; a division that leaves a remainder is refused, `//` rounds down. A condition is true or
false: no number and no word passes for one.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from archcalc.core.errors import close_guess
from archcalc.spec.node import shown
from archcalc.spec.units import LARGEST

Scope = Mapping[str, Any]
LONGEST = 200  # characters of an expression
BOUND = LARGEST**2  # of what is worked out: a product of two sizes
CONDITION = "true, false or a comparison such as `expand > 1`"
_LOOKS_LIKE = re.compile(r"[\w\s.+\-*/%(),<>=!]+")
_ARITHMETIC = re.compile(r"[+\-*/%<>=!]|\w\s*\(|\b(and|or|not)\b")
_TRUTHS = {"true": True, "false": False}


class Mistake(ValueError):
    """What is wrong with an expression."""


def evaluated(text: str, scope: Scope) -> Any:
    """The value of an expression; a word that is no name of the scope stays a word."""
    stripped = text.strip()
    if stripped in scope:
        return scope[stripped]
    if not (_LOOKS_LIKE.fullmatch(stripped) and _ARITHMETIC.search(stripped)):
        return text
    return _value(_parsed(stripped), scope)


def condition(said: Any, scope: Scope) -> bool:
    """Whether a layer is there."""
    found = _value(_parsed(said), scope) if isinstance(said, str) else said
    if not isinstance(found, bool):
        raise Mistake(f"expected {CONDITION}, found {shown(found)}")
    return found


def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise Mistake(f"an expression of {len(text):,} characters; at most {LONGEST} are worked out")
    try:
        with warnings.catch_warnings(action="error"):  # `2or 3`
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Mistake(f"'{text}' is no expression that can be worked out") from None


def _value(node: ast.expr, scope: Scope) -> Any:
    match node:
        case ast.Constant(value=int() | float() | str()):
            return node.value
        case ast.Name():
            return _named(node.id, scope)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            left, right = _number(node.left, scope), _number(node.right, scope)
            if not right and isinstance(node.op, ast.Div | ast.FloorDiv):
                raise Mistake(f"{left} is divided by 0")
            return _bounded(_OPERATORS[type(node.op)](left, right), node)
        case ast.UnaryOp(op=ast.Not()):
            return not _truth(node.operand, scope)
        case ast.UnaryOp(op=ast.USub()):
            return -_number(node.operand, scope)
        case ast.Compare() if all(type(op) in _COMPARISONS for op in node.ops):
            return _compared(node, scope)
        case ast.BoolOp():
            holds = [_truth(each, scope) for each in node.values]
            return all(holds) if isinstance(node.op, ast.And) else any(holds)
        case ast.Call(func=ast.Name(id=name)) if name in _FUNCTIONS:
            if node.keywords or len(node.args) < 2:
                takes = f"{name} takes two numbers or more, such as {name}(8, 16)"
                raise Mistake(f"'{ast.unparse(node)}' is not understood: {takes}")
            return _FUNCTIONS[name](*(_number(each, scope) for each in node.args))
    understood = "+, -, *, /, //, comparisons, and, or, not, min and max are"
    raise Mistake(f"'{ast.unparse(node)}' is not understood: {understood}")


def _named(name: str, scope: Scope) -> Any:
    known = {**_TRUTHS, **scope}
    if name not in known:
        guess = close_guess(name, scope) or f"names that can be used here: {', '.join(sorted(scope)) or 'none'}"
        raise Mistake(f"there is no '{name}' here; {guess}")
    return known[name]


def _compared(node: ast.Compare, scope: Scope) -> bool:
    """`1 < expand`, and `1 < expand < 6` of each pair: of numbers; words and truths only for being the same."""
    values = [_value(each, scope) for each in (node.left, *node.comparators)]
    for op, (left, right) in zip(node.ops, pairwise(values), strict=True):
        has_order = _is_number(left) and _is_number(right)
        is_same_kind = type(left) is type(right) and isinstance(left, str | bool) and isinstance(op, ast.Eq | ast.NotEq)
        if not (has_order or is_same_kind):
            raise Mistake(f"'{ast.unparse(node)}' compares {shown(left)} with {shown(right)}")
        if not _COMPARISONS[type(op)](left, right):
            return False
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number(node: ast.expr, scope: Scope) -> int:
    found = _value(node, scope)
    if not isinstance(found, int) or isinstance(found, bool):
        raise Mistake(f"'{ast.unparse(node)}' is {shown(found)} here, and a whole number is needed")
    return _bounded(found, node)


def _bounded(number: int, node: ast.expr) -> int:
    if abs(number) > BOUND:
        raise Mistake(f"'{ast.unparse(node)}' is more than {BOUND:.0e}, which no size is")
    return number


def _truth(node: ast.expr, scope: Scope) -> bool:
    found = _value(node, scope)
    if not isinstance(found, bool):
        raise Mistake(f"'{ast.unparse(node)}' is {shown(found)} here, and {CONDITION} is needed")
    return found


def _divided(left: int, right: int) -> int:
    if left % right:
        raise Mistake(f"{left} / {right} is no whole number; `//` rounds down")
    return left // right


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divided,
    ast.FloorDiv: operator.floordiv,
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
