"""Memory of inference: weights in every format, the cache by its rules, the prompt, the overhead."""

from __future__ import annotations

import json
import struct
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from archcalc import load
from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.decode_cache import CacheFormats, appended, cached
from archcalc.core.errors import InputError
from archcalc.storage import ggml_types
from archcalc.storage.format import BLOCKED
from archcalc.storage.named_formats import names, uniform_format, weight_format
from archcalc.storage.places import Shape

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

BLOCKS = {kind["name"].lower(): kind for kind in ggml_types.types().values()}


@pytest.mark.parametrize(
    "name", [name for name in names() if name in BLOCKS and uniform_format(name).quantises == BLOCKED]
)
def test_gguf_formats_take_what_their_blocks_take(name: str) -> None:
    """Scales counted: the bytes of a block in ggml-common.h over its weights, and those that each row has besides."""
    block = BLOCKS[name]
    of_a_row = 2 * block["bytes"] + block.get("row", 0)
    assert uniform_format(name).bytes(Shape(1, 3, 2 * block["numbers"])) == 3 * of_a_row


def test_formats_of_engines_take_what_their_scales_take() -> None:
    """MXFP4: 17 bytes for 32 weights; NVFP4: 9 for 16; int4: 4 bits, and 20 for every 128."""
    assert weight_format("mxfp4").bits_per_weight == Fraction(17 * 8, 32)
    assert weight_format("nvfp4").bits_per_weight == Fraction(9 * 8, 16)
    assert weight_format("int4").bits_per_weight == 4 + Fraction(20, 128)
    assert weight_format("fp8_block").bits_per_weight == 8 + Fraction(32, 128 * 128)


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("iq1_s", 2.0042),
        ("iq1_m", 2.1460),
        ("iq2_xxs", 2.3824),
        ("iq2_xs", 2.5882),
        ("iq2_s", 2.7403),
        ("iq2_m", 2.9294),
        ("iq3_xxs", 3.2548),
        ("iq3_xs", 3.4977),
        ("iq3_s", 3.6606),
        ("iq3_m", 3.7628),
        ("q2_k_s", 2.9697),
        ("q2_k", 3.1593),
        ("iq4_xs", 4.4597),
        ("iq4_nl", 4.6818),
        ("q3_k_s", 3.6429),
        ("q3_k_l", 4.2979),
        ("q5_k_s", 5.5704),
        ("q3_k_m", 3.9960),
        ("q4_k_s", 4.6672),
        ("q4_k_m", 4.8944),
        ("q5_k_m", 5.7036),
        ("q6_k", 6.5633),
        ("q8_0", 8.5008),
    ],
)
def test_a_mixture_takes_what_llama_cpp_prints_of_the_file(name: str, bits: float) -> None:
    """Llama 3.1 8B, the table of llama.cpp's tools/quantize/README.md: bits a weight, to four digits."""
    weights = load("llama-3-8b").memory(weights=name).parts["weights"]
    assert round(8 * weights / 8_030_261_248, 4) == bits


def test_a_name_means_the_file_that_llama_cpp_calls_so(run: Run) -> None:
    """Q4_0 keeps the head in Q6_K; one format for all is what llama-quantize calls pure, and is said to be no file."""
    mixed, pure = (load("llama-3-8b").memory(weights=name) for name in ("q4_0", "Q4_0_pure"))
    head = 4096 * 128256
    assert mixed.parts["weights"] - pure.parts["weights"] == head * 210 // 256 - head * 18 // 32
    assert "weights: Q4_0 for every matrix; llama.cpp's files mix formats: q4_0, q4_0_im" in map(str, pure.assumptions)
    assert "files mix formats: q4_k_m, q4_k_s" in " ".join(run("memory", "llama-3-8b", "--weights", "q4_k").out.split())


def test_a_file_may_keep_queries_keys_and_values_in_one_matrix() -> None:
    """Phi-4 in Q4_K_M: all three in Q5_K, and 8.43 GiB in logs; one of the same shapes as Llama has it takes 8.28."""
    spec = load("phi-4").document.data
    unfused = {name: value for name, value in spec.items() if name != "fused_qkv"}
    joined, apart = (load(each).memory(weights="q4_k_m").parts["weights"] / 2**30 for each in (spec, unfused))
    assert (round(joined, 2), round(apart, 2)) == (8.43, 8.28)


