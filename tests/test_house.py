"""House rules that a machine can hold: every file of archcalc is small, says what it is, and can be read aloud."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import archcalc

PACKAGE = Path(archcalc.__file__).parent
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
LONGEST = 350  # lines


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    return {name: (PACKAGE / name).read_text(encoding="utf-8") for name in FILES}


def test_every_file_says_first_what_it_is(sources: dict[str, str]) -> None:
    """In a docstring that starts on its first line."""
    silent = [name for name, text in sources.items() if not _first_line(text)]
    assert silent == []


def _first_line(text: str) -> str:
    said = ast.get_docstring(ast.parse(text), clean=False) or ""
    return said.splitlines()[0].strip() if text.startswith(('"""', 'r"""')) and said else ""


def test_no_file_is_long(sources: dict[str, str]) -> None:
    """One idea needs no more."""
    long = {name: text.count("\n") for name, text in sources.items() if text.count("\n") > LONGEST}
    assert long == {}


def test_a_statement_has_one_conditional_expression_at_the_most(sources: dict[str, str]) -> None:
    """So that none is nested, and no line has to be decoded."""
    found = [f"{name}:{line}" for name, text in sources.items() for line in overloaded(text)]
    assert found == []


def overloaded(text: str) -> list[int]:
    """The lines of statements with more than one conditional expression."""
    statements = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))
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
    assert overloaded(text) == lines
