"""`archcalc.plot`: every point is what the commands answer, and every crossing is true on both of its sides."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc import InputError
from archcalc.analyze.plot.axes import values
from archcalc.run.device import device

LLAMA = archcalc.load("llama-3-8b")
GPT2 = archcalc.load("gpt2")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("1k,2k,8k", (1000, 2000, 8000)),
        ("8,1,4,1", (1, 4, 8)),
        ("1k..16k", (1000, 2000, 4000, 8000, 16_000)),
        ("1Ki..8Ki", (1024, 2048, 4096, 8192)),
        ("1..20", (1, 2, 4, 8, 16, 20)),
        ("2..8", (2, 3, 4, 5, 6, 7, 8)),
        ("256..768", tuple(range(256, 769, 64))),
        ("512..2048:512", (512, 1024, 1536, 2048)),
        ("1k..1M:x10", (1000, 10_000, 100_000, 1_000_000)),
        ("0..3", (0, 1, 2, 3)),
        ("1,2,4..6", (1, 2, 4, 5, 6)),
        ("q8_0,bf16", ("q8_0", "bf16")),
        ("{width: 64, act: relu},128", ("{width: 64, act: relu}", 128)),
    ],
)
def test_lists_and_ranges(written: str, found: tuple[Any, ...]) -> None:
    """A range is doubled where that gives four values and more, else it goes in even steps; its last value is in it."""
    assert values(written, "--x") == found


def test_points_are_what_memory_answers() -> None:
    """In the form of a format, a length and a batch, to the last byte."""
    report = LLAMA.plot("seq=1k..8k", y="memory,cache,weights", by="weights=q4_k_m,bf16", batch=2)
    for row in report.record()["rows"]:
        answer = LLAMA.memory(seq=row["seq"], weights=row["weights"], batch=2)
        assert row["memory_bytes"] == answer.required_bytes == answer.total_bytes
        assert row["cache_bytes"] == answer.parts["kv_cache"] == 2 * row["seq"] * 32 * 2 * 8 * 128 * 2
        assert row["weights_bytes"] == answer.parts["weights"]


def test_points_of_training_have_what_the_allocator_reserves() -> None:
    report = GPT2.plot("batch=1,2,3", y="memory,gradients", mode="train", seq=64)
    for row in report.record()["rows"]:
        answer = GPT2.memory(mode="train", batch=row["batch"], seq=64)
        assert row["memory_bytes"] == answer.required_bytes == answer.reserved_bytes + answer.parts["overhead"]


def test_points_of_a_pipeline_are_those_of_its_fullest_stage() -> None:
    report = GPT2.plot("batch=1,2", y="memory,activations", mode="train", pp=2, code="megatron", seq=64)
    for row in report.record()["rows"]:
        answer = GPT2.memory(mode="train", pp=2, code="megatron", batch=row["batch"], seq=64)
        assert row["memory_bytes"] == answer.required_bytes
        assert row["activations_bytes"] == answer.parts["activations"]


def test_points_over_a_field_are_those_of_the_changed_model() -> None:
    """GPT-2's blocks have attention of 4 (d² + d), a feed-forward net of 3,072 and two norms."""
    report = GPT2.plot("d_model=192,768", y="params,flops,flops-per-token")
    for row in report.record()["rows"]:
        d = row["d_model"]
        block = 4 * (d * d + d) + (2 * d * 3072 + 3072 + d) + 4 * d
        assert row["params"] == 12 * block + (50_257 + 1024) * d + 2 * d
        flops = archcalc.load("gpt2", set=[f"d_model={d}"]).flops()
        assert row["flops"] == flops.total
        assert row["flops_per_token"] == flops.per_token