def test_a_delta_net_keeps_queries_keys_and_values_in_one_matrix_too() -> None:
    """Qwen3-Next in Q4_K_M: 2,048 × 8,192 of 36 blocks in Q5_K, where Q4_K_S has Q4_K."""
    medium, pure = (load("qwen3-next-80b-a3b").memory(weights=name, depth=4) for name in ("q4_k_m", "q4_k"))
    found = [{row.path: row.parts["weights"] for row in report.rows} for report in (medium, pure)]
    entering = next(path for path in found[0] if path.endswith("delta.in"))
    assert found[0][entering] - found[1][entering] == 36 * 2048 * 8192 * (176 - 144) // 256


@pytest.mark.parametrize(
    ("logged", "name"),
    [
        ("Q4_K - Medium", "q4_k_m"),
        ("Q3_K - Small", "q3_k_s"),
        ("Q2_K - Medium", "q2_k"),
        ("IQ4_XS - 4.25 bpw", "iq4_xs"),
        ("IQ3_S mix - 3.66 bpw", "iq3_m"),
        ("MXFP4 MoE", "mxfp4_gguf"),
    ],
)
def test_files_may_be_named_as_logs_print_them(logged: str, name: str) -> None:
    """llama.cpp's `print_info: file type`."""
    assert weight_format(logged) == weight_format(name)


def test_a_cache_is_kept_in_one_format(run: Run) -> None:
    """Q4_0 of keys and values is the block format, and no mixture."""
    assert load("llama-3-8b").memory(seq=64, kv_dtype="q4_0").parts["kv_cache"] == 64 * 2 * 32 * 8 * 128 * 18 // 32
    assert "no format called q4_k_m" in run("memory", "llama-3-8b", "--kv-dtype", "q4_k_m").err


def test_nf4_keeps_its_scales_in_half_a_bit_or_an_eighth() -> None:
    """Dettmers et al. 2023: 32/64 bits a weight, or 8/64 + 32/(64·256) with double quantisation, 0.127."""
    assert weight_format("nf4").bits_per_weight == 4 + Fraction(32, 64)
    assert weight_format("nf4_dq").bits_per_weight == 4 + Fraction(8, 64) + Fraction(32, 64 * 256)


def test_bitsandbytes_widens_a_matrix_while_it_reads_a_prompt() -> None:
    """The feed-forward layers' 11,008 × 4,096 of Llama 2 7B; Lightning's plugin widens the head too, twice. litgpt's
    table says 4.57 and 4.26 GB for the latter, and 37.21 for the 70B."""
    model = load("llama-2-7b")
    usual = model.memory(weights="nf4", seq=256, overhead=0)
    assert usual.parts["temporary"] == 2 * 4096 * 11008
    assert any("dequantised" in str(words) for words in usual.assumptions)
    assert model.memory(weights="nf4", seq=256, prefill=1, overhead=0).parts["temporary"] == 0
    assert model.memory(weights="int4", seq=256, overhead=0).parts["temporary"] == 0
    head = model.memory(weights="nf4_lightning", seq=256, overhead=0)
    assert head.parts["temporary"] == 2 * 2 * 4096 * 32000
    assert usual.parts["weights"] - head.parts["weights"] == 4096 * 32000 * 2 - 4096 * 32000 * 36 // 64


@pytest.mark.parametrize("name", names())
def test_every_format_is_sourced_and_never_smaller_than_its_bits(name: str) -> None:
    """Begun groups count whole."""
    one = weight_format(name)
    assert one.source or not one.is_quantised
    assert all(one.bytes_of(number) * 8 >= number * one.bits_per_weight for number in (1, 31, 256, 4097))


def test_quantised_weights_leave_the_rest_as_it_was() -> None:
    """fp8 of Llama 3 8B, as engines load it: table, head and norms stay in bf16."""
    linears = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
    report = load("llama-3-8b").memory(weights="fp8")
    assert report.parts["weights"] == linears + 2 * (8_030_261_248 - linears)


