"""docs/glossary.md explains every option and every name of a dim."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from archcalc.cli.app import app

ROOT = Path(__file__).parent.parent
EXPLAINED = set(re.findall(r"`([^`\s]+)`", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")))


def options() -> set[str]:
    """Every long option of every command."""
    group = typer.main.get_command(app())
    commands = [group, *getattr(group, "commands", {}).values()]
    found = {name for command in commands for option in command.params for name in option.opts}
    return {name for name in found if name.startswith("--")} | {"--help"}


@pytest.mark.parametrize("option", sorted(options()))
def test_an_option_is_explained(option: str) -> None:
    assert option in EXPLAINED


def test_every_option_of_the_page_exists() -> None:
    """A table of options that are gone would send readers looking for them."""
    assert {term for term in EXPLAINED if term.startswith("--")} <= options()