def test_each_figure_is_of_the_mode_that_its_command_has() -> None:
    """Memory of inference, FLOPs of a training step; with a mode, both are of that."""
    row = GPT2.plot("batch=1,2", y="memory,flops").record()["rows"][0]
    assert (row["memory_bytes"], row["flops"]) == (GPT2.memory().total_bytes, GPT2.flops().total)
    row = GPT2.plot("batch=1,2", y="memory,flops", mode="prefill").record()["rows"][0]
    assert row["flops"] == GPT2.flops(mode="prefill").total


def test_a_crossing_is_the_last_length_that_fits() -> None:
    """One more token, and the device is too small."""
    capacity = device("rtx-4090")[1].capacity
    report = LLAMA.plot("seq=1k..128k", by="weights=bf16,q4_k_m", gpus=["rtx-4090"])
    crossings = report.record()["crossings"]
    assert len(crossings) == 2
    for found, stored in zip(crossings, ("bf16", "q4_k_m"), strict=True):
        assert found["solved"] and found["next"] == found["last"] + 1
        assert found["at_last"] == LLAMA.memory(seq=found["last"], weights=stored).total_bytes <= capacity
        assert found["at_next"] == LLAMA.memory(seq=found["next"], weights=stored).total_bytes > capacity
    told = f"bf16 fits on rtx-4090 up to seq {crossings[0]['last']:,}, longer than the model's 8,192"
    assert report.answer() == told


def test_a_falling_curve_fits_from_the_first_that_does() -> None:
    """More GPUs, less on each."""
    (found,) = LLAMA.plot("tp=1,2,4", gpus=["12GiB"]).record()["crossings"]
    assert (found["last"], found["next"], found["rises"]) == (1, 2, False)
    assert found["text"] == "memory fits on 12GiB from tp 2"
    assert LLAMA.memory(tp=2).total_bytes <= 12 * 2**30 < LLAMA.memory(tp=1).total_bytes


def test_what_is_equal_to_a_limit_fits() -> None:
    """On a rising curve and on a falling one."""
    at = LLAMA.memory(seq=2000).total_bytes
    (found,) = LLAMA.plot("seq=1000,4000", gpus=[f"{at} bytes"]).record()["crossings"]
    assert found["last"] == 2000
    exact = LLAMA.memory(tp=2).total_bytes
    (found,) = LLAMA.plot("tp=1,2,4", gpus=[f"{exact} bytes"]).record()["crossings"]
    assert found["next"] == 2


def test_sizes_that_are_refused_between_two_points_leave_a_crossing_between_them() -> None:
    """4 and 8 GPUs can share Llama's heads, 5 to 7 cannot."""
    (found,) = LLAMA.plot("tp=4,8", gpus=["5GiB"]).record()["crossings"]
    assert (found["last"], found["next"], found["solved"]) == (4, 8, False)
    assert found["text"] == "memory fits on 5GiB from at most tp 8"


def test_crossings_of_training_curves_are_not_narrowed_down() -> None:
    """What the allocator reserves goes in leaps: two curves may cross several times on the way."""
    asked: dict[str, Any] = {"mode": "train", "attention": "eager", "code": "plain"}
    crossings = GPT2.plot("seq=16..1024", by="recompute=none,selective", **asked).record()["crossings"]
    assert crossings and all(2 * found["last"] == found["next"] and not found["solved"] for found in crossings)
    devices = GPT2.plot("batch=1,8", mode="train", gpus=["8GiB"]).record()["crossings"]
    assert [found["solved"] for found in devices] == [True]
    assert GPT2.memory(mode="train", batch=devices[0]["last"]).required_bytes <= 8 * 2**30
    assert GPT2.memory(mode="train", batch=devices[0]["next"]).required_bytes > 8 * 2**30


def test_curves_cross_where_the_one_overtakes_the_other() -> None:
    """Llama's cache has 2 × 32 × 8 × 128 numbers of 2 bytes for each token, and passes its weights."""
    for y, told in (("cache,weights", "cache is more than weights"), ("weights,cache", "weights is less than cache")):
        (found,) = LLAMA.plot("seq=64k,128k", y=y).record()["crossings"]
        assert found["last"] == LLAMA.memory().parts["weights"] // (2 * 32 * 8 * 128 * 2)
        assert found["text"].startswith(f"{told} from seq {found['last'] + 1:,}, longer")


