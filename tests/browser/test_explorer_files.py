"""Files of the explorer: specs, configs and weights that are dropped or opened, and what it writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.explorer import Explorer
from support.gguf_files import recorded
from support.safetensors_files import sparse

Run = Callable[..., Any]  # the fixtures of tests/conftest.py
Write = Callable[..., str]
LINEAR = 512 * 1024 + 1024  # of the small model that is dropped as weights
HOSTILE = '<img src=x onerror="document.title=1">'
SMALL = "d_model: 64\nheads: 4\nffn: 256\nvocab: 1000\ndecoder: 2\nseq: 128\n"


def test_an_edited_spec_is_saved_and_its_command_runs(
    page: Explorer, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.download_into(tmp_path)
    page.open("#model=gpt2")
    page.edit("decoder: 12", "decoder: 3")
    page.settle()
    page.click("#copy-command")
    page.say("#toast", "archcalc params gpt2.yaml")
    page.click("#save-spec")
    page.until(lambda: next(tmp_path.glob("*.yaml"), None))
    monkeypatch.chdir(tmp_path)
    page.tile_says("overview", f"{run('params', 'gpt2.yaml', '--format', 'json').json['total']:,}")


def test_a_config_is_dropped(page: Explorer, run: Run, write: Write) -> None:
    config = {"model_type": "gpt2", "n_layer": 3, "n_embd": 96, "n_head": 4, "vocab_size": 500, "n_positions": 64}
    page.open()
    page.drop("config.json", json.dumps(config))
    total = run("params", write(json.dumps(config), "config.json"), "--format", "json").json["total"]
    page.tile_says("overview", f"{total:,}")


def test_only_the_header_of_weights_is_read(page: Explorer, tmp_path: Path) -> None:
    """Of a file of a hundred gigabytes, which no browser could read."""
    tensors = {"a.weight": ("F32", [1024, 512]), "a.bias": ("F32", [1024]), "b.weight": ("F32", [160_000, 160_000])}
    file = sparse(tmp_path / "model.safetensors", tensors)
    page.open()
    page.one("#file").send_keys(str(file))
    page.tile_says("overview", f"{LINEAR + 160_000 * 160_000:,}")


def test_a_gguf_file_is_opened_by_its_header(page: Explorer, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(next(iter(recorded().values())).raw)
    page.open()
    page.one("#file").send_keys(str(file))
    total = run("params", str(file), "--format", "json").json["total"]
    page.tile_says("overview", f"{total:,}")


def test_a_hostile_name_is_shown_as_text(page: Explorer) -> None:
    page.open()
    page.drop("model.yaml", f"name: '{HOSTILE}'\n{SMALL}")
    page.say("h1", HOSTILE)
    for view in ("diagram", "memory", "devices"):
        page.view(view)
        assert page.browser.all("img") == []
    assert page.browser.driver.title.startswith("<img")


def test_the_report_is_downloaded(page: Explorer, tmp_path: Path) -> None:
    page.download_into(tmp_path)
    page.open("#model=gpt2")
    page.click("#download-report")
    report = page.until(lambda: next(tmp_path.glob("*.html"), None))
    assert "124,439,808" in report.read_text("utf-8")
    page.say("#toast", "downloaded")