@pytest.mark.parametrize(("name", "size"), [("gpt-oss-20b", 12.8), ("gpt-oss-120b", 60.8)])
def test_experts_alone_may_be_quantised(name: str, size: float) -> None:
    """The gpt-oss model card's table of checkpoints, in GiB."""
    assert round(load(name).memory(weights="mxfp4_moe").parts["weights"] / 2**30, 1) == size


def test_kernels_may_want_experts_padded() -> None:
    """vLLM's on Hopper: 2,880 inputs to 2,944, outputs to 3,072, gate and up together to 2 × 2,944; one log of
    gpt-oss 120B says 64.38 GiB, RoPE's table of 0.03 and biases in fp32 among them."""
    plain, padded = (
        load("gpt-oss-20b").memory(weights=f"mxfp4_moe{kind}").parts["weights"] for kind in ("", "_hopper")
    )
    added = 2 * (2944 * 2944 - 2880 * 2880) + (3072 * 2944 - 2880 * 2880)
    assert padded - plain == 24 * 32 * added * 17 // 32
    assert round(load("gpt-oss-120b").memory(weights="mxfp4_moe_hopper").parts["weights"] / 2**30, 1) == 64.2


def test_a_row_of_broken_blocks_takes_another_format() -> None:
    """Q4_K needs 256 weights in a row: 896 make Q5_0 of it, and Q8_0 of Q6_K, as llama.cpp's quantiser."""
    spec: dict[str, Any] = {
        "vocab": 512,
        "d_model": 896,
        "heads": 14,
        "kv_heads": 2,
        "head_dim": 64,
        "decoder": 8,
        "bias": False,
    }
    spec |= {"norm": "rms", "position": "rope", "ffn": {"width": 1024, "act": "silu", "gated": True}, "head": "lm"}
    norms = (2 * 8 + 1) * 896 * 4
    narrow = 2 * 896 * 896 + 2 * 128 * 896 + 2 * 1024 * 896  # a block's matrices with rows of 896
    values = 128 * 896  # in Q6_K, and so in Q8_0, in 4 layers of 8
    down = 4 * 896 * 1024 * 210 // 256 + 4 * 896 * 1024 * 144 // 256
    ends = 512 * 896 * 22 // 32 + 512 * 896 * 34 // 32  # the table, and the head
    blocks = 8 * narrow * 22 // 32 + 4 * values * (34 - 22) // 32
    assert load(spec).memory(weights="q4_k_m").parts["weights"] == norms + ends + blocks + down


def test_mixtures_know_layers_by_their_numbers() -> None:
    """Windowed and full attention in turns are one stack: values in Q6_K are those of 0, 3, 6 and 7 of 8 layers."""
    spec: dict[str, Any] = {
        "vocab": 512,
        "d_model": 256,
        "heads": 4,
        "head_dim": 64,
        "bias": False,
        "norm": "rms",
        "position": "rope",
    }
    spec |= {"ffn": {"width": 256, "act": "silu", "gated": True}, "head": "lm"}
    turns = {"blocks": 8, "pattern": ["local ffn", "attention ffn"]}
    local = {"variants": {"local": {"like": "attention", "window": 16}}, "decoder": turns}
    alike = load({**spec, "decoder": 8}).memory(weights="q4_k_m").parts["weights"]
    assert load({**spec, **local}).memory(weights="q4_k_m").parts["weights"] == alike


def test_gguf_keeps_routers_in_fp32() -> None:
    """As llama.cpp prints them: Qwen3 30B A3B in Q5_K_M has 20.228 GiB, Qwen3 235B A22B in Q6_K 179.754."""
    sizes = {"qwen3-30b-a3b": ("q5_k_m", 20.228), "qwen3-235b-a22b": ("q6_k", 179.754)}
    for name, (kind, size) in sizes.items():
        assert round(load(name).memory(weights=kind).parts["weights"] / 2**30, 3) == size


