"""Bytes of weights that a forward pass reads: in the format of the run, which memory and fit take too."""

from __future__ import annotations

import pytest

import archcalc

# Numbers beside the parameters that steer the choice of experts: one for each expert of each layer
QUANTISED = [("deepseek-v3", 58 * 256), ("kimi-k2", 60 * 384), ("gpt-oss-20b", 0)]


@pytest.mark.parametrize(("name", "steering"), QUANTISED)
def test_weights_are_read_in_the_format_that_memory_and_fit_hold_them_in(name: str, steering: int) -> None:
    """All but the token table, of which a prompt reads its rows, and what steers the choice of experts, in 16 bits."""
    model = archcalc.load(name)
    work, held = model.flops(mode="prefill", seq=4096), model.memory(mode="prefill", seq=4096)
    fitted = archcalc.fit(model, "4TB", mode="prefill", seq=4096)
    assert work.weights == held.weights == fitted.record()["weights_format"]
    table = next(row.parts["weights"] for row in held.rows if row.path == "embedding")
    rows = 2 * 4096 * (7168 if steering else 2880)
    assert work.traffic.weights_largest == held.parts["weights"] - table + rows - 2 * steering


def test_deepseek_v3_reads_its_experts_in_fp8() -> None:
    """One more token that shares no expert reads 8 more of each of 58 layers: a byte for each weight, and 4 bytes for
    each block of 128 × 128."""
    one, two = (archcalc.load("deepseek-v3").flops(mode="decode", batch=batch).traffic for batch in (1, 2))
    matrices = 58 * 8 * 3 * 7168 * 2048
    assert two.weights_largest - one.weights == matrices + 4 * matrices // 128**2 + 2 * 7168


def test_the_format_that_was_asked_for_is_read() -> None:
    model = archcalc.load("deepseek-v3")
    plain, asked = (model.flops(mode="decode", weights=name) for name in (None, "bf16"))
    assert (plain.weights, asked.weights) == ("fp8, blocks of 128 × 128", "bf16")
    assert asked.traffic.weights == 73_251_221_504
    assert any("fp8, blocks of 128 × 128, from the spec" in str(each) for each in plain.assumptions)


@pytest.mark.parametrize(("precision", "width"), [("fp32", 4), ("mixed", 2), ("autocast", 2), ("bf16", 2)])
def test_training_reads_weights_in_the_format_that_it_computes_in(precision: str, width: int) -> None:
    """GPT-2 over 100 tokens: of the table of positions 100 rows, of the tokens' all for the head, and 100 rows."""
    traffic = archcalc.load("gpt2").flops(mode="train", seq=100, precision=precision).traffic
    assert traffic.weights == width * (124_439_808 - 1024 * 768 + 100 * 768 + 100 * 768)


def test_training_in_fp8_reads_a_byte_for_each_weight_of_a_product() -> None:
    """Biases, norms and rows that are looked up are bf16."""
    traffic = archcalc.load("gpt2").flops(mode="train", seq=100, precision="fp8").traffic
    matrices = 12 * (4 * 768 * 768 + 2 * 768 * 3072) + 50257 * 768
    vectors = 12 * (4 * 768 + 3072 + 768 + 4 * 768) + 2 * 768
    assert traffic.weights == matrices + 2 * (vectors + 2 * 100 * 768)


def test_qlora_reads_the_base_model_as_it_is_stored() -> None:
    """Linear layers in nf4, 4 bits for each weight and 32 for every 64; adapters in bf16 beside both."""
    model = archcalc.load("llama-3-8b")
    plain, narrow = (model.flops(mode="train", seq=8, lora=16, weights=name).traffic for name in ("bf16", "nf4"))
    linear = 32 * (4096 * (4096 + 1024 + 1024) + 4096 * 4096 + 3 * 4096 * 14336)
    adapters = 32 * 16 * (2 * 4096 + 4096 + 1024)
    assert plain.weights == 2 * (8_030_261_248 - 128256 * 4096 + 8 * 4096 + adapters)
    assert plain.weights - narrow.weights == 2 * linear - linear * 4 // 8 - linear // 64 * 4
