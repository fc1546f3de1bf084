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


def test_parameters_of_a_preset_load_only_what_it_is_made_of() -> None:
    """Neither layers that it does not have, nor importers, formats of weights, charts or analyses of other commands."""
    own = {name for name in loaded_by("params", "gpt2") if name.startswith("archcalc.")}
    assert len(own) <= 150
    assert not own & {
        *("archcalc.layers.moe", "archcalc.layers.mla", "archcalc.layers.conv", "archcalc.core.equations"),
        *("archcalc.core.windows", "archcalc.storage.packed_tensors", "archcalc.importers.others"),
        *("archcalc.report.picture", "archcalc.report.expected", "archcalc.run.resolve", "archcalc.simulate"),
    }


def test_options_that_are_not_typed_get_no_validator() -> None:
    """Of `memory` typer would make more than fifty."""
    code = (
        "import sys, pydantic; sys.argv = ['archcalc', 'memory', 'gpt2', '--batch', '2']\n"
        "made = []; before = pydantic.TypeAdapter.__init__\n"
        "pydantic.TypeAdapter.__init__ = lambda self, *a, **k: (made.append(a), before(self, *a, **k))[1]\n"
        "from archcalc.cli import main\n"
        "try: main()\n"
        "except SystemExit: print('MADE', len(made))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout.split("MADE")[1]) < 10


def test_a_chart_in_the_terminal_loads_no_numpy_and_no_drawing_of_files() -> None:
    found = loaded_by("plot", "gpt2", "--x", "batch=1,2")
    assert "archcalc.render.chart.text_curves" in found
    assert not found & {"numpy", "torch", "transformers", "cairosvg", "matplotlib", "archcalc.render.chart.curves"}


def test_importing_archcalc_loads_nothing_of_it() -> None:
    """`import archcalc` is free until something is asked."""
    code = "import sys, archcalc; print(*[name for name in sys.modules if name.startswith('archcalc.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
