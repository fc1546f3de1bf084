"""The chart of a report as a picture of its own, with the question above it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from conftest import Run


@pytest.mark.parametrize(
    ("command", "below", "words"),
    [
        ("params gpt2", "", ["124.4 M", "39.38 M", "85.06 M"]),  # 50,257 × 768 + 1,024 × 768, and 12 blocks and a norm
        (
            "flops gpt2 --batch 2",
            "training · batch 2 · fp32 · assumed: seq 1,024, ",
            ["head", "474.3 G · 27.1 %"],  # 6 × 2 × 1,024 × 768 × 50,257
        ),
        (
            "memory gpt2 --mode train --code plain --attention eager",
            "training · fp32 · eager attention · plain PyTorch · assumed: batch 1, ",
            ["forward", "loss", "backward", "step"],
        ),
        (
            "fit gpt2 --gpu h100",
            "inference · 1 × h100 · assumed: ",
            ["weights 237.4 MiB", "cache 36.00 MiB"],
        ),  # in bf16
        ("plot gpt2 --x batch=1,2,4", "memory over batch · inference", ["1", "2", "4", "batch"]),
    ],
)
def test_a_chart_is_a_file_of_its_own(run: Run, command: str, below: str, words: list[str]) -> None:
    """The model's name, the run below it, then what is drawn, in the order in which it is read."""
    answer = run(*command.split(), "--format", "svg")
    assert (answer.code, answer.err) == (0, "")
    root = ElementTree.fromstring(answer.out)
    title, run_line, *drawn = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert title == "GPT-2 small" and run_line.startswith(below) and bool(run_line) == bool(below)
    assert [text for text in drawn if text in words] == words


def test_what_has_no_chart_says_so(run: Run) -> None:
    answer = run("shapes", "gpt2", "--format", "svg")
    assert (answer.code, answer.out) == (2, "")
    assert "there is no picture of what `archcalc shapes` answers" in answer.err
