"""Assumptions: data for programs, a sentence for people."""

from __future__ import annotations

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