def test_gguf_quantises_tables_too_and_widens_norms() -> None:
    """Q8_0: 34 bytes for 32 weights of every matrix, norms in fp32."""
    vectors = (2 * 32 + 1) * 4096
    report = load("llama-3-8b").memory(weights="Q8_0")
    assert report.parts["weights"] == (8_030_261_248 - vectors) * 34 // 32 + 4 * vectors


def test_the_cache_of_so_many_tokens() -> None:
    """Keys and values of 8 KV heads of 128 in 32 layers."""
    model = load("llama-3-8b")
    assert model.memory(seq=4096, batch=3).parts["kv_cache"] == 3 * 4096 * 2 * 32 * 8 * 128 * 2
    assert model.memory(seq=4096, kv_dtype="q8_0").parts["kv_cache"] == 4096 * 2 * 32 * 8 * 128 * 34 // 32
    assert model.memory(seq=4096, kv_dtype="fp8").parts["kv_cache"] == 4096 * 2 * 32 * 8 * 128


@pytest.mark.parametrize(
    ("rule", "kept"), [("window", 1024), ("window-1", 1023), ("window+batch", 1024 + 512), ("full", 4096)]
)
def test_a_window_keeps_what_the_rule_says(rule: str, kept: int) -> None:
    """Every layer with a window of 1,024; shorter sequences keep what there is."""
    model = load("llama-3-8b", set=["attention.window=1024"])
    each = 2 * 32 * 8 * 128 * 2
    assert model.memory(seq=4096, kv_rule=rule).parts["kv_cache"] == kept * each
    assert model.memory(seq=512, kv_rule=rule).parts["kv_cache"] == 512 * each
    assert model.memory(seq=1024, kv_rule=rule).parts["kv_cache"] == min(kept, 1024) * each
    assert any("--kv-rule" in str(words) for words in model.memory(seq=4096, kv_rule=rule).assumptions)
    assert not any("--kv-rule" in str(words) for words in model.memory(seq=512, kv_rule=rule).assumptions)


@pytest.mark.parametrize("context", [6, 900, 5000])
@pytest.mark.parametrize("name", ["llama-3-8b", "mistral-7b", "gemma-2-9b", "deepseek-v3", "mamba-2.8b", "t5-small"])
def test_the_cache_of_any_length_follows_from_a_tree_of_another(name: str, context: int) -> None:
    """Batch, windows and a second sequence among it: as many elements as a step of that length records."""
    model, formats = load(name), CacheFormats.plain("bf16")
    work = model.workload(batch=3, seq=context, mode="decode")
    recorded = [int(2 * times * tensor.size) for tensor, _, times in appended(model.build(work))]
    usual = model.build(model.workload(mode="prefill", attention="flash"))
    assert [one.bytes for one in cached(usual, work, formats)] == recorded and any(recorded)


def test_an_encoder_decoder_caches_both_sides() -> None:
    """The textbook's 8 decoder blocks: keys and values of 768 for each target, and once for each source position."""
    report = load("textbook").memory(batch=2, src_seq=100, tgt_seq=30)
    assert report.parts["kv_cache"] == 2 * 8 * 2 * (100 + 30) * 768 * 4


def test_a_remembered_answer_belongs_to_its_lengths() -> None:
    """The source's length is not the target's."""
    ask = Memory(load("textbook"))
    assert ask.total(2, None, src_seq=100, tgt_seq=30) == ask.at(2, None, src_seq=100, tgt_seq=30).total_bytes
    assert ask.total(2, None, src_seq=30, tgt_seq=100) != ask.total(2, None, tgt_seq=30, src_seq=100)


def test_kernel_attention_keeps_a_state_of_one_size() -> None:
    """However long the sequence: a matrix and a vector for each head."""
    model = load("gpt2", set=["attention.feature=elu"])
    short, long = (model.memory(seq=seq).parts for seq in (16, 1024))
    assert short["state"] == long["state"] == 12 * 12 * (64 * 64 + 64) * 4
    assert short["kv_cache"] == 0


