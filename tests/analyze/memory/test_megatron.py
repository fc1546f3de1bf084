"""Megatron-LM's training memory: what its layers keep, its states and buffers, as products; and measured peaks.

Letters as Megatron-LM's papers have them: T tokens of a micro-batch, t those that a GPU holds between tensor-parallel
regions, h the model's width, f the inner width, V the vocabulary's rows on a GPU.
"""

from __future__ import annotations

from typing import Any

import pytest

from archcalc import InputError, load
from archcalc.analyze.memory.report import MemoryReport
from archcalc.model import Model

BATCH, SEQ = 2, 64
T = BATCH * SEQ
LAYERS, H, HEADS, KV_HEADS, EACH, F, V = 4, 256, 8, 4, 32, 640, 1536
SEED = 3 * 8  # of flash attention's random numbers, in each layer
TABLES = 2 * 2 * SEQ * EACH  # of rotary positions, once

DENSE: dict[str, Any] = {
    "vocab": V,
    "d_model": H,
    "heads": HEADS,
    "kv_heads": KV_HEADS,
    "ffn": {"width": F, "act": "silu", "gated": True},
    "norm": "rms",
    "bias": False,
    "position": "rope",
    "decoder": LAYERS,
    "precision": "bf16",
}
EXPERTS, TOP, WIDTH, SHARED = 8, 2, 96, 192
MIXTURE = {
    **{name: value for name, value in DENSE.items() if name != "ffn"},
    "moe": {"experts": EXPERTS, "top": TOP, "width": WIDTH, "shared": SHARED},
    "decoder": {"pattern": [f"{LAYERS} × attention moe"]},
}
LAYER = H * (HEADS + 2 * KV_HEADS) * EACH + H * HEADS * EACH + 3 * H * F + 2 * H  # parameters
WHOLE = LAYERS * LAYER + 2 * V * H + H


def asked(model: Model | dict[str, Any], **options: Any) -> MemoryReport:
    made = load(model) if isinstance(model, dict) else model
    given: dict[str, Any] = {"mode": "train", "code": "megatron", "batch": BATCH, "seq": SEQ, "overhead": 0}
    return made.memory(**given | options)


def kept(report: MemoryReport, path: str = "decoder.blocks") -> int:
    return next(row.parts["activations"] for row in report.rows if row.path == path)


