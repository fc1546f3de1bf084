"""The reference shares nothing with what it checks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import archcalc

FOLDER = Path(archcalc.__file__).parent / "reference"


def _imported(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    plain = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    return plain | {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.name)
def test_the_reference_imports_nothing_of_archcalc_but_itself(file: Path) -> None:
    """No formula is shared: that is what makes agreement mean something."""
    ours = {name for name in _imported(file) if name.partition(".")[0] in ("archcalc", "")}
    assert all(name == "archcalc.reference" or name.startswith("archcalc.reference.") for name in ours)


def test_there_is_a_reference_for_every_family() -> None:
    """A family without one could not be verified; a list of weights has no forward pass that could be run."""
    from archcalc.archs import families

    assert {file.stem for file in FOLDER.glob("*.py")} >= set(families()) - {"weights"}
