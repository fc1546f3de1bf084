"""`archcalc presets`: what ships, and how to find in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from archcalc import data

if TYPE_CHECKING:
    from conftest import Run


def names(run: Run, *options: str) -> list[str]:
    return [row["name"] for row in run("presets", *options, "--format", "json").json["rows"]]


def test_all_are_listed(run: Run) -> None:
    """One line each, in the order of their names."""
    assert names(run) == sorted(data.presets())


def test_by_family_and_size(run: Run) -> None:
    """Mixtures of experts of 10 B parameters or fewer."""
    assert names(run, "--family", "moe", "--max-params", "10B") == ["olmoe-1b-7b"]


def test_several_words(run: Run) -> None:
    """Jamba has state-space layers and experts."""
    assert names(run, "--family", "mamba moe") == ["jamba-v0.1"]


@pytest.mark.parametrize("word", ["encoder", "decoder", "recurrent", "autoencoder", "mamba", "delta", "rglru"])
def test_every_kind_is_there(run: Run, word: str) -> None:
    assert names(run, "--family", word)


def test_the_largest(run: Run) -> None:
    """A lower bound alone."""
    assert names(run, "--min-params", "1T") == ["kimi-k2"]


def test_nothing_is_found(run: Run) -> None:
    """The question is said back, and where to look."""
    answer = run("presets", "--family", "zebra", "--max-params", "10B")
    assert answer.code == 2
    assert "no preset is 'zebra' of 10,000,000,000 parameters or fewer" in answer.err
    assert "`archcalc presets` lists all" in answer.err
