"""archcalc's own source files, each read and parsed once for all tests of a process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import archcalc

PACKAGE = Path(archcalc.__file__).parent


@cache
def files(*packages: str) -> tuple[str, ...]:
    """Paths below archcalc, of some packages or of all, as they are written in messages."""
    roots = [PACKAGE / package for package in packages] or [PACKAGE]
    return tuple(sorted(file.relative_to(PACKAGE).as_posix() for root in roots for file in root.rglob("*.py")))


@cache
def text(file: str) -> str:
    return (PACKAGE / file).read_text(encoding="utf-8")


@cache
def parsed(file: str) -> ast.Module:
    """Shared: it must not be changed."""
    return ast.parse(text(file), file)


@cache
def nodes(file: str) -> tuple[ast.AST, ...]:
    """All that is in a file, from the outside to the inside."""
    return tuple(ast.walk(parsed(file)))
