"""Bytes of caches that a forward pass moves: what a kernel reads once is counted once."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.analyze.flops.movement import Movement, NumberFormats, Share
from archcalc.analyze.flops.report import Traffic
from archcalc.analyze.memory.states import keeping_of
from archcalc.core.ir import Dim, Module, Region, Tensor, axes
from archcalc.core.mesh import Plan
from archcalc.core.positions import Positions
from archcalc.run.options import Options
from archcalc.run.resolve import resolve


@pytest.mark.parametrize(
    ("name", "layers", "latent"), [("deepseek-v3", 61, 512), ("kimi-k2", 61, 512), ("deepseek-v2-lite", 27, 512)]
)
def test_latent_vectors_are_read_once_as_keys_and_values(name: str, layers: int, latent: int) -> None:
    """The latent vector and 64 numbers of a rotated key for every position, of which the last is written before."""
    traffic = archcalc.load(name).flops(mode="decode", batch=4, context=8192).traffic
    assert traffic.kv_cache == layers * (latent + 64) * 2 * 4 * (8193 + 1)


def test_eager_attention_reads_latent_vectors_for_each_of_its_products() -> None:
    traffic = archcalc.load("deepseek-v3").flops(mode="decode", context=8192, attention="eager").traffic
    assert traffic.kv_cache == 61 * 2 * ((512 + 64 + 512) * 8193 + 576)


def test_a_kernel_of_sparse_attention_reads_the_positions_that_are_chosen() -> None:
    """2,048 latent vectors of 8,193, and the keys of the indexer for all of them."""
    indexer = "attention.index={heads: 64, head_dim: 128, top: 2048}"
    model = archcalc.load("deepseek-v3", set=[indexer])
    far, near = (model.flops(mode="decode", context=context).traffic.kv_cache for context in (8192, 999))
    assert far == 61 * 2 * (576 * (2048 + 1) + 128 * (8193 + 1))
    assert near == 61 * 2 * (576 * (1000 + 1) + 128 * (1000 + 1))


def test_a_window_limits_what_a_decode_step_reads() -> None:
    model = archcalc.load("mistral-7b")
    traffic = model.flops(mode="decode", context=10_000).traffic
    assert traffic.kv_cache == 32 * 2 * 8 * 128 * 2 * (4096 + 1)


def test_a_table_that_is_the_head_too_is_read_whole_and_by_its_rows() -> None:
    """GPT-2's: the head multiplies with all of it, a look-up reads a row, and one of the table of positions."""
    traffic = archcalc.load("gpt2").flops(mode="decode", context=100).traffic
    assert traffic.weights == 4 * (124_439_808 - 1024 * 768 + 768 + 768)


def test_sums_over_the_source_are_read_and_not_written_by_a_decode_step() -> None:
    """Kernel attention keeps 8 × 8 + 8 numbers for each of 2 heads, in 2 layers of self- and of cross-attention."""
    fields: dict[str, Any] = {"vocab": 50, "d_model": 16, "heads": 2, "ffn": 32, "encoder": 2, "decoder": 2}
    model = archcalc.load({**fields, "attention": {"feature": "elu"}, "cross": {"feature": "elu"}})
    traffic = model.flops(mode="decode", src_seq=10, context=5, batch=3).traffic
    assert traffic.state == 4 * 3 * 2 * 2 * (8 * 8 + 8) * (2 + 1)


def _attention(kind: str) -> Module:
    """Keys and values are one cached tensor of 2 sequences, 3 heads, 5 positions and 7 numbers."""
    batch, head, seq, each = (Dim.of(*dim) for dim in (("batch", 2), ("heads", 3), ("seq", 1), ("each", 7)))
    past = Dim.of("kv_seq", 5, positions=Positions.PAST)
    root, query = Module("model"), Tensor(axes(batch, head, seq, each))
    cached = root.record("append", Tensor(axes(batch, head, seq, each)), to=axes(batch, head, past, each))
    core = root.section(Region.CORE)
    if kind == "flash":
        core.record("flash", query, cached, cached, to=query.axes)
        return root
    scores = core.record("contract", query, cached, to=axes(batch, head, seq, past), over=(each,))
    core.record("contract", scores, cached, to=query.axes, over=(past,))
    return root


def _moved(root: Module, attention: str) -> Traffic:
    model = archcalc.load("gpt2")
    used = resolve(model, Options.of("flops", {"mode": "decode", "attention": attention}))
    share = Share(root, Plan())
    formats = NumberFormats(share, used, keeping_of(model, root, used))
    return Movement(share, formats, used.attention, decodes=True).traffic()


KERNELS = [("flash", "flash", 1), ("ops", "flash", 1), ("ops", "eager", 2)]  # how it is recorded, and what reads


@pytest.mark.parametrize(("recorded", "attention", "times"), KERNELS)
def test_one_kernel_reads_keys_that_are_the_values_once(recorded: str, attention: str, times: int) -> None:
    """Whether it was recorded as one op or op by op; eager attention has two kernels. One position is written."""
    assert _moved(_attention(recorded), attention).kv_cache == 4 * 2 * 3 * 7 * (5 * times + 1)
