"""docs/glossary.md explains every option and every name of a dim."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from archcalc.cli.app import app
from archcalc.layers.glossary import DIMS
from archcalc.run.options import options_of
from archcalc.spec.option import other_names

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
EXPLAINED = set(re.findall(r"`([^`\s]+)`", PAGE))


def options() -> set[str]:
    """Every long option of every command."""
    group = typer.main.get_command(app())
    commands = [group, *getattr(group, "commands", {}).values()]
    found = {name for command in commands for option in command.params for name in option.opts}
    return {name for name in found if name.startswith("--")} | {"--help", "--help-all"}


@pytest.mark.parametrize("option", sorted(options()))
def test_an_option_is_explained(option: str) -> None:
    assert option in EXPLAINED


def test_every_option_of_the_page_exists() -> None:
    """A table of options that are gone would send readers looking for them."""
    others = {f"--{name.replace('_', '-')}" for name in other_names_of_all()}
    assert {term for term in EXPLAINED if term.startswith("--")} <= options() | others


def other_names_of_all() -> dict[str, str]:
    return {**other_names(options_of("flops")), **other_names(options_of("memory"))}


def test_every_name_of_other_tools_is_listed() -> None:
    """With the option that it is here; `python docs/refresh.py docs/glossary.md` lists them."""
    found = re.findall(r"^\| `--([\w-]+)` \| `--([\w-]+)` \|$", PAGE, re.MULTILINE)
    assert {other.replace("-", "_"): name.replace("-", "_") for other, name in found} == other_names_of_all()


def test_every_dim_is_explained() -> None:
    """In the words of the code's own glossary, which `python docs/refresh.py docs/glossary.md` copies."""
    table = PAGE.partition("| dim | meaning |")[2].partition("\n\n")[0]
    assert dict(re.findall(r"^\| `([^`]+)` \| (.*) \|$", table, re.MULTILINE)) == DIMS