def test_a_recurrent_state_has_a_format_of_its_own() -> None:
    """llama.cpp prints 3.38 and 72.00 MiB in fp32 for Qwen3-Next, however its keys and values are rounded: 36 layers,
    3 columns of a convolution over 8,192 numbers, and 32 heads of 128 × 128."""
    model, each = load("qwen3-next-80b-a3b"), 36 * (3 * 8192 + 32 * 128 * 128)
    assert model.memory(seq=4096).parts["state"] == 2 * each
    rounded = model.memory(seq=4096, kv_dtype="q8_0", state_dtype="fp32").parts
    assert rounded["state"] == 4 * each == round((3.375 + 72) * 2**20)
    assert rounded["kv_cache"] == 4096 * 12 * 2 * 2 * 256 * 34 // 32


def test_llama_cpp_pads_what_a_window_keeps() -> None:
    """gpt-oss 120B over pieces of 1,024: 128 + 1,024 positions in 1,280 cells, and so 90 MiB for two sequences."""
    model = load("gpt-oss-120b")
    kept = model.memory(seq=131_072, batch=2, kv_rule="window+batch", prefill=1024).parts["kv_cache"]
    assert kept == (9216 + 90) * 2**20


def test_a_recurrent_state_keeps_its_format_and_says_what_it_keeps() -> None:
    """Jamba: 28 Mamba blocks of 8,192 channels, 16 numbers each and 3 positions of the convolution, in bf16."""
    wide, narrow = (load("jamba-v0.1").memory(seq=64, kv_dtype=kv) for kv in ("bf16", "fp8"))
    assert wide.parts["kv_cache"] == 2 * narrow.parts["kv_cache"] == 2 * 64 * 4 * 8 * 128 * 2
    assert wide.parts["state"] == narrow.parts["state"] == 28 * 8192 * (16 + 3) * 2
    assert any("kernel − 1 positions" in str(words) for words in wide.assumptions)


def test_the_head_sees_the_last_position_alone() -> None:
    """So that a long prompt needs no logits of its own: its fullest instant is in the blocks."""
    report = load("llama-3-8b").memory(seq=8192)
    assert report.peak.place.path == "decoder.blocks"
    assert report.parts["activations"] < 8192 * 128256 * 2


@pytest.mark.parametrize("command", ["memory", "flops", "fit"])
def test_more_positions_than_the_model_was_made_for_are_told(run: Run, command: str) -> None:
    """RoPE can be asked for any length; that Llama 3 never saw more than 8,192 tokens is said."""
    told = "seq 10,000: longer than the 8,192 that the model was trained for"
    assert told in run(command, "llama-3-8b", "--seq", "10000").out
    assert "longer than" not in run(command, "llama-3-8b", "--seq", "8192").out


def test_a_prompt_in_pieces_needs_less() -> None:
    """The cache stays, the activations shrink with the piece."""
    whole, piece = (load("llama-3-8b").memory(seq=8192, prefill=size).parts for size in (None, 1024))
    assert piece["activations"] == whole["activations"] // 8
    assert piece["kv_cache"] == whole["kv_cache"]


def test_overhead_is_named_and_can_be_left_out() -> None:
    """An estimate with its source; 0 leaves it out, another number replaces it."""
    model = load("gpt2")
    usual, none, given = (model.memory(overhead=overhead) for overhead in (None, 0, 10**9))
    assert usual.total_bytes - none.total_bytes == usual.parts["overhead"] > 0
    assert none.parts["overhead"] == 0
    assert given.parts["overhead"] == 10**9
    assert any("overhead" in str(words) and "H100" in str(words) for words in usual.assumptions)


@pytest.mark.parametrize("name", ["gpt2", "textbook", "bert-base", "vit-b-16", "linear-autoencoder", "seq2seq"])
def test_parts_add_up_for_every_family(run: Run, name: str) -> None:
    """Every part, exact ints, and rows that come to the weights and the cache."""
    record = run("memory", name, "--format", "json").json
    assert list(record["parts"]) == [
        *("weights", "adapters", "draft", "reference", "rollout", "master", "gradients", "optimizer", "activations"),
        *("logits", "temporary", "buffers", "kv_cache", "state", "draft_cache", "rollout_cache", "overhead"),
    ]
    assert sum(record["parts"].values()) == record["total_bytes"]
    whole = record["rows"][0]
    assert whole["weights"] <= record["parts"]["weights"]
    assert whole["kv_cache"] == record["parts"]["kv_cache"]


