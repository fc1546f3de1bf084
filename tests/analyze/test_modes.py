"""One vocabulary of modes for all commands: train, prefill, decode, and infer, a prompt that is read and its cache."""

from __future__ import annotations

import pytest

import archcalc

LLAMA = archcalc.load("llama-3-8b")
EACH = 2 * 32 * 8 * 128 * 2  # bytes of a token's keys and values in bf16


def test_infer_is_a_prompt_and_its_cache() -> None:
    infer, prefill = (LLAMA.memory(mode=mode, seq=1000) for mode in ("infer", "prefill"))
    assert infer.parts == prefill.parts
    assert infer.parts["kv_cache"] == 1000 * EACH
    assert prefill.record()["mode"] == "prefill"


def test_infer_counts_the_flops_of_a_prompt_and_says_so() -> None:
    infer, prefill = (LLAMA.flops(mode=mode, seq=1000) for mode in ("infer", "prefill"))
    assert infer.total == prefill.total
    assert any("infer" in words and "prefill" in words for words in map(str, infer.assumptions))


def test_the_context_is_the_length_in_infer() -> None:
    assert LLAMA.memory(context=1000).parts == LLAMA.memory(seq=1000).parts
    assert LLAMA.flops(mode="infer", context=1000).total == LLAMA.flops(mode="infer", seq=1000).total


def test_decode_has_the_cache_of_the_context_and_the_activations_of_one_token() -> None:
    decode = LLAMA.memory(mode="decode", context=999)
    assert decode.parts["kv_cache"] == 1000 * EACH  # with the new token's
    assert decode.parts["weights"] == LLAMA.memory().parts["weights"]
    one = LLAMA.memory(mode="prefill", seq=1).parts["activations"]
    assert one <= decode.parts["activations"] < LLAMA.memory(seq=1000).parts["activations"] / 100
    assert decode.record()["context"] == 999


def test_the_sequence_is_the_context_of_decode() -> None:
    assert LLAMA.memory(mode="decode", seq=999).parts == LLAMA.memory(mode="decode", context=999).parts


@pytest.mark.parametrize("name", ["bert-base", "vit-b-16"])
def test_what_keeps_no_cache_decodes_nothing(name: str) -> None:
    model = archcalc.load(name)
    for ask in (model.memory, model.flops):
        with pytest.raises(archcalc.InputError, match=r"no decode step|no tokens to decode"):
            ask(mode="decode")


def test_fit_answers_for_decode() -> None:
    """The longest context is exact: one more token does not fit."""
    row = archcalc.fit(LLAMA, "24GiB", mode="decode", context=2048).rows[0]
    assert row.required_bytes == LLAMA.memory(mode="decode", context=2048).total_bytes
    assert row.max_seq
    assert LLAMA.memory(mode="decode", context=row.max_seq).total_bytes <= row.capacity_bytes


def test_fit_of_a_table_of_positions_leaves_room_for_the_new_token() -> None:
    row = archcalc.fit(archcalc.load("gpt2"), "24GiB", mode="decode").rows[0]
    assert (row.max_seq, row.limited_by) == (1023, "positions")


def test_a_decode_step_does_not_compute_or_store_again_what_the_encoder_gave() -> None:
    """Keys and values of the encoder's output are in the cache: one layer's would be 32 × 2048 × 768 numbers."""
    report = archcalc.load("textbook").memory(mode="decode", context=10)
    assert report.parts["activations"] < 4 * 32 * 2048 * 768


def test_a_decode_step_reads_the_cache_and_writes_one_position() -> None:
    """Of 8 layers, keys and values: the encoder's 2,048 positions are read; of the decoder's, 11 read and 1 written."""
    traffic = archcalc.load("textbook").flops(mode="decode", context=10).record()["traffic"]
    assert traffic["kv_cache"] == 8 * 2 * 4 * 32 * 768 * (2048 + 11 + 1)


def test_a_recurrent_decoder_reads_the_encoders_states() -> None:
    """RNNsearch with sources of 50: states of 2,000 numbers and keys of 1,000, for each of 80 sequences."""
    traffic = archcalc.load("rnnsearch").flops(mode="decode", context=10).record()["traffic"]
    assert traffic["kv_cache"] == 4 * 80 * 50 * (2000 + 1000)


def test_what_a_step_starts_from_is_a_state_and_no_key() -> None:
    """Luong's scores and context both read the encoder's 50 states of 1,000 numbers, for each of 128 sequences."""
    traffic = archcalc.load("luong").flops(mode="decode", context=10).record()["traffic"]
    assert traffic["kv_cache"] == 2 * 4 * 128 * 50 * 1000