def test_unlike_quantities_do_not_cross() -> None:
    """FLOPs of a batch are no more or less than those of a token, nor one model's cache than another's weights."""
    work = GPT2.plot("d_model=192,768", y="flops,flops-per-token", mode="decode", context=64)
    assert work.record()["crossings"] == []
    small = archcalc.load("llama-3.2-1b")
    both = archcalc.plot([LLAMA, small], "seq=1k..64k", y="cache,weights", batch=4)
    pairs = [met["text"] for met in both.record()["crossings"]]
    assert len(pairs) == 2
    assert all(text.count("Llama 3 8B") in (0, 2) for text in pairs)


def test_parts_of_one_memory_cross_and_head_the_answer_if_they_are_what_is_asked_for() -> None:
    assert LLAMA.plot("seq=64k,128k", y="cache,weights").answer().startswith("cache is more than weights from seq")
    beside = LLAMA.plot("seq=64k,128k", y="memory,cache,weights")
    assert len(beside.record()["crossings"]) == 1
    assert beside.answer().startswith("memory: ")
    like = LLAMA.plot("seq=1k..128k", y="cache,weights,memory", gpus=["rtx-4090"])
    assert like.answer().startswith("memory fits on rtx-4090 up to")


def test_a_device_that_is_never_passed_is_told() -> None:
    report = GPT2.plot("batch=1,2", gpus=["h100", "100MB"])
    told = [met["text"] for met in report.record()["crossings"]]
    assert told == ["memory fits on h100 at every batch drawn", "memory fits on 100MB at none"]


def test_values_that_change_nothing_share_a_curve() -> None:
    """The cache does not depend on how weights are stored."""
    report = LLAMA.plot("seq=1k,2k", y="memory,cache", by="weights")
    (panel,) = report.curves.panels
    assert [line.label for line in panel.lines] == ["bf16 · memory", "q8_0 · memory", "q4_k_m · memory", "cache"]
    assert any("the same for every value of weights" in each.text for each in report.assumptions)


def test_units_have_panels_of_their_own_and_a_curve_has_one_colour_in_all_of_them() -> None:
    report = archcalc.plot([GPT2, archcalc.load("gpt2-medium")], "batch=1,2", y="memory,flops")
    assert [(panel.title, panel.unit) for panel in report.curves.panels] == [("memory", "bytes"), ("FLOPs", "flops")]
    first, second = ([(line.label, line.number) for line in panel.lines] for panel in report.curves.panels)
    assert first == second == [("GPT-2 small", 0), ("GPT-2 medium", 1)]


def test_points_that_are_refused_are_gaps_with_their_reason() -> None:
    """GPT-2 has 1,024 positions, and 768 does not divide into 5 heads."""
    report = GPT2.plot("seq=512,1024,2048")
    assert [row["memory_bytes"] is None for row in report.record()["rows"]] == [False, False, True]
    assert any(each.text.startswith("gaps: seq 2,048: seq: 2,048 positions") for each in report.assumptions)
    report = GPT2.plot("heads=4,5,6")
    assert [row["memory_bytes"] is None for row in report.record()["rows"]] == [False, True, False]


def test_a_curve_that_is_refused_as_a_whole_is_named() -> None:
    report = archcalc.plot([GPT2, LLAMA], "seq=2k,4k")
    assert [line.label for line in report.curves.panels[0].lines] == ["Llama 3 8B"]
    assert any(each.text.startswith("not drawn: GPT-2 small: seq: 2,000 positions") for each in report.assumptions)


def test_where_all_is_refused_that_is_the_answer() -> None:
    with pytest.raises(InputError, match="d_model 768 does not divide into 5 heads") as refused:
        GPT2.plot("heads=5,7")
    assert refused.value.file == "--x heads=5"


