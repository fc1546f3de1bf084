"""`archcalc presets`: what ships, and how to find in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from archcalc.spec import paths

if TYPE_CHECKING:
    from conftest import Run


def names(run: Run, *options: str) -> list[str]:
    return [row["name"] for row in run("presets", *options, "--format", "json").json["rows"]]


def test_all_are_listed(run: Run) -> None:
    """One line each, in the order of their names."""
    assert names(run) == sorted(paths.presets())


def test_by_family_and_size(run: Run) -> None:
    """Mixtures of experts of 10 B parameters or fewer."""
    assert names(run, "--family", "moe", "--max-params", "10B") == ["olmoe-1b-7b"]


def test_several_words(run: Run) -> None:
    """Jamba has state-space layers and experts."""
    assert names(run, "--family", "mamba moe") == ["jamba-v0.1"]


def test_every_kind_is_there(run: Run) -> None:
    families = {word for row in run("presets", "--format", "json").json["rows"] for word in row["family"].split()}
    assert {"encoder", "decoder", "recurrent", "autoencoder", "mamba", "delta", "rglru"} <= families


def test_the_largest(run: Run) -> None:
    """A lower bound alone."""
    assert names(run, "--min-params", "1T") == ["kimi-k2"]


def test_nothing_is_found(run: Run) -> None:
    """The question is said back, and where to look."""
    answer = run("presets", "--family", "zebra", "--max-params", "10B")
    assert answer.code == 2
    assert "no preset is 'zebra' of 10,000,000,000 parameters or fewer" in answer.err
    assert "`archcalc presets` lists all" in answer.err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Llama-3-8B", "llama-3-8b"),
        ("llama3.1:8b", "llama-3.1-8b"),
        ("meta-llama/Meta-Llama-3-8B", "llama-3-8b"),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b"),
        ("mixtral", "mixtral-8x7b or mixtral-8x22b"),
        ("phi3", "phi-3-mini"),
        ("deepsek-v3", "deepseek-v3"),
    ],
)
def test_a_name_by_another_spelling(run: Run, typed: str, meant: str) -> None:
    """The preset that is meant; whoever names a model as the Hub does learns how that is read."""
    answer = run("params", typed)
    assert answer.code == 2
    assert f"did you mean {meant}" in answer.err
    assert (f"hf:{typed}" in answer.err) == ("/" in typed)
