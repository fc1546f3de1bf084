"""Attention that reads the keys and values of an earlier block: what it lacks, what is cached, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from support.decoding import cache_bytes

import archcalc
from archcalc.core.errors import InputError
from archcalc.spec.workload import Workload

D, HEADS, KV, WIDTH, VOCAB = 48, 6, 2, 8, 40
Spec = dict[str, Any]
SMALL: Spec = {
    "vocab": VOCAB,
    "d_model": D,
    "heads": HEADS,
    "kv_heads": KV,
    "head_dim": WIDTH,
    "ffn": 24,
    "norm": "rms",
    "bias": False,
    "position": "rope",
}
VARIANTS: Spec = {
    "local": {"like": "attention", "window": 7},
    "late": {"like": "attention", "kv_of": "attention"},
    "late_local": {"like": "local", "kv_of": "local"},
}
OWN = ["2 × local ffn", "attention ffn"]
READERS = ["3 × late_local ffn", "2 × late ffn"]


def made(*pattern: Any, **more: Any) -> archcalc.Model:
    variants = {word: said for word, said in VARIANTS.items() if f"{word} " in str(pattern)}
    return archcalc.load({**SMALL, "variants": variants, "decoder": {"pattern": list(pattern)}, **more})


def test_a_reader_has_no_projections_of_keys_and_values() -> None:
    own, every = made(*OWN), made(*OWN, *READERS)
    reader = 2 * D * HEADS * WIDTH + 2 * D * 24 + 2 * D  # q and out, the FFN, two norms
    assert every.params().total - own.params().total == 5 * reader


def test_values_that_are_keys_have_no_projection() -> None:
    alike = archcalc.load({**SMALL, "attention": {"values": "keys"}, "decoder": 3})
    own = archcalc.load({**SMALL, "decoder": 3})
    assert own.params().total - alike.params().total == 3 * D * KV * WIDTH


def test_a_reader_caches_nothing() -> None:
    """Of 31 positions two windows of 7 and one of all; keys and values in two bytes a number."""
    work = Workload(3, {"seq": 1}, mode="decode", context=30)
    position = 2 * KV * WIDTH * 2
    for pattern in (OWN, [*OWN, *READERS]):
        assert cache_bytes(made(*pattern), work, "bf16") == 3 * position * (2 * 7 + 31)


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp", "sglang"])
def test_engines_keep_no_more_for_a_token(engine: str) -> None:
    def cached(pattern: list[str]) -> int:
        report = made(*pattern).memory(engine=engine, seq=4096)
        return int(report.parts["kv_cache"])

    assert cached(OWN) == cached([*OWN, *READERS])


def test_each_reader_still_looks_at_all_positions() -> None:
    """Scores and their use cost as much as with keys of its own."""
    seq = 20

    def forward(variants: Spec) -> int:
        said = {**SMALL, "variants": variants, "decoder": {"pattern": ["attention ffn", "late ffn"]}}
        return int(archcalc.load(said).flops(mode="forward", seq=seq).forward)

    own = forward({"late": {"like": "attention"}})
    assert own - forward({"late": {"like": "attention", "kv_of": "attention"}}) == 2 * 2 * seq * D * KV * WIDTH


def test_the_last_block_of_the_name_is_read() -> None:
    """A reader within the period reads that of its own round, so that both may alternate."""
    assert made({"repeat": 3, "pattern": ["attention ffn", "late ffn"]}).params().total


@pytest.mark.parametrize(
    ("pattern", "more", "fact"),
    [
        (["late ffn", "attention ffn"], {}, "late reads the keys of attention, which no block before it has"),
        (["local ffn", "late ffn"], {}, "late reads the keys of attention, which is no attention with keys"),
        (
            ["attention ffn", "late ffn"],
            {"variants": {"late": {"like": "attention", "kv_of": "attention", "window": 4}}},
            "late and attention differ in window or chunk",
        ),
        (
            ["attention ffn", "late ffn"],
            {"variants": {"late": {"like": "attention", "kv_of": "attention", "kv_heads": 3}}},
            "late and attention differ in kv_heads",
        ),
        (["attention ffn", "late ffn"], {"head": {"kind": "tied", "mtp": 1}}, "mtp cannot follow blocks that read"),
    ],
)
def test_what_cannot_be_is_refused(pattern: list[str], more: Spec, fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        made(*pattern, **more)


def test_a_pipeline_does_not_cut_between_a_reader_and_what_it_reads() -> None:
    with pytest.raises(InputError, match="layers that read what others or the embedding made"):
        made(*OWN, *READERS).memory(mode="train", code="megatron", pp=2, seq=64)


def test_vectors_of_every_block_are_a_table_a_projection_and_a_norm() -> None:
    """A row of the table has a piece for each of the blocks that have the part, and for no other."""
    width, rows, blocks = 5, 30, 4
    said = {"per_layer": {"width": width, "vocab": rows}}
    model = made("4 × attention ffn per_layer", "attention ffn", **said)
    plain = made("5 × attention ffn")
    whole = rows * blocks * width + D * blocks * width + width
    assert model.params().total - plain.params().total == whole + blocks * (2 * D * width + D)


def test_parts_beside_each_other_with_norms_of_their_own() -> None:
    """Two in front, two behind, and one behind the sum, where one norm for all has one in front and one behind."""
    moe = {"experts": 4, "top": 2, "width": 6}
    said = {"norm": {"kind": "rms", "place": "sandwich"}, "moe": moe}
    shared, separate = (made("attention ffn+moe", beside=how, **said) for how in ("shared", "separate"))
    assert separate.params().total - shared.params().total == 3 * D
    told = made("attention ffn+moe", **{**said, "moe": {**moe, "router_norm": True, "expert_scale": True}})
    assert told.params().total - shared.params().total == D + 4
