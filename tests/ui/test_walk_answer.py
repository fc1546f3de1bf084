"""The explorer's walk: one step drawn, all of them as a table, as the command line has them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.ui.ask import ask

if TYPE_CHECKING:
    from conftest import Run

TEXTBOOK = {"preset": "textbook"}


def asked(**more: Any) -> dict[str, Any]:
    answer = ask({"ask": "walk", "source": TEXTBOOK, **more})
    assert answer["ok"], answer
    return answer


def test_the_walk_is_that_of_the_command_line(run: Run) -> None:
    answer = asked(settings={"batch": "2"}, step=4, records=True)
    assert json.loads(answer["records"]["walk"]) == run("walk", "--batch", "2", "--format", "json").json
    assert (answer["step"], answer["steps"]) == (4, len(archcalc.load("textbook").walk().rows))
    assert "q = x·W_q + b_q" in re.sub("<[^>]*>", "", answer["charts"]["walk"])
    assert answer["working"][0].endswith("= 4 × (1024 × 192 + 192) = 787,200")


def test_a_shorter_model_shows_its_last_step() -> None:
    answer = asked(step=10_000)
    assert answer["step"] == answer["steps"]


@pytest.mark.parametrize("wrong", [0, -1, "4", True, 1.5, None])
def test_a_step_that_is_no_number_is_told(wrong: Any) -> None:
    answer = ask({"ask": "walk", "source": TEXTBOOK, "step": wrong})
    assert not answer["ok"]
    assert answer["error"]["field"] == "step"


def test_every_colour_of_the_picture_is_in_the_style_of_the_page() -> None:
    style = ask({"ask": "catalog"})["style"]
    drawn = asked(step=4)["charts"]["walk"]
    names = {name for names in re.findall('class="([^"]*)"', drawn) for name in names.split() if name[1:2] == "-"}
    assert names and all(f".{name}{{" in style for name in names)