def layer(tp: int = 1, *, sp: bool = False) -> int:
    """What a dense layer keeps: its two inputs and both normed, queries, keys, values and what was looked up, what gate
    and up gave and their product; numbers of each row of norms, and of each row and head of attention."""
    t, q, kv, f = T // (tp if sp else 1), HEADS * EACH // tp, KV_HEADS * EACH // tp, F // tp
    return 8 * t * H + 2 * T * (2 * q + 2 * kv) + 6 * T * f + 4 * (2 * t + T * HEADS // tp) + SEED


@pytest.mark.parametrize("plan", [{}, {"tp": 2}, {"tp": 2, "sp": True}, {"tp": 4, "sp": True}])
def test_a_dense_layer_keeps(plan: dict[str, Any]) -> None:
    """Under sequence parallelism the part of a product's input that a GPU holds, not what was gathered of all."""
    assert kept(asked(DENSE, **plan)) == LAYERS * layer(**plan) + TABLES


def test_a_layer_of_experts_keeps() -> None:
    """What was dispatched, what gate and up gave, their product with the weights inside, and of the router two
    probabilities in fp32, three masks, the chosen places and a map of rows."""
    attention = 8 * T * H + 2 * T * (2 * HEADS + 2 * KV_HEADS) * EACH + 4 * (2 * T + T * HEADS) + SEED
    router = (2 * 4 + 3) * T * EXPERTS + 8 * T * TOP + 4 * T * (2 * EXPERTS + 1)
    rows = T * TOP
    experts = 2 * rows * H + 6 * rows * WIDTH + 2 * rows
    assert kept(asked(MIXTURE)) == LAYERS * (attention + router + experts + 6 * T * SHARED) + TABLES


def test_experts_that_are_dealt_out_read_as_many_rows() -> None:
    """Every GPU gets as many tokens as it sends."""
    assert kept(asked(MIXTURE, dp=4, ep=4)) == kept(asked(MIXTURE))


def test_states() -> None:
    """bf16 weights; fp32 main gradients of all parameters on every GPU; the rest divided by ZeRO-1."""
    states = asked(DENSE, dp=4, zero=1).states
    assert states == {"weights": 2 * WHOLE, "master": WHOLE, "gradients": 4 * WHOLE, "optimizer": 2 * WHOLE}


def test_context_parallel_gpus_share_states_too() -> None:
    assert asked(DENSE, dp=2, cp=2, zero=1).states == asked(DENSE, dp=4, zero=1).states


def test_experts_are_shared_by_the_gpus_that_hold_the_same_ones() -> None:
    """Of 8 GPUs 4 hold other experts each, so that 2 share an expert's states."""
    expert = LAYERS * 3 * H * WIDTH * EXPERTS // 4
    dense = LAYERS * (LAYER - 3 * H * F + 3 * H * SHARED + EXPERTS * H) + 2 * V * H + H
    states = asked(MIXTURE, dp=8, ep=4, zero=1).states
    assert states["weights"] == 2 * (dense + expert)
    assert states["gradients"] == 4 * (dense + expert)
    assert states["optimizer"] == 8 * (dense // 8 + expert // 2)


def test_zero_1_of_one_gpu_divides_nothing() -> None:
    """--use-distributed-optimizer may be on while there is nobody to share with."""
    assert asked(DENSE, zero=1).parts == asked(DENSE).parts


@pytest.mark.parametrize("code", ["plain", "torchtitan"])
def test_and_is_refused_by_other_code(code: str) -> None:
    with pytest.raises(InputError, match="there is only one"):
        asked(DENSE, code=code, zero=1)


WORKSPACE, OF_PYTORCH = 32 * 2**20 + 1024, 32 * 2**20


def test_buffers() -> None:
    """A tensor for each shape of a matrix, a workspace of Transformer Engine and one of PyTorch for the head."""
    shapes = ((HEADS + 2 * KV_HEADS) * EACH * H, H * HEADS * EACH, 2 * F * H, H * F, V * H)
    assert asked(DENSE).parts["buffers"] == 2 * sum(shapes) + WORKSPACE + OF_PYTORCH


def test_matrices_of_one_shape_share_a_buffer() -> None:
    """Where f is h, (h, q) and (h, f) are one shape, and so are (q + 2 kv, h) and (2 f, h)."""
    wide = {**DENSE, "ffn": {"width": H, "act": "silu", "gated": True}}
    shapes = (H * H, 2 * H * H, V * H)
    assert asked(wide).parts["buffers"] == 2 * sum(shapes) + WORKSPACE + OF_PYTORCH


def test_buffers_of_experts_are_those_of_one_and_four_more_workspaces() -> None:
    attention = (HEADS + 2 * KV_HEADS) * EACH * H + H * HEADS * EACH
    shapes = attention + 3 * WIDTH * H + 3 * SHARED * H + V * H
    assert asked(MIXTURE, dp=2, ep=2).parts["buffers"] == 2 * shapes + 5 * WORKSPACE + OF_PYTORCH


def test_the_head_gathers_into_a_buffer() -> None:
    shapes = (HEADS + 2 * KV_HEADS) * EACH * H + H * HEADS * EACH + 3 * F * H + V * H
    expected = 2 * shapes // 2 + 2 * T * H + WORKSPACE + OF_PYTORCH
    assert asked(DENSE, tp=2, sp=True).parts["buffers"] == expected


@pytest.mark.parametrize(("tp", "rows"), [(1, 8 * 128), (2, 4 * 128), (4, 2 * 128)])
def test_a_vocabulary_is_padded_to_128_rows_on_each_gpu(tp: int, rows: int) -> None:
    """1,000 words are as many as 1,024."""
    report = asked({**DENSE, "vocab": 1000}, tp=tp)
    assert [row.parts["weights"] for row in report.rows if row.path in ("embedding", "head")] == [2 * rows * H] * 2


WORDS, MANY = 32768, 16 * SEQ  # so many words and positions that the loss is larger than any layer
LONG, TOKENS = {**DENSE, "vocab": WORDS}, BATCH * MANY


def loss_peak(report: MemoryReport) -> int:
    """Bytes above states, buffers and what the layers keep."""
    parts = report.parts
    return parts["activations"] - kept(report) + parts["logits"] + parts["temporary"]


def test_a_loss_in_place_has_one_tensor_of_logits() -> None:
    """Input of the last norm and of the head, logits that become their gradient, the gradient of the head's input; and
    ids in 8 bytes each."""
    report = asked(LONG, seq=MANY)
    assert (report.peak.phase, report.peak.place.path) == ("backward", "head")
    assert loss_peak(report) == TOKENS * (2 * 2 * H + 4 + 2 * WORDS + 2 * H + 8)


def test_under_sequence_parallelism_also_the_part_of_it() -> None:
    report = asked(LONG, seq=MANY, tp=2, sp=True)
    assert loss_peak(report) == TOKENS * (2 * 2 * H // 2 + 4 // 2 + 2 * WORDS // 2 + 2 * H + 2 * H // 2 + 8)


def test_megatrons_own_loss_casts_logits_to_fp32() -> None:
    """Both are there at once."""
    report = asked(LONG, seq=MANY, code_option="loss=in_place_fp32")
    assert report.peak.phase == "loss"
    assert loss_peak(report) == TOKENS * (2 * 2 * H + 4 + (2 + 4) * WORDS + 8)


def test_an_all_to_all_keeps_one_more_output() -> None:
    """Before and behind it are two tensors; a ring of GPUs needs none."""
    ring, traded = (asked(DENSE, cp=2, zero=1, seq=2 * SEQ, code_option=f"context={way}") for way in ("p2p", "a2a"))
    assert kept(ring) == LAYERS * layer() + TABLES
    assert kept(traded) - kept(ring) == LAYERS * 2 * T * HEADS * EACH


def test_recomputing_attention_drops_that_output_and_numbers_of_rows() -> None:
    whole, core = (
        asked(DENSE, cp=2, seq=2 * SEQ, code_option="context=a2a", recompute=how) for how in ("none", "selective")
    )
    assert kept(whole) - kept(core) == LAYERS * (2 * T * HEADS * EACH + 4 * T * HEADS + SEED)


def test_recomputing_blocks_keeps_their_inputs() -> None:
    assert kept(asked(DENSE, recompute="full")) == LAYERS * 2 * T * H + TABLES


def test_gradients_of_matrices_need_no_copy() -> None:
    """The largest temporary tensors of a backward pass are activations, although all weights are larger."""
    tiny = asked(DENSE, batch=1, seq=1)
    assert tiny.parts["gradients"] == 4 * WHOLE
    assert tiny.parts["temporary"] < 2 * V * H + 100 * H  # the table's alone is made, and added


# Measured: SimuMax's runs of Megatron-LM core 0.14 with Transformer Engine 2.11 on 8 B200, in GiB of
# torch.cuda.max_memory_allocated. Source: github.com/MooreThreads/SimuMax 4dcaae5, in docs/b200 the summary of v1.2.

LLAMA = ("llama-3-70b", ["decoder=12"])
DEEPSEEK = ("deepseek-v2", ["decoder.pattern=[1 × attention ffn, 3 × attention moe]"])
MEASURED: list[tuple[str, tuple[str, list[str]], dict[str, Any], float]] = [
    ("tp1_pp2_dp4", LLAMA, {"pp": 2, "dp": 4, "accumulate": 4}, 66.55),
    ("tp2_dp4", LLAMA, {"tp": 2, "sp": True, "dp": 4}, 60.68),
    ("tp4_dp2", LLAMA, {"tp": 4, "sp": True, "dp": 2}, 39.07),
    ("tp8", LLAMA, {"tp": 8, "sp": True}, 28.29),
    ("tp2_cp4_seq32768", LLAMA, {"tp": 2, "sp": True, "cp": 4, "seq": 32768}, 68.43),
    ("tp1_cp8_seq131072", LLAMA, {"cp": 8, "seq": 131072}, 147.99),
    ("ep8_dp8", DEEPSEEK, {"ep": 8, "dp": 8}, 45.63),
    ("ep4_pp2_dp4", DEEPSEEK, {"ep": 4, "pp": 2, "dp": 4, "accumulate": 4}, 44.70),
]


@pytest.mark.parametrize(("run", "model", "options", "measured"), MEASURED)
def test_measured_peaks(run: str, model: tuple[str, list[str]], options: dict[str, Any], measured: float) -> None:
    """Within two in a thousand; the figures have four digits."""
    name, changes = model
    given = {"batch": 1, "seq": 4096, "zero": 1, "precision": "mixed", "code_option": "context=a2a"} | options
    report = asked(load(name, set=changes), **given)
    assert report.allocated_bytes / 2**30 == pytest.approx(measured, rel=0.002)


# What is not known, and what Megatron-LM does not have


def texts(report: MemoryReport) -> str:
    return "\n".join(one.text for one in report.assumptions)


def test_what_is_assumed_is_said() -> None:
    assert "loss=in_place" in texts(asked(DENSE))
    assert "context=p2p" in texts(asked(DENSE, cp=2))
    assert "spread evenly over experts" in texts(asked(MIXTURE, dp=2, ep=2))


def test_and_what_was_chosen_is_not() -> None:
    assert "loss=" not in texts(asked(DENSE, code_option="loss=in_place"))


@pytest.mark.parametrize(
    "options",
    [{"recompute": "full"}, {"cp": 2}, {"tp": 2}, {"code_option": "loss=in_place_fp32"}, {"precision": "fp8"}],
)
def test_what_no_run_confirms_is_an_estimate(options: dict[str, Any]) -> None:
    assert any("Megatron-LM" in one for one in asked(DENSE, **options).estimates)


def test_what_was_measured_is_none() -> None:
    measured: list[dict[str, Any]] = [
        {},
        {"tp": 2, "sp": True, "dp": 2, "zero": 1},
        {"pp": 2},
        {"cp": 2, "code_option": "context=a2a"},
    ]
    assert [asked(DENSE, **options).estimates for options in measured] == [()] * 4


def test_layers_that_no_measured_run_has_are_named() -> None:
    assert "no measured run of megatron has layer norm" in texts(asked({**DENSE, "norm": "layer"}))
    assert "no measured run" not in texts(asked(DENSE))


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"dp": 2, "zero": 2}, "ZeRO-1"),
        ({"dp": 2, "zero": 3}, "ZeRO-1"),
        ({"lora": 8}, "no adapters"),
        ({"compile": "blocks"}, "not compiled"),
        ({"loss_chunks": 2}, "in one piece"),
        ({"recompute": "ops"}, "torchtitan's"),
        ({"precision": "autocast"}, "no fp32 main gradients"),
        ({"optimizer": "lion"}, "adam and sgd"),
        ({"code": "megatron@2024-06"}, "and later"),
        ({"code_option": "loss"}, "no choice loss"),
        ({"code_option": "loss=fp32"}, "no choice loss=fp32"),
        ({"code": "torchtitan", "code_option": "loss=fp32"}, "torchtitan code has no such option"),
        ({"cp": 8, "seq": 512, "code_option": "context=a2a"}, "cannot be dealt to 8 GPUs"),
        ({"ep": 2, "dp": 2}, "no experts to deal out"),
        ({"code": "plain", "pp": 2}, "does not know how layers are divided"),
        ({"code": "torchtitan", "dp": 2, "ep": 2}, "does not know how experts are dealt out"),
        ({"freeze": "attention", "pp": 2}, "which pipeline stage a frozen layer is on"),
    ],
)
def test_refused(options: dict[str, Any], fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        asked(DENSE, **options)


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"dp": 3, "ep": 3}, "8 experts cannot be dealt out to 3 GPUs"),
        ({"dp": 2, "ep": 4}, "no multiple of 4"),
        ({"tp": 2}, "only together with --sp"),
    ],
)
def test_refused_of_a_mixture(options: dict[str, Any], fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        asked(MIXTURE, **options)


def test_a_net_that_is_no_transformer_is_refused() -> None:
    with pytest.raises(InputError, match="no recurrent ones"):
        asked({"family": "recurrent", "cell": "gru", "biases": "two", "vocab": 7, "embedding": 3, "hidden": 4})


def test_fit_refuses_a_pipeline() -> None:
    import archcalc

    with pytest.raises(InputError, match="fit does not look for the sizes of pipeline stages"):
        archcalc.fit(load(DENSE), gpus=["h100"], mode="train", code="megatron", pp=2)


def test_gradients_that_are_reduced_in_bf16() -> None:
    """Megatron-Bridge's performance recipes have grad_reduce_in_fp32=False: 2 bytes a parameter in place of 4."""
    asked: dict[str, Any] = {"mode": "train", "code": "megatron", "batch": 1, "seq": 512, "dp": 8, "zero": 1}
    wide, narrow = (load("llama-3.2-1b").memory(**asked, code_option=f"reduced={width}") for width in ("fp32", "bf16"))
    assert wide.states["gradients"] == 2 * narrow.states["gradients"] == 4 * wide.trainable
