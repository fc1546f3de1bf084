"""Packages import in one direction: whoever stands lower knows nothing of what stands above."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import archcalc

PACKAGE = Path(archcalc.__file__).parent
ORDER = (
    *("core", "spec", "storage", "styles", "layers", "archs", "network", "json_schema", "run", "simulate"),
    *("identities", "report", "analyze", "model", "importers", "loading", "exercises", "render", "catalog"),
    *("reference", "verify", "ui", "cli"),
)
FILES = sorted(file for file in PACKAGE.rglob("*.py") if file.parent != PACKAGE or not file.name.startswith("__"))


def imported(code: ast.AST) -> Iterator[tuple[int, str]]:
    """What a file imports of archcalc, with the line: at its top, in a function, or for types alone."""
    for node in ast.iter_child_nodes(code):
        if isinstance(node, ast.ImportFrom) and node.module == "archcalc":
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("archcalc."):
            yield node.lineno, node.module.split(".")[1]
        yield from imported(node)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_file_imports_only_what_stands_below_it(file: Path) -> None:
    own = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    found = [(line, name) for line, name in imported(ast.parse(file.read_text("utf-8"))) if name in ORDER]
    assert [(line, name) for line, name in found if ORDER.index(name) > ORDER.index(own)] == []


def test_every_package_has_its_place() -> None:
    packages = {file.relative_to(PACKAGE).parts[0].removesuffix(".py") for file in FILES}
    assert packages == set(ORDER)


def test_the_direction_is_checked_in_functions_and_for_types_too() -> None:
    code = "if TYPE_CHECKING:\n    from archcalc.cli import a\ndef f():\n    from archcalc.model import Model\n"
    assert list(imported(ast.parse(code))) == [(2, "cli"), (4, "model")]
