"""The schema of JSON answers, which every command keeps; tests/cli/test_files.py tries that of specs on presets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

if TYPE_CHECKING:
    from conftest import Run

ANSWERED = (
    *("about gpt2", "params gpt2 --explain", "shapes textbook", "flops gpt2", "memory gpt2 --mode train --timeline"),
    *("fit gpt2", "fit gpt2 --gpu 4090 --table weights,context", "compare gpt2 gpt2-medium", "plot gpt2 --x batch=1,2"),
    *("gpus", "gpus rtx-4090", "presets", "explain kv cache", "kernel textbook", "summary gpt2"),
)


@pytest.fixture
def answer_schema(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = run("schema", "answer").json
    Draft202012Validator.check_schema(found)
    return found


@pytest.mark.parametrize("command", ANSWERED)
def test_an_answer_is_as_its_schema_says(run: Run, answer_schema: dict[str, Any], command: str) -> None:
    answer = run(*command.split(), "--format", "json").json
    Draft202012Validator(answer_schema).validate(answer)
    assert answer_schema["$id"] == f"urn:archcalc:schema:answer:{answer['schema_version']}"


def test_another_form_is_none(run: Run, answer_schema: dict[str, Any]) -> None:
    answer = run("params", "gpt2", "--format", "json").json
    for key in ("schema_version", "assumptions", "rows"):
        with pytest.raises(ValidationError):
            Draft202012Validator(answer_schema).validate({**answer, key: "other"})
        with pytest.raises(ValidationError):
            Draft202012Validator(answer_schema).validate({name: answer[name] for name in answer if name != key})


def test_a_schema_has_a_name_of_its_own(run: Run) -> None:
    """By which others refer to it, and no address that could be gone."""
    names = [run("schema", *what).json["$id"] for what in ((), ("spec",), ("answer",))]
    assert names[0] == names[1] == "urn:archcalc:schema:spec:1"
    assert names[2].startswith("urn:archcalc:schema:answer:")


def test_there_is_no_other_schema(run: Run) -> None:
    answer = run("schema", "anwser")
    assert answer.code == 2 and "did you mean answer?" in answer.err
