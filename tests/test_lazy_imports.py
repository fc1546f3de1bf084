"""What archcalc loads: only what the question needs, so that the answer comes at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("pydantic", "numpy", "torch", "transformers", "yaml", "rich.table")


def loaded_by(*arguments: str) -> set[str]:
    """The modules a command leaves loaded, in a fresh interpreter."""
    code = (
        "import sys; sys.argv = ['archcalc', *sys.argv[1:]]\n"
        "from archcalc.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('LOADED', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.split("LOADED")[1].split())


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_loads_next_to_nothing(option: str) -> None:
    """Neither the YAML reader nor the validator."""
    assert not loaded_by(option) & set(HEAVY)


def test_help_for_a_command_loads_no_reader() -> None:
    """typer itself brings pydantic to describe a command's options; archcalc adds nothing."""
    for command in ("params", "plot"):
        assert not loaded_by(command, "--help") & {"numpy", "torch", "transformers", "yaml", "archcalc.spec.node"}


@pytest.mark.parametrize("command", ["params", "shapes", "show"])
def test_an_answer_loads_no_numpy_and_no_torch(command: str) -> None:
    """Everything is worked out with Python's ints."""
    assert not loaded_by(command, "gpt2") & {"numpy", "torch", "transformers"}


def test_a_chart_in_the_terminal_loads_no_numpy_and_no_drawing_of_files() -> None:
    found = loaded_by("plot", "gpt2", "--x", "batch=1,2")
    assert "archcalc.render.chart.text_curves" in found
    assert not found & {"numpy", "torch", "transformers", "cairosvg", "matplotlib", "archcalc.render.chart.curves"}


def test_importing_archcalc_loads_nothing_of_it() -> None:
    """`import archcalc` is free until something is asked."""
    code = "import sys, archcalc; print(*[name for name in sys.modules if name.startswith('archcalc.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