def test_a_file_of_weights_takes_its_own_bytes(tmp_path: Path) -> None:
    """What it stores, in the formats it stores it in; what is computed with it is not known."""
    header = {
        "embed.weight": {"dtype": "F32", "shape": [10, 8], "data_offsets": [0, 320]},
        "out.weight": {"dtype": "BF16", "shape": [10, 8], "data_offsets": [320, 480]},
    }
    text = json.dumps(header).encode()
    file = tmp_path / "model.safetensors"
    file.write_bytes(struct.pack("<Q", len(text)) + text + bytes(480))
    report = load(file).memory()
    assert (report.parts["weights"], report.parts["kv_cache"]) == (4 * 80 + 2 * 80, 0)
    with pytest.raises(InputError, match="does not describe the computation"):
        load(file).memory(mode="train")


@pytest.mark.parametrize("name", ["gpt2", "llama-3-8b", "textbook", "seq2seq"])
def test_more_of_anything_never_needs_less(name: str) -> None:
    """Batch and length, one after the other."""
    ask = Memory(load(name))
    for batch, seq in [(1, 8), (2, 8), (2, 64), (3, 64), (3, 65)]:
        assert ask.total(batch, seq) <= ask.total(batch + 1, seq)
        assert ask.total(batch, seq) <= ask.total(batch, seq + 1)


@pytest.mark.parametrize(
    ("name", "options", "fact"),
    [
        ("gpt2", {"optimizer": "adamw"}, "--optimizer: has no effect with --mode infer"),
        ("gpt2", {"recompute": "full"}, "--recompute: has no effect with --mode infer"),
        ("gpt2", {"mode": "train", "kv_dtype": "fp8"}, "--kv-dtype: has no effect with --mode train"),
        ("bert-base", {"kv_dtype": "fp8"}, "has no cache"),
        ("mamba-130m", {"kv_dtype": "fp8"}, "this model has no KV cache"),
        ("gpt2", {"state_dtype": "fp32"}, "this model has no recurrent state"),
        ("linear-autoencoder", {"attention": "flash"}, "no softmax attention"),
        ("gpt2", {"weights": "q4_kk"}, "no format called q4_kk"),
        ("gpt2", {"kv_rule": "half"}, "expected one of window"),
        ("gpt2", {"mode": "think"}, "expected one of train, forward, infer, prefill, decode"),
        ("gpt2", {"sequence": 4}, "no option called sequence"),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, options: dict[str, Any], fact: str) -> None:
    """Never silently left out."""
    with pytest.raises(InputError, match=fact):
        load(name).memory(**options)


@pytest.mark.parametrize("columns", [80, 140])
def test_the_answer_comes_first_and_fits(run: Run, columns: int) -> None:
    """Total, exact bytes, then parts; nothing wider than the terminal."""
    out = run("memory", "llama-3-8b", "--seq", "8192", columns=columns).out
    title, _, rest = out.partition("plain PyTorch\n")
    assert " ".join(title.split()) == "Llama 3 8B · inference · seq 8,192 · bf16 · assumed: batch 1, flash attention,"
    whole = "17.18 GiB on one GPU ± 12 % · 16.68 GiB + 512.0 MiB overhead · 18,447,081,472 bytes"
    assert " ".join(rest.split("\none more")[0].split()).startswith(whole)
    assert max(map(len, out.splitlines())) <= columns


def test_a_format_that_holds_nothing_is_said() -> None:
    """Engines' formats are for linear layers, experts' for experts: an LSTM has neither."""
    told = "int4 in groups of 128 applies to layers that this model does not have: no weights are quantised"
    whole, four = (load("sentiment-lstm").memory(weights=kind) for kind in (None, "int4"))
    assert whole.parts == four.parts
    assert told in map(str, four.assumptions)
    assert not any("does not have" in str(words) for words in load("gpt2").memory(weights="int4").assumptions)
