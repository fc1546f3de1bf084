"""`archcalc card`: a block of Markdown that people paste into a model card, with figures that other commands print."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from archcalc.version import __version__

if TYPE_CHECKING:
    from conftest import Run, Write

LAYER = 4096 * (2 * 4096 + 2 * 1024) + 3 * 4096 * 14336 + 2 * 4096  # of Llama 3 8B
LLAMA = 2 * 128_256 * 4096 + 32 * LAYER + 4096


def facts(markdown: str) -> dict[str, str]:
    """The lines of its table."""
    return dict(re.findall(r"^\| ([^|:]+) \| ([^|]+) \|$", markdown, re.MULTILINE))


def test_a_card_has_the_figures_of_the_model(run: Run) -> None:
    found = facts(run("card", "llama-3.1-8b").out)
    assert found["architecture"] == "decoder transformer"
    assert found["parameters"].startswith(f"{LLAMA:,} ")
    assert found["weights"].startswith(f"{2 * LLAMA / 2**30:.2f} GiB in bf16")
    assert found["context"] == "up to 131,072 tokens"
    each = 2 * 32 * 8 * 128 * 2  # keys and values of 32 layers with 8 heads of 128, two bytes each
    assert found["KV cache"].startswith(f"{each / 2**10:.1f} KiB a token, {each * 131_072 / 2**30:.2f} GiB")


def test_a_state_is_no_kv_cache(run: Run) -> None:
    """It has as many bytes at any length: of each of 24 layers a state of 1536 × 16, and 3 inputs of a convolution."""
    found = facts(run("card", "mamba-130m").out)
    assert "KV cache" not in found
    assert found["state"] == f"{24 * 1536 * (16 + 3) * 4 / 2**20:.2f} MiB a sequence"


def test_its_formats_are_those_of_its_cards(run: Run) -> None:
    """And their bytes are what `memory` counts."""
    answer = run("card", "llama-3.1-8b", "--format", "json").json
    cards = next(row["value"] for row in answer["rows"] if row["fact"] == "smallest usual card")
    for each in answer["weights"]:
        counted = run("memory", "llama-3.1-8b", "--weights", each["format"], "--format", "json").json
        assert each["bytes"] == counted["parts"]["weights"] and each["format"] in cards


@pytest.mark.parametrize("model", ["textbook", "resnet-50", "deepseek-v3", "mamba-130m", "word2vec-cbow"])
def test_every_kind_of_model_has_one(run: Run, model: str) -> None:
    """With a title, a table, and the line that computed it."""
    answer = run("card", model)
    assert answer.code == 0 and answer.out.startswith("### ")
    assert {"architecture", "parameters", "weights"} <= set(facts(answer.out))
    assert f"archcalc {__version__}: `archcalc card {model}`" in answer.out


def test_a_changed_model_is_made_again_by_its_line(run: Run) -> None:
    assert (
        "`archcalc card gpt2 --set heads=8 --set ffn=64`"
        in run("card", "gpt2", "--set", "heads=8", "--set", "ffn=64").out
    )


def test_a_name_is_never_markup(run: Run, write: Write) -> None:
    name = write('name: "a|b <img src=x> [c](d)"\nvocab: 8\nd_model: 4\nheads: 2\nffn: 8\ndecoder: 1\n')
    assert "### a\\|b \\<img src=x> \\[c\\](d): size" in run("card", name).out
