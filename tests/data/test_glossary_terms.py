"""The glossary: its names are unique, what it points to exists, and its commands print what it says."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer
from tables import with_terms

from archcalc.catalog.fields import explain
from archcalc.catalog.glossary import Term, found, plain, terms
from archcalc.cli.app import app

if TYPE_CHECKING:
    from conftest import Run

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"
TRIED = [term for term in terms() if term.example]
GROUP = typer.main.get_command(app())
COMMANDS = getattr(GROUP, "commands", {})
OPTIONS = {name for command in COMMANDS.values() for option in command.params for name in option.opts}


def named(term: Term) -> str:
    return term.name


def test_a_name_has_one_meaning() -> None:
    """But for FLOPs and FLOP/s, which are told side by side because people mix them up."""
    names = Counter(name for term in terms() for name in {plain(each) for each in term.names})
    assert [name for name, times in names.items() if times > 1] == ["flop"]
    assert [term.name for term in found("FLOPS")] == ["FLOP", "FLOP/s"]


@pytest.mark.parametrize("term", terms(), ids=named)
def test_what_a_term_points_to_exists(term: Term) -> None:
    assert [field for field in term.fields if not explain(field).meanings] == []
    assert [each for each in term.see if each not in COMMANDS and each not in OPTIONS] == []
    assert bool(term.example) == bool(term.shown)


@pytest.mark.wide(6)
@pytest.mark.parametrize("term", TRIED, ids=named)
def test_the_command_of_a_term_prints_what_it_says(term: Term, run: Run) -> None:
    program, *words = shlex.split(term.example)
    answer = run(*words)
    assert (program, answer.code) == ("archcalc", 0)
    assert term.shown in " ".join(answer.out.split())


def test_the_page_has_every_term() -> None:
    """`python docs/refresh.py docs/glossary.md` writes its tables."""
    page = PAGE.read_text(encoding="utf-8")
    assert with_terms(page) == page
    sections = dict.fromkeys(term.section for term in terms())
    assert [section for section in sections if f"\n## {section}\n\n<!-- terms: {section} -->\n" not in page] == []


TYPED = {
    "kv cache": "KV cache",
    "KV-Caches": "KV cache",
    "kvcache": "KV cache",
    "lstms": "LSTM",
    "6 n d": "6ND",
    "quantization": "quantised",
    "gradient checkpointing": "activation checkpointing",
    "TP": "tensor parallelism",
    "zero-3": "ZeRO",
    "rms_norm": "RMSNorm",
    "Receptive fields": "receptive field",
}


@pytest.mark.parametrize(("typed", "name"), TYPED.items())
def test_a_term_is_found_however_it_is_typed(typed: str, name: str) -> None:
    assert [term.name for term in found(typed)] == [name]


def test_nothing_is_no_term() -> None:
    assert found("") == found("-") == ()


LOOKED_UP = """
attention, MHA, MQA, GQA, MLA, KV cache, prefill, decode, TTFT, FLOP, FLOPS, MAC, 6ND, MFU, activation
checkpointing, ZeRO, FSDP, TP, PP, CP, EP, SP, LoRA, QLoRA, quantisation, GGUF, bf16, fp16, fp8, AdamW,
gradient accumulation, receptive field, stride, dilation, padding, LSTM, GRU, bidirectional, teacher forcing,
softmax, LayerNorm, RMSNorm, pre-norm, post-norm, RoPE, ALiBi, sinusoidal, MoE, active parameters, SSM, Mamba,
autoencoder, VAE, ViT, patch, tied embeddings, logits, perplexity, tokens per second, expert, cross-attention,
dropout, optimizer states, mixed precision, master weights
"""


@pytest.mark.parametrize("word", [word.strip() for word in LOOKED_UP.replace("\n", " ").split(",")])
def test_the_usual_words_are_there(word: str) -> None:
    assert found(word)
