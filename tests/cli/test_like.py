"""`--like`: a config of an unknown model type, read as a type that archcalc knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.core.errors import InputError

if TYPE_CHECKING:
    from conftest import Run

OWN: dict[str, Any] = {
    "model_type": "own",
    "architectures": ["OwnForCausalLM"],
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 3,
    "intermediate_size": 40,
    "vocab_size": 50,
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(OWN))
    return file


def total(said: dict[str, Any], **how: Any) -> int:
    return int(archcalc.load(said, **how).params().total)


def test_it_counts_what_the_named_type_counts() -> None:
    """Qwen 3 has norms of queries and keys, which Llama has not."""
    for like in ("llama", "qwen3", "mixtral"):
        known = {**OWN, "model_type": like, "architectures": None}
        assert total(OWN, like=like) == total(known)


@pytest.mark.parametrize(
    ("name", "of_head"),
    [
        ("OwnForCausalLM", 50 * 32),
        ("OwnModel", 0),
        ("OwnForSequenceClassification", 2 * 32),
        ("OwnLMHeadModel", 50 * 32),
    ],
)
def test_the_class_is_the_one_for_the_same(name: str, of_head: int) -> None:
    bare = total({**OWN, "architectures": ["OwnModel"]}, like="llama")
    assert total({**OWN, "architectures": [name]}, like="llama") - bare == of_head


@pytest.mark.parametrize("command", [("params",), ("flops",), ("memory",), ("shapes",), ("fit", "--gpu", "8gb")])
def test_every_answer_says_so_first(run: Run, config: Path, command: tuple[str, ...]) -> None:
    name, *more = command
    shown = " ".join(run(name, str(config), "--like", "llama", *more).out.split())
    assert "model_type own is read as llama, as --like asks" in shown


def test_the_refusal_proposes_it(run: Run, config: Path) -> None:
    assert "`--like llama` reads it so" in run("params", str(config)).err


def test_a_type_that_nobody_reads_is_told_with_the_nearest_name(run: Run, config: Path) -> None:
    shown = run("params", str(config), "--like", "lama").err
    assert "archcalc reads no model type called lama" in shown and "did you mean llama" in shown


def test_fields_of_another_kind_are_refused_as_ever() -> None:
    with pytest.raises(InputError, match="hidden_size"):
        total({**OWN, "hidden_size": "wide"}, like="llama")


@pytest.mark.parametrize(
    "model", ["gpt2", {**OWN, "model_type": "llama", "architectures": None}], ids=["preset", "known"]
)
def test_what_is_known_is_read_as_itself_and_a_note_says_so(model: Any) -> None:
    plain, asked = archcalc.load(model), archcalc.load(model, like="qwen3")
    assert asked.params().total == plain.params().total
    assert any("like qwen3 has no effect" in note for note in asked.spec.notes)
