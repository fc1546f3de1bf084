"""`--kv-rule vllm`: what vLLM sets aside for a request, against the requests that fit by its start-up logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from archcalc import load
from archcalc.analyze.memory.deployment import deploy
from archcalc.analyze.memory.peak import peak
from archcalc.core.assumptions import Topic
from archcalc.core.errors import InputError
from archcalc.run.options import Options
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from conftest import Run

SMALL = {"seq": 65_536, "prefill": 2048, "kv_dtype": "fp8"}
LOGS = [  # model, options, bytes of a block, blocks for a request, blocks in all, requests that fit
    # 0.26 on an L40S: 10.56 GiB, 188,347 tokens; batches of 2,048, two of them in flight
    ("gemma-3-27b", SMALL, 10 * 16 * 2 * 16 * 128, 4096 + 6 * 321, 17_307, 2.87),
    # 0.11 on ROCm: 109.86 GiB, 205,696 tokens
    ("gemma-3-27b", {"seq": 4096}, 10 * 16 * 2 * 16 * 128 * 2, 256 + 6 * 257, 89_994, 50.05),
    # 0.13: 25.39 GiB, 950,864 tokens, of which a sixteenth is a seventh of all blocks, rounded down
    ("gemma-3-1b", {"seq": 2048}, 4 * 16 * 2 * 256 * 2, 128 + 6 * 129, 950_864 // 16 * 7 + 5, 461.21),
    # 0.19 on an H100, github.com/llm-d-incubation/llm-d-planner
    ("gemma-2-2b", {"seq": 8192}, 13 * 16 * 2 * 4 * 256 * 2, 512 + 513, 83_770, 81.73),
    ("gemma-2-9b", {"seq": 8192}, 21 * 16 * 2 * 8 * 256 * 2, 512 + 513, 21_110, 20.6),
    ("gpt-oss-20b", {"seq": 8192, "tp": 2}, 12 * 16 * 2 * 4 * 64 * 2, 512 + 513, 323_972, 316.07),
    ("llama-4-scout", {"seq": 8192, "tp": 4}, 12 * 16 * 2 * 2 * 128 * 2, 4 * 512, 91_495, 44.68),
    ("llama-3.1-8b", {"seq": 8192}, 32 * 16 * 2 * 8 * 128 * 2, 512, 29_751, 58.11),
]


@pytest.mark.parametrize(("name", "options", "block", "needed", "blocks", "requests"), LOGS)
def test_the_requests_that_fit(
    name: str, options: dict[str, Any], block: int, needed: int, blocks: int, requests: float
) -> None:
    """`Maximum concurrency for 65,536 tokens per request: 2.87x`."""
    kept = load(name).memory(**options, kv_rule="vllm").parts["kv_cache"]
    assert kept == needed * block
    assert round(blocks * block / kept, 2) == requests


def test_the_tokens_of_a_log() -> None:
    """Since 0.20.1 a log prints the requests that fit, times their length."""
    blocks, needed = 17_307, 4096 + 6 * 321
    assert int(blocks / needed * 65_536) == 188_347
    assert round(blocks * 10 * 16 * 2 * 16 * 128 / 2**30, 2) == 10.56


@pytest.mark.parametrize(("context", "blocks"), [(99, 7 + 6 * 8), (8191, 512 + 6 * 65), (8192, 513 + 6 * 65)])
def test_a_window_alone_is_kept_while_tokens_are_decoded(context: int, blocks: int) -> None:
    """Gemma 3 27B: 1,024 tokens, which may start within a block of 16."""
    kept = load("gemma-3-27b").memory(mode="decode", context=context, kv_rule="vllm").parts["kv_cache"]
    assert kept == blocks * 10 * 16 * 2 * 16 * 128 * 2


def test_layers_are_grouped_by_windows_that_no_sequence_fills_yet() -> None:
    """100 tokens are 7 blocks, and one more in each group of layers with a window."""
    kept = load("gemma-3-27b").part("text").memory(seq=100, kv_rule="vllm").parts["kv_cache"]
    assert kept == (7 + 6 * 8) * 10 * 16 * 2 * 16 * 128 * 2


def test_a_chunk_is_kept_with_the_tokens_in_flight() -> None:
    """Llama 4 Scout: chunks of 8,192 in three of four layers."""
    kept = load("llama-4-scout").memory(seq=65_536, prefill=1024, kv_rule="vllm").parts["kv_cache"]
    assert kept == (4096 + 3 * (8192 + 2 * 1024) // 16) * 12 * 16 * 2 * 8 * 128 * 2


def test_each_sequence_has_blocks_of_its_own() -> None:
    """Of a model without windows a block of 16 tokens is all that is rounded."""
    kept = load("llama-3-8b").memory(batch=3, seq=17, kv_rule="vllm").parts["kv_cache"]
    assert kept == 3 * 2 * 16 * 32 * 2 * 8 * 128 * 2


def test_recurrent_layers_are_padded_to_the_blocks_of_attention() -> None:
    """Qwen3-Next: 36 layers in three groups of 12, two blocks each, whose convolutions keep the model's format."""
    report = load("qwen3-next-80b-a3b").memory(seq=8192, state_dtype="fp32", kv_rule="vllm")
    assert report.parts["kv_cache"] == 8 * 12 * 1056 * 2 * 2 * 256 * 2
    assert report.parts["state"] == 2 * 36 * 1056 * 2 * 2 * 256 * 2


