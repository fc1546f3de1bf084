"""House rules that a machine can hold: every file of archcalc is small, says what it is, and can be read aloud."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import pytest
from support import sources

FILES = sources.files()
LONGEST = 350  # lines


def test_every_file_says_first_what_it_is() -> None:
    """In a docstring that starts on its first line."""
    assert [file for file in FILES if not _first_line(file)] == []


def _first_line(file: str) -> str:
    if not sources.text(file).startswith(('"""', 'r"""')):
        return ""
    return (ast.get_docstring(sources.parsed(file), clean=False) or "").partition("\n")[0].strip()


def test_no_file_is_long() -> None:
    """One idea needs no more."""
    lines = {file: sources.text(file).count("\n") for file in FILES}
    assert {file: number for file, number in lines.items() if number > LONGEST} == {}


def test_a_statement_has_one_conditional_expression_at_the_most() -> None:
    """So that none is nested, and no line has to be decoded."""
    assert [f"{file}:{line}" for file in FILES for line in overloaded(sources.nodes(file))] == []


def overloaded(nodes: Iterable[ast.AST]) -> list[int]:
    """The lines of statements with more than one conditional expression."""
    statements = [node for node in nodes if isinstance(node, ast.stmt)]
    return [each.lineno for each in statements if sum(isinstance(one, ast.IfExp) for one in own_nodes(each)) > 1]


def own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """What belongs to a statement itself, and not to those inside it."""
    todo = list(ast.iter_child_nodes(statement))
    while todo:
        node = todo.pop()
        if not isinstance(node, ast.stmt):
            yield node
            todo.extend(ast.iter_child_nodes(node))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x = a if b else c", []),
        ("x = a if b else c if d else e", [1]),
        ("x = (a if b else c) + (d if e else f)", [1]),
        ("x = {1: a if b else c, 2: [d if e else f]}", [1]),
        ("x = a if b else c\ny = d if e else f", []),
        ("def f(x=a if b else c):\n    return d if e else f", []),
        ("if a if b else c:\n    x = d if e else f\nelse:\n    x = g if h else (i if j else k)", [4]),
        ("f(lambda: a if b else c, lambda: d if e else f)", [1]),
    ],
)
def test_overloaded_statements_are_found(text: str, lines: list[int]) -> None:
    """In whatever they stand, but each statement by itself."""
    assert overloaded(ast.walk(ast.parse(text))) == lines
