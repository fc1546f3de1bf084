"""FLOPs and bytes moved on one of several GPUs, and in formats of weights and caches."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc

LLAMA = archcalc.load("llama-3-8b")
SPLIT = [("llama-3-8b", 8), ("mixtral-8x7b", 2), ("t5-small", 2), ("mamba-130m", 2), ("recurrentgemma-2b", 2)]
ASKED: list[dict[str, Any]] = [{}, {"mode": "prefill"}, {"mode": "decode"}, {"causal": "half"}]


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("name", ["llama-3-8b", "t5-small", "mamba-130m", "mixtral-8x7b"])
def test_one_gpu_has_everything(name: str, asked: dict[str, Any]) -> None:
    model = archcalc.load(name)
    plain, one = model.flops(**asked), model.flops(**asked, tp=1, dp=1)
    assert one.record() == plain.record()
    assert (plain.record()["gpus"], plain.record()["tp"]) == (1, 1)


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize(("name", "tp"), SPLIT)
def test_all_gpus_together_do_no_less_than_one(name: str, tp: int, asked: dict[str, Any]) -> None:
    """What is replicated is computed on each of them."""
    model = archcalc.load(name)
    whole, each = model.flops(**asked), model.flops(**asked, tp=tp)
    assert whole.total / tp <= each.total <= whole.total
    assert tp * each.elementwise >= whole.elementwise
    for row, part in zip(whole.rows, each.rows, strict=True):
        assert row.amounts.total <= tp * part.amounts.total
        assert row.bytes <= tp * part.bytes
        assert part.amounts.total <= row.amounts.total


@pytest.mark.parametrize("attention", ["eager", "flash"])
@pytest.mark.parametrize("mode", ["train", "prefill", "decode"])
@pytest.mark.parametrize("tp", [2, 8])
def test_heads_and_widths_that_divide_are_split_exactly(tp: int, mode: str, attention: str) -> None:
    """All matrix products of Llama 3 8B; its vocabulary divides too. Norms and residuals do not."""
    whole, each = (LLAMA.flops(mode=mode, attention=attention, tp=number) for number in (1, tp))
    assert each.total * tp == whole.total
    for kind in ("projections", "attention scores", "feed-forward", "head"):
        assert each.kinds[kind].total * tp == whole.kinds[kind].total
    assert each.elementwise * tp > whole.elementwise


def test_more_gpus_than_key_value_heads_copy_them() -> None:
    """8 key-value heads over 16 GPUs: k and v are computed twice."""
    model = archcalc.load("llama-3-8b")
    whole, each = ({row.path: int(row.amounts.forward) for row in model.flops(tp=tp).rows} for tp in (1, 16))
    for name in ("q", "out", "k", "v"):
        path = next(path for path in whole if path.endswith(f".attention.{name}"))
        assert each[path] * (8 if name in "kv" else 16) == whole[path]


def test_sequence_parallelism_divides_norms_too() -> None:
    plain, cut = (LLAMA.flops(tp=8, sp=sp) for sp in (False, True))
    assert cut.total == plain.total
    whole = LLAMA.flops()
    assert whole.elementwise <= 8 * cut.elementwise < 8 * plain.elementwise


def test_context_parallelism_divides_queries_and_reads_all_keys() -> None:
    """An equal part of every product, attention's too: its own queries over the keys of all."""
    whole, each = (LLAMA.flops(attention="flash", seq=4096, cp=cp) for cp in (1, 4))
    assert {kind: 4 * part.total for kind, part in each.kinds.items()} == {
        kind: part.total for kind, part in whole.kinds.items()
    }


def test_replicas_share_the_tokens_of_a_training() -> None:
    """Over all GPUs it is the same work, however they are laid out."""
    plain = LLAMA.flops(tokens="1M").training
    for options in ({"dp": 8}, {"tp": 8}, {"tp": 2, "dp": 2}):
        assert LLAMA.flops(tokens="1M", **options).training == plain  # type: ignore[arg-type]


