"""The cache of a GGUF file follows from its header where no translator reads the architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.assumption_texts import texts
from support.gguf_files import Recorded, file, recorded

import archcalc
from archcalc.model import Model

if TYPE_CHECKING:
    from conftest import Run, Write

HEADERS = recorded()
SEQ = 24
WINDOWS_UNSAID = (
    "gemma2",
    "gemma3_text",
    "gemma_embedding",
    "gpt_oss_5",
    "cohere2",
    "phi3",
    "afmoe",
    "laguna",
    "phimoe",
)
CHUNKS = ("llama4_text", "llama4_dense")
ENCODERS = (
    "bert",
    "roberta",
    "xlm-roberta",
    "distilbert",
    "modernbert",
    "eurobert",
    "t5",
    "t5_v11",
    "t5_encoder",
    "umt5",
)
UNLIKE = (*WINDOWS_UNSAID, *CHUNKS, *ENCODERS)


def renamed(header: Recorded) -> bytes:
    """The same file of an architecture that nobody has heard of."""
    known = str(header.facts["general.architecture"])
    facts = {name.replace(f"{known}.", "sphinx.", 1): value for name, value in header.facts.items()}
    return file({**facts, "general.architecture": "sphinx"}, header.tensors)


def kept(model: Model) -> dict[str, Any]:
    parts = model.memory(seq=SEQ).parts
    return {name: parts.get(name, 0) for name in ("kv_cache", "state")}


@pytest.mark.parametrize("name", [name for name in HEADERS if name not in UNLIKE])
def test_an_unknown_architecture_keeps_what_the_known_one_does(write: Write, name: str) -> None:
    header = HEADERS[name]
    known = archcalc.load(write(header.raw, "known.gguf"))
    unknown = archcalc.load(write(renamed(header), "unknown.gguf"))
    assert unknown.spec.family == "weights"
    assert kept(unknown) == kept(known)


def test_windows_and_shared_layers_are_read_from_the_header(write: Write) -> None:
    """Gemma 4: four layers with a window of 4 tokens make keys and values of 2 heads of 8, two layers reuse them."""
    model = archcalc.load(write(HEADERS["gemma4"].raw, "model.gguf"))
    assert kept(model) == {"kv_cache": 4 * 4 * 2 * (2 * 8) * 2, "state": 0}


def test_a_window_of_unknown_layers_is_not_applied_and_said(run: Run, write: Write) -> None:
    """Gemma 2's header has a window, and llama.cpp's code alone knows that every other layer has it."""
    answer = run("memory", write(renamed(HEADERS["gemma2"]), "model.gguf"), "--seq", str(SEQ), "--format", "json").json
    assert answer["parts"]["kv_cache"] == 3 * SEQ * 2 * 12 * 2
    assert any("does not tell which layers have its window of 4" in words for words in texts(answer))


def test_what_is_assumed_is_said(run: Run, write: Write) -> None:
    answer = run("memory", write(HEADERS["gemma4"].raw, "model.gguf"), "--format", "json").json
    said = " ".join(texts(answer))
    assert "does not read the architecture gemma4" in said
    assert "4 layers with 32 numbers for each token in a window of 4" in said
    assert "activations are not counted" in said
    assert run("fit", "model.gguf", "--gpu", "rtx-4090").code == 0
    assert run("flops", "model.gguf").code == 2


def test_an_architecture_without_a_cache_gets_none(run: Run, write: Write) -> None:
    facts = {name.replace("bert.", "neo-bert.", 1): value for name, value in HEADERS["bert"].facts.items()}
    raw = file({**facts, "general.architecture": "neo-bert"}, HEADERS["bert"].tensors)
    answer = run("memory", write(raw, "model.gguf"), "--format", "json").json
    assert answer["parts"]["kv_cache"] == 0
    assert any("KV cache: none is counted" in words for words in texts(answer))
