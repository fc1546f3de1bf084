"""Assumptions: data for programs, a sentence for people."""

from __future__ import annotations

import json
import re

import pytest
from support import sources

from archcalc import load
from archcalc.core.assumptions import Assumption, Topic, without

BATCH = Assumption(Topic.BATCH, "batch 1: the spec names none", 1, "--batch")
SCOPE = Assumption(Topic.SCOPE, "every count is exact")


def test_a_sentence_ends_with_the_option_that_changes_it() -> None:
    assert str(BATCH) == "batch 1: the spec names none; --batch changes it"
    assert str(SCOPE) == "every count is exact"


def test_programs_read_four_keys() -> None:
    text = "batch 1: the spec names none"
    assert BATCH.record() == {"topic": "batch", "value": 1, "option": "--batch", "text": text}
    assert SCOPE.record() == {"topic": "scope", "value": None, "option": "", "text": "every count is exact"}


def test_code_picks_by_topic() -> None:
    assert without((BATCH, SCOPE), Topic.BATCH) == (SCOPE,)
    assert without((BATCH, SCOPE)) == (BATCH, SCOPE)


@pytest.mark.parametrize("question", ["params", "shapes", "flops", "memory", "kernel"])
def test_every_report_says_its_assumptions_to_programs(question: str) -> None:
    """As objects with the same four keys, of which the printed sentence is made."""
    report = getattr(load("gpt2"), question)()
    record = report.record()
    assert record["schema_version"] == 2
    assert record["assumptions"] == [each.record() for each in report.assumptions]
    assert all(list(each) == ["topic", "value", "option", "text"] for each in record["assumptions"])
    assert json.loads(json.dumps(record["assumptions"])) == record["assumptions"]


def test_what_neither_spec_nor_caller_says_is_assumed_with_its_value() -> None:
    found = {each.topic: each for each in load("gpt2").memory(mode="train").assumptions if each.option}
    assert found[Topic.BATCH].value == 1
    assert found[Topic.SEQ].value == 1024
    assert found[Topic.OPTIMIZER].value == "adamw-fused"
    assert found[Topic.PRECISION].value == "fp32"
    assert not found.keys() & {Topic.KV_CACHE, Topic.STATE}


def test_no_sentence_types_the_option_that_changes_it() -> None:
    """The words are added in one place."""
    typed = re.compile(r"--[a-z-]+ changes it")
    assert [file for file in sources.files() if typed.search(sources.text(file))] == []
