"""Packages import in one direction: whoever stands lower knows nothing of what stands above."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from support import sources

ORDER = (
    *("version", "core", "spec", "storage", "styles", "layers", "archs", "network", "json_schema", "run", "simulate"),
    *("identities", "report", "analyze", "model", "importers", "loading", "exercises", "render", "catalog"),
    *("reference", "verify", "ui", "cli"),
)
FILES = [file for file in sources.files() if not file.startswith("__")]


def package_of(file: str) -> str:
    return file.partition("/")[0].removesuffix(".py")


def imported(code: ast.AST) -> Iterator[tuple[int, str]]:
    """What a file imports of archcalc, with the line: at its top, in a function, or for types alone."""
    for node in ast.iter_child_nodes(code):
        if isinstance(node, ast.ImportFrom) and node.module == "archcalc":
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("archcalc."):
            yield node.lineno, node.module.split(".")[1]
        yield from imported(node)


def test_a_file_imports_only_what_stands_below_it() -> None:
    upwards = [
        f"{file}:{line} imports {name}"
        for file in FILES
        for line, name in imported(sources.parsed(file))
        if name in ORDER and ORDER.index(name) > ORDER.index(package_of(file))
    ]
    assert upwards == []


def test_every_package_has_its_place() -> None:
    assert {package_of(file) for file in FILES} == set(ORDER)


def test_the_direction_is_checked_in_functions_and_for_types_too() -> None:
    code = "if TYPE_CHECKING:\n    from archcalc.cli import a\ndef f():\n    from archcalc.model import Model\n"
    assert list(imported(ast.parse(code))) == [(2, "cli"), (4, "model")]
