"""`tools/add_model.py`: a preset of a config whose count others confirm, or what is missing, and nothing written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import add_model
import pytest
from new_preset import with_entry

import archcalc
from archcalc.spec import paths

TINY = {
    "model_type": "qwen3",
    "architectures": ["Qwen3ForCausalLM"],
    "vocab_size": 160,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 128,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.51.0",
}
BLOCK = 2 * 32 + 2 * 8 + 32 * (32 + 16 + 16) + 32 * 32 + 3 * 32 * 48  # norms, those of heads, q k v, o, FFN
TOTAL = 2 * 160 * 32 + 3 * BLOCK + 32


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of presets, with nothing in it."""
    return tmp_path / "presets"


def written(tmp_path: Path, config: dict[str, Any]) -> str:
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return str(tmp_path / "config.json")


def add(tmp_path: Path, config: dict[str, Any], *options: str) -> int:
    said = ["--hub", "us/Tiny-Chat-1x", "--to", str(tmp_path / "presets"), *options]
    return add_model.main([written(tmp_path, config), *said])


def test_a_config_becomes_a_preset(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By one command: named without how it was trained, found as the Hub calls it, with the count of its class."""
    assert add(tmp_path, TINY, "--released", "2026-03", "--published", f"{TOTAL}") == 0
    told = capsys.readouterr().out
    assert "equal transformers' Qwen3ForCausalLM" in told and f"are the published {TOTAL}" in told
    monkeypatch.setenv(paths.VARIABLE, str(folder))
    model = archcalc.load("us/Tiny-Chat-1x")
    assert model.params().total == TOTAL
    spec = model.spec
    assert (spec.name, spec.transformers, spec.released, spec.precision) == ("Tiny-Chat-1x", "qwen3", "2026-03", "bf16")
    assert spec.published and (spec.published.parameters, spec.published.of) == (TOTAL, "Qwen3ForCausalLM")
    assert spec.source == "https://huggingface.co/us/Tiny-Chat-1x config.json"
    assert model.resolved == archcalc.load(TINY).resolved
    kept = json.loads((folder / "configs.json").read_text(encoding="utf-8"))["tiny-1x"]
    assert kept == {key: value for key, value in TINY.items() if key != "transformers_version"}


@pytest.mark.parametrize(
    ("change", "options", "missing"),
    [
        ({"model_type": "qwen9"}, (), "archcalc does not support model_type qwen9"),
        ({"hidden_size": "wide"}, (), "hidden_size: expected a whole number"),
        ({}, ("--published", f"{TOTAL - 1}"), f"{TOTAL:,} against {TOTAL - 1:,}, +1"),
        ({}, ("--published", "2.5k"), "against 2,500"),
        ({}, ("--index", "INDEX"), f"total_parameters of the index: {TOTAL:,} against {TOTAL + 160:,}, -160"),
    ],
)
def test_what_is_missing_is_told_and_nothing_is_written(
    tmp_path: Path,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    options: tuple[str, ...],
    missing: str,
) -> None:
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_parameters": TOTAL + 160}}), encoding="utf-8")
    said = [str(index) if option == "INDEX" else option for option in options]
    assert add(tmp_path, {**TINY, **change}, *said) in (1, 2)
    assert missing in capsys.readouterr().err
    assert not folder.exists()


def test_a_class_that_counts_otherwise_is_a_difference(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """How much, and where it begins."""
    import new_preset

    wrong = archcalc.load({**TINY, "num_key_value_heads": 4})
    wrong.document.config.update(TINY)  # as if archcalc read another number of heads than transformers does
    monkeypatch.setattr(new_preset.Release, "read", wrong)
    assert add(tmp_path, TINY) == 1
    told = capsys.readouterr().err
    more = 3 * 2 * 32 * 16  # keys and values of three blocks
    assert f"{TOTAL + more:,} against {TOTAL:,}, +{more:,}" in told and "self_attn.k_proj" in told
    assert not folder.exists()


def test_a_preset_is_not_overwritten_unasked(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "models").mkdir(parents=True)
    (folder / "models" / "tiny-1x.yaml").write_text("mine", encoding="utf-8")
    assert add(tmp_path, TINY) == 1
    assert "--force overwrites it" in capsys.readouterr().err
    assert (folder / "models" / "tiny-1x.yaml").read_text(encoding="utf-8") == "mine"
    assert add(tmp_path, TINY, "--force") == 0


def test_a_list_has_many(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of which some are asked for; one that is not read does not stop the others."""
    rows = [
        {"name": "us/One", "from": "our pages", "config": {**TINY, "model_type": "qwen9"}},
        {"name": "us/Two", "from": "our pages", "config": TINY, "released": 2026, "called": "second"},
        {"name": "us/Three", "from": "our pages", "config": TINY},
    ]
    file = tmp_path / "configs.jsonl.gz"
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    asked = ["--from", str(file), "--to", str(folder), "--only"]
    assert add_model.main([*asked, "us/One", "us/Two"]) == 1
    assert [one.name for one in (folder / "models").iterdir()] == ["second.yaml"]
    text = (folder / "models" / "second.yaml").read_text(encoding="utf-8")
    assert "source: 'https://huggingface.co/us/Two config.json, read in our pages'" in text and "released: 2026" in text
    assert add_model.main([*asked, "us/Four"]) == 2
    assert "not in the list: us/Four" in capsys.readouterr().err


def test_configs_are_kept_in_one_form() -> None:
    """A line each, in the order of their names: what the tool writes is what is there."""
    text = (paths.data_root() / "configs.json").read_text(encoding="utf-8")
    configs = json.loads(text)
    assert with_entry(text, "gpt2", configs["gpt2"]) == text


def test_a_part_that_no_class_builds_alone_needs_another_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Granite Docling of transformers 5.23 has no class for its language model and a head."""
    text = {**TINY, "model_type": "granite_docling_text", "architectures": None}
    said = {"model_type": "own_docling", "text_config": text, "vision_config": {"model_type": "own"}}
    assert add(tmp_path, said) == 1
    assert "a transformers that has own_docling, or give --published or --index" in capsys.readouterr().err
    total = archcalc.load(said).params().total
    assert add(tmp_path, said, "--published", f"{total}") == 0