def test_weights_are_read_in_their_format() -> None:
    """A decode step of one token reads every matrix once: q8_0 takes 34 bytes for 32 weights, bf16 takes 64."""
    plain, q8 = (LLAMA.flops(mode="decode", weights=name) for name in ("bf16", "q8_0"))
    matrices = 32 * (4096 * (4096 + 1024 + 1024) + 4096 * 4096 + 3 * 4096 * 14336) + 4096 * 128256
    assert plain.rows[0].bytes == LLAMA.flops(mode="decode").rows[0].bytes
    assert sum(one.bytes for one in (plain.rows[0],)) - q8.rows[0].bytes == matrices * 2 - matrices * 34 // 32


def test_a_mixture_of_formats_reads_what_memory_holds() -> None:
    """All matrices but the embedding table, of which a step reads a row."""
    q4, plain = (LLAMA.flops(mode="decode", weights=name, tp=2).rows[0].bytes for name in ("q4_k_m", "bf16"))
    rows = {row.path: row.parts["weights"] for row in LLAMA.memory(weights="q4_k_m", tp=2).rows}
    norms = 2 * 4096 * (2 * 32 + 1)
    bf16 = {row.path: row.parts["weights"] for row in LLAMA.memory(weights="bf16", tp=2).rows}
    held, usual = (of["model"] - of["embedding"] for of in (rows, bf16))
    assert plain - q4 == (usual - norms) - (held - 2 * norms)  # norms of a GGUF file are fp32


def test_a_plan_that_cannot_be_is_refused() -> None:
    for options, fact in (
        ({"tp": 3}, "cannot be split over 3 GPUs"),
        ({"cp": 2}, "context parallelism needs plain flash attention"),
    ):
        with pytest.raises(archcalc.InputError, match=fact):
            LLAMA.flops(**options)  # type: ignore[arg-type]


def test_a_decode_step_reads_all_weights_but_of_the_table_a_row() -> None:
    """And the keys and values of the context and of the new token, which is written too."""
    traffic = LLAMA.flops(mode="decode", context=4095, batch=3).traffic
    assert traffic.weights == 2 * (8_030_261_248 - 128256 * 4096 + 3 * 4096)
    assert traffic.kv_cache == 3 * (4096 + 1) * 2 * 32 * 8 * 128 * 2
    assert traffic.state == 0


@pytest.mark.parametrize("attention", ["eager", "flash"])
def test_a_cache_is_read_in_its_format_however_attention_is_computed(attention: str) -> None:
    plain, narrow = (LLAMA.flops(mode="decode", attention=attention, kv_dtype=name).traffic for name in ("bf16", "fp8"))
    assert plain.kv_cache == 2 * narrow.kv_cache
    assert plain.weights == narrow.weights


def test_a_state_is_read_and_written_whole() -> None:
    """24 layers of 1,536 × 16 numbers, and the last three positions of a convolution."""
    model = archcalc.load("mamba-130m")
    state = 24 * (1536 * 16 + 1536 * 3) * 4
    assert model.flops(mode="decode").traffic.state == 2 * state == 2 * model.memory(mode="decode").parts["state"]
    assert model.flops(mode="prefill").traffic.state == state
    assert model.flops(mode="decode", state_dtype="bf16").traffic.state == state


@pytest.mark.parametrize(
    "layers",
    [
        {"decoder": {"blocks": 2, "pattern": ["lightning ffn"]}},
        {"decoder": 2, "position": {"kind": "transformer-xl", "memory": 3}},
    ],
)
def test_a_state_that_several_ops_read_is_read_once(layers: dict[str, Any]) -> None:
    model = archcalc.load({"vocab": 9, "d_model": 8, "heads": 2, "ffn": 6, **layers})
    assert model.flops(mode="decode").traffic.state == 2 * model.memory(mode="decode").parts["state"]


def test_what_the_model_does_not_have_is_refused() -> None:
    for name, options, fact in (
        ("mamba-130m", {"kv_dtype": "fp8"}, "no KV cache, but a recurrent state"),
        ("gpt2", {"state_dtype": "fp32"}, "no recurrent state, but a KV cache"),
        ("bert-base", {"kv_dtype": "fp8"}, "no cache and no decode step"),
        ("mamba-130m", {"attention": "flash"}, "no softmax attention"),
    ):
        with pytest.raises(archcalc.InputError, match=fact):
            archcalc.load(name).flops(mode="prefill", **options)  # type: ignore[arg-type]