@pytest.mark.parametrize(
    ("asked", "x", "y"),
    [
        ({"x": "seq=1k..128k", "y": "flops"}, True, True),
        ({"x": "seq=1k..8k:1k", "y": "flops"}, False, False),
        ({"x": "seq=1k..128k"}, False, False),
        ({"x": "batch=1,2,4,8"}, False, False),
        ({"x": "seq=1k..128k", "log": "x"}, True, False),
        ({"x": "seq=1k..128k", "linear": "x", "log": "y"}, False, True),
        ({"x": "seq=1k..128k", "y": "cache"}, False, False),
        ({"x": "seq=1k..8k", "y": "weights,cache"}, False, False),
        ({"x": "weights=bf16,q8_0"}, False, False),
    ],
)
def test_scales_follow_the_values(asked: dict[str, Any], x: bool, y: bool) -> None:
    """Straight lines have linear axes; of curves, doublings are a log axis, and heights of which the lowest would not
    be seen: FLOPs have a term in seq²."""
    chart = LLAMA.plot(**asked).curves
    assert (chart.log, chart.panels[0].log) == (x, y)


def test_a_line_is_straight_where_its_numbers_are_exactly() -> None:
    """Memory grows by the same with every token; FLOPs have scores, which grow with the square of the length."""
    for y, straight in (("memory", True), ("cache", True), ("flops", False)):
        heights = [row for row in LLAMA.plot("seq=1k,2k,4k", y=y).curves.panels[0].lines[0].heights if row]
        assert (2 * (heights[1] - heights[0]) == heights[2] - heights[1]) == straight
        assert LLAMA.plot("seq=1k,2k,4k,8k", y=y).curves.log is not straight


def test_a_curve_has_as_many_points_as_it_takes_to_bend() -> None:
    """Every one of them is what the command answers; a straight line needs none between its ends."""
    (bent,) = LLAMA.plot("seq=1k..128k", y="flops", linear="x,y").curves.panels[0].lines
    assert len(bent.path) > 2 * len(bent.heights)
    between = [place for place, _ in bent.path if place not in (1000 * 2**power for power in range(8))]
    assert dict(bent.path)[between[0]] == LLAMA.flops(seq=between[0]).total
    (straight,) = LLAMA.plot("batch=1..64", y="cache").curves.panels[0].lines
    assert [place for place, _ in straight.path] == [1, 2, 4, 8, 16, 32, 64]


def test_a_line_says_where_the_context_of_its_model_ends() -> None:
    """Llama 3 was trained for 8,192 tokens, Llama 3.1 for 131,072."""
    both = archcalc.plot([LLAMA, archcalc.load("llama-3.1-8b")], "seq=1k..128k", y="cache")
    assert [line.until for line in both.curves.panels[0].lines] == [8192, None]
    assert both.curves.beneath == ("dotted: longer than the context of the model, Llama 3 8B 8,192",)
    assert LLAMA.plot("seq=1k..8k").curves.beneath == ()
    assert LLAMA.plot("batch=1..64k", y="cache").curves.beneath == ()


def test_an_axis_may_be_given_as_a_list() -> None:
    text, listed = GPT2.plot("batch=1,2", by="seq=64,128"), GPT2.plot({"batch": [2, 1]}, by={"seq": [64, 128]})
    assert text.record() == listed.record()


def test_assumptions_of_some_curves_are_told_with_their_names() -> None:
    report = archcalc.plot([LLAMA, archcalc.load("mistral-7b")], "seq=8k,16k")
    longer = [each.text for each in report.assumptions if "was trained for" in each.text]
    assert longer == ["Llama 3 8B: seq 16,000: longer than the 8,192 that the model was trained for"]


def test_a_notebook_shows_the_chart_and_the_points() -> None:
    shown = GPT2.plot("batch=1,2")._repr_html_()
    assert "<svg " in shown and "<table" in shown