@pytest.mark.parametrize(("pattern", "blocks"), [("[conv ffn]", 0), ("[conv ffn, attention ffn]", 32)])
def test_a_convolution_of_one_position_is_no_layer_of_the_cache(pattern: str, blocks: int) -> None:
    sizes = ["vocab=64", "d_model=64", "heads=4", "kv_heads=2", "ffn.width=8", "conv={kind: gated, kernel: 1}"]
    model = load("llama-3-8b", set=[*sizes, f"decoder={{blocks: 2, pattern: {pattern}}}"])
    parts = model.memory(seq=512, kv_rule="vllm").parts
    assert (parts["kv_cache"], parts["state"]) == (blocks * 16 * 2 * 2 * 16 * 2, 0)


def test_groups_under_tensor_parallelism() -> None:
    """Jamba over two GPUs: half of the heads and of the channels, and so blocks of as many tokens."""
    one, two = (load("jamba-v0.1").memory(seq=4096, tp=tp, kv_rule="vllm").parts for tp in (1, 2))
    assert one["kv_cache"] == 2 * two["kv_cache"] == -(-4096 // 80) * 80 * 4 * 2 * 8 * 128 * 2
    assert one["state"] == 2 * two["state"] == 2 * 28 * 80 * 2 * 8 * 128 * 2


def test_cross_attention_keeps_what_the_encoder_read() -> None:
    """Whisper: 1,500 positions in 94 blocks, beside 448 in 28."""
    kept = load("whisper-tiny").memory(src_seq=1500, tgt_seq=448, kv_rule="vllm").parts["kv_cache"]
    assert kept == (94 + 28) * 16 * 4 * 2 * 384 * 4


@pytest.mark.parametrize("name", ["gemma-3-27b", "recurrentgemma-2b", "jamba-v0.1", "gemma-3-1b"])
def test_layers_and_padding_add_up(name: str) -> None:
    report = load(name).memory(seq=4096, batch=2, kv_rule="vllm")
    for part in ("kv_cache", "state"):
        assert (
            sum(row.parts[part] for row in report.rows if row.path == "model" or row.kind == "padding")
            == (report.parts[part])
        )
        inside = [row for row in report.rows if row.path.rpartition(".")[2] == "decoder"]
        assert sum(row.parts[part] for row in inside) == report.rows[0].parts[part]


def test_a_file_that_lists_its_cache_is_laid_out_too() -> None:
    """As the model that it is of."""
    kept = {"heads": 16, "k_dim": 128, "v_dim": 128}
    cache = [{"layers": 10, **kept}, {"layers": 52, "window": 1024, **kept}]
    listed = load({"family": "weights", "tensors": {"a": "bf16 [8, 8]"}, "cache": cache})
    options: dict[str, Any] = {"seq": 32_768, "kv_rule": "vllm", "kv_dtype": "bf16"}
    assert listed.memory(**options).parts["kv_cache"] == load("gemma-3-27b").memory(**options).parts["kv_cache"]


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("awd-lstm", "vLLM has no cache for the states of a recurrent network"),
        ("rnnsearch", "vLLM has no cache for the states of a recurrent network"),
        ("transformer-xl-enwik8", "vLLM has no cache for a memory of hidden states"),
    ],
)
def test_what_vllm_does_not_run_is_refused(name: str, fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        load(name).memory(kv_rule="vllm")


@pytest.mark.parametrize("columns", [80, 140])
def test_the_layout_is_said(run: Run, columns: int) -> None:
    asked = ("memory", "gemma-3-27b", "--seq", "65536", "--kv-rule", "vllm", "--prefill", "2048", "--notes")
    out = run(*asked, columns=columns).out
    assert max(map(len, out.splitlines())) <= columns
    said = " ".join(out.split())
    assert "10 full-attention and 52 sliding-window layers as 7 groups of 10 with 8 padding layers" in said
    assert "in blocks of 16 tokens; --kv-rule changes it" in said
    assert "up to 2 batches of 2,048 tokens that are being computed; --prefill changes it" in said
    assert "padding layers" in [line[:14] for line in out.splitlines()]


def test_tokens_in_flight_are_said_where_they_matter() -> None:
    """Not of a sequence that is shorter than the window, nor while tokens are decoded."""
    model = load("gemma-3-27b")
    reports = [
        model.memory(seq=1024, kv_rule="vllm"),
        model.memory(mode="decode", context=8192, kv_rule="vllm"),
        model.memory(seq=2048, kv_rule="vllm"),
    ]
    said = [[each.option for each in report.assumptions if each.topic is Topic.KV_CACHE] for report in reports]
    assert said == [["--kv-rule"], ["--kv-rule"], ["--kv-rule", "--prefill"]]


def in_flight(name: str, **options: Any) -> str:
    """What is said of the tokens that a window or a chunk keeps besides."""
    report = load(name).memory(**options, kv_rule="vllm")
    (said,) = (each.text for each in report.assumptions if each.option == "--prefill")
    return said


def test_what_nobody_said_of_tokens_in_flight_is_called_a_default() -> None:
    """And so is that activations are counted for another way to read the prompt."""
    usual, given = in_flight("gemma-3-27b", seq=32_768), in_flight("gemma-3-27b", seq=32_768, prefill=8192)
    assert given == usual.partition(" (")[0]
    assert usual.endswith("(vllm serve's default on an H100; activations here are of the whole prompt at once)")
    assert in_flight("gemma-3-27b", seq=8192).endswith("(vllm serve's default on an H100)")


def test_a_chunk_is_not_called_a_window() -> None:
    said = in_flight("llama-4-scout", seq=32_768)
    assert said.startswith("beside its chunk, a chunked-attention layer keeps up to 2 batches of 8,192 tokens")


@pytest.mark.parametrize(("options", "latent"), [({}, 576 * 2), ({"kv_dtype": "fp8"}, 656)])
def test_keys_of_an_indexer_are_in_fp8_with_scales(options: dict[str, Any], latent: int) -> None:
    """DeepSeek V3.2: 128 bytes and an fp32 scale beside a latent vector, whose own format in fp8 takes 656 bytes
    (DeepseekV32IndexerCache and fp8_ds_mla)."""
    model = load("deepseek-v3", set=["attention.index={heads: 64, head_dim: 128, top: 2048}"])
    assert model.memory(engine="vllm", seq=4096, **options).parts["kv_cache"] == 61 * 4096 * (latent + 132)


def test_latent_attention_sets_expanded_keys_and_values_aside() -> None:
    """64 K tokens of 16 heads of 128 + 128 in bf16, 512 MiB beside DeepSeek V2 Lite's step, since 0.11."""
    since, before = (
        peak(deploy(load("deepseek-v2-lite"), Options.of("memory", {"engine": f"vllm@{version}"})), Sizes(1, 8192)).step
        for version in ("0.12", "0.10")
    )
    assert max(since.schedule.bytes.values()) == 65536 * 16 * 256 * 2 > max(before.schedule.bytes.values())
