"""Which repository and revision an address names, and what the cache answers in the Hub's place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.loopback_hub import Hub, holding, refused
from support.safetensors_files import CONFIG

import archcalc


@pytest.mark.parametrize(
    "written",
    [
        "https://huggingface.co/owner/name",
        "https://huggingface.co/owner/name/",
        "http://huggingface.co/owner/name?library=transformers#files",
        "https://hf.co/owner/name",
        "https://HuggingFace.co/owner/name",
        "huggingface.co/owner/name",
        "hf:owner/name",
    ],
)
def test_the_address_of_a_page_is_its_repository(hub: type[Hub], written: str) -> None:
    holding(hub, config__json=json.dumps(CONFIG).encode())
    model = archcalc.load(written)
    assert model.name == "owner/name"
    assert hub.asked[0][0] == "/api/models/owner/name/revision/main"


@pytest.mark.parametrize(
    "written",
    [
        "https://huggingface.co/owner/name/tree/v2.0",
        "https://huggingface.co/owner/name/tree/v2.0/",
        "https://huggingface.co/owner/name/blob/v2.0/config.json",
        "https://huggingface.co/owner/name/resolve/v2.0/config.json?download=true",
        "https://huggingface.co/owner/name/raw/v2.0/config.json",
        "https://huggingface.co/owner/name/blob/v2.0/model.safetensors.index.json",
        "hf:owner/name@v2.0",
    ],
)
def test_an_address_may_name_a_revision(hub: type[Hub], written: str) -> None:
    holding(hub, config__json=json.dumps(CONFIG).encode())
    assert archcalc.load(written).name == "owner/name@v2.0"
    assert hub.asked[0][0] == "/api/models/owner/name/revision/v2.0"


def test_a_revision_may_have_strokes(hub: type[Hub]) -> None:
    holding(hub, config__json=json.dumps(CONFIG).encode())
    archcalc.load("https://huggingface.co/owner/name/tree/refs%2Fpr%2F1")
    assert hub.asked[0][0] == "/api/models/owner/name/revision/refs%2Fpr%2F1"


def test_a_repository_without_an_owner_has_an_address_too(hub: type[Hub]) -> None:
    holding(hub, config__json=json.dumps(CONFIG).encode())
    assert archcalc.load("https://huggingface.co/gpt2/tree/main").name == "gpt2@main"


@pytest.mark.parametrize(
    "written",
    [
        "https://example.com/owner/name",
        "https://huggingface.co.example.com/owner/name",
        "ftp://huggingface.co/owner/name",
        "file:///etc/passwd",
        "https://huggingface.co/",
        "https://huggingface.co/datasets/owner/name",
        "https://huggingface.co/spaces/owner/name",
        "https://huggingface.co/owner/name/discussions/1",
        "https://huggingface.co/owner/name/tree/main/onnx",
        "https://huggingface.co/owner/name/blob/main/model-Q4_K_M.gguf",
        "https://huggingface.co/owner/../name",
        "https://[::1/owner/name",
        "hf:",
        "hf:owner/name@",
        "hf:../name",
        "hf:owner/name@../../x",
        "hf:owner/name/more",
        "hf:a b",
        "hf:owner/na\x1bme",
    ],
)
def test_other_addresses_are_refused_unasked(hub: type[Hub], written: str) -> None:
    message = refused(written)
    assert "\x1b" not in message
    assert not hub.asked


def test_without_a_network_the_cache_answers_and_says_so(hub: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    holding(hub, config__json=json.dumps(CONFIG).encode())
    counted = archcalc.load("hf:owner/name").params().total
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    model = archcalc.load("hf:owner/name")
    assert model.params().total == counted
    assert any(
        "refuses the connection: read from the huggingface_hub cache" in note
        for note in (*model.document.notes, *model.document.file_notes)
    )
    assert "refuses the connection" in refused("hf:owner/other")
    assert "refuses the connection" in refused("hf:owner/name@v2")


def test_the_cache_is_laid_out_as_huggingface_hub_has_it(hub: type[Hub], tmp_path: Path) -> None:
    """So that either finds what the other fetched."""
    huggingface_hub = pytest.importorskip("huggingface_hub")
    holding(hub, config__json=json.dumps(CONFIG).encode())
    archcalc.load("hf:owner/name")
    kept = huggingface_hub.try_to_load_from_cache("owner/name", "config.json", cache_dir=tmp_path / "hf" / "hub")
    assert json.loads(Path(kept).read_text()) == CONFIG
