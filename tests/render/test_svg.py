"""The chart of a report as a picture of its own, with the question above it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from conftest import Run


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("params gpt2", ["GPT-2 small", "124.4 M"]),
        ("flops gpt2 --batch 2", ["GPT-2 small", "fp32 · assumed: seq 1,024"]),
        ("memory gpt2 --mode train --code plain --attention eager", ["GPT-2 small", "peak: backward, loss — "]),
        ("fit gpt2 --gpu h100", ["GPT-2 small", "h100"]),
        ("plot gpt2 --x batch=1,2,4", ["GPT-2 small", "memory over batch · inference"]),
    ],
)
def test_a_chart_is_a_file_of_its_own(run: Run, command: str, words: list[str]) -> None:
    answer = run(*command.split(), "--format", "svg")
    assert (answer.code, answer.err) == (0, "")
    root = ElementTree.fromstring(answer.out)
    said = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [word for word in words if not any(word in text for text in said)] == []


def test_what_has_no_chart_says_so(run: Run) -> None:
    answer = run("shapes", "gpt2", "--format", "svg")
    assert (answer.code, answer.out) == (2, "")
    assert "there is no picture of what `archcalc shapes` answers" in answer.err
