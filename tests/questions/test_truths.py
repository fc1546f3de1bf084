"""Sizing questions that people asked in public, with what they measured: nine of ten are answered right.

A figure is right within 5 %; a verdict if it is the same one, or "tight" on the right side of the limit.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from conftest import Run

FILE: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "truths.yaml").read_text(encoding="utf-8"))
QUESTIONS: list[dict[str, Any]] = FILE["questions"]
NEAR = 0.05
RIGHT = 0.9  # of all questions, at least
SCALE = {"GB": 10**9, "GiB": 2**30}
NAMES = [f"{one['thread']} {one['figure']}" for one in QUESTIONS]


@pytest.mark.parametrize("question", QUESTIONS, ids=NAMES)
def test_the_answer_is_what_was_measured(question: dict[str, Any], run: Run, tmp_path: Path) -> None:
    """Those that are said to be off are, so that none is listed for longer than it has to be."""
    config = tmp_path / "config.json"
    config.write_text(json.dumps(FILE["configs"].get(question.get("config"), {})), encoding="utf-8")
    answered = run(*shlex.split(question["command"].format(config=config)), "--format", "json")
    assert answered.json, answered.err
    found, right = judged(question, answered.json)
    assert right is ("differs" not in question), f"{question['asked']} {found}, and in reality {question['truth']}"


def judged(question: dict[str, Any], record: dict[str, Any]) -> tuple[Any, bool]:
    """What archcalc says, and whether that is right."""
    if question["figure"] == "verdict":
        (row,) = record["rows"]
        said, left = row["verdict"], row["left_bytes"]
        return said, said == question["truth"] or (said == "tight" and (left >= 0) is (question["truth"] == "fits"))
    found: Any = record
    for key in question["figure"].split("."):
        found = found[int(key)] if key.isdigit() else found[key]
    is_size = question["figure"].split(".")[0] in ("parts", "host_parts") or question["figure"].endswith("_bytes")
    number = found / SCALE[question.get("unit", "GiB")] if is_size else found
    return number, abs(number / question["truth"] - 1) <= NEAR


def test_nine_of_ten_are_right() -> None:
    assert sum("differs" not in one for one in QUESTIONS) >= RIGHT * len(QUESTIONS)


def test_an_answer_that_is_further_off_is_wrong() -> None:
    question = {"figure": "parts.kv_cache", "truth": 10}
    assert judged(question, {"parts": {"kv_cache": 10.4 * 2**30}})[1]
    assert not judged(question, {"parts": {"kv_cache": 10.6 * 2**30}})[1]


@pytest.mark.parametrize(
    ("verdict", "left", "right"),
    [
        ("fits", 1, True),
        ("tight", 1, True),
        ("tight", -1, False),
        ("cannot say", 1, False),
        ("does not fit", -1, False),
    ],
)
def test_a_verdict_is_right_on_its_side_of_the_limit(verdict: str, left: int, right: bool) -> None:
    record = {"rows": [{"verdict": verdict, "left_bytes": left}]}
    assert judged({"figure": "verdict", "truth": "fits"}, record)[1] is right
