"""The walk against what `params`, `flops` and `shapes` say of the same model, and against textbooks."""

from __future__ import annotations

import pytest
from support.unknown_activations import check_refused, has_unknown

import archcalc
from archcalc.analyze.walk.report import Row, WalkReport
from archcalc.core.errors import InputError
from archcalc.spec.paths import presets

OF_EVERY_KIND = [
    *("textbook", "gpt2", "bert-base-uncased", "t5-small", "mixtral-8x7b", "deepseek-v3", "llama-3.1-8b"),
    *("mamba-130m", "sentiment-lstm", "gnmt", "resnet-18", "densenet-121", "vgg-16", "unet", "vit-b-16"),
    *("word2vec-cbow", "vae-mnist", "recursive-autoencoder"),
]


def step(report: WalkReport, path: str) -> Row:
    return next(row for row in report.rows if row.path == path)


@pytest.fixture(scope="module")
def textbook() -> WalkReport:
    return archcalc.load("textbook").walk()


@pytest.mark.wide
@pytest.mark.parametrize("name", [name for name in presets() if name not in OF_EVERY_KIND])
def test_the_steps_of_every_preset_add_up(name: str) -> None:
    check_sums(name)


@pytest.mark.parametrize("name", OF_EVERY_KIND)
def test_the_steps_add_up_to_what_other_commands_say(name: str) -> None:
    check_sums(name)


def check_sums(name: str) -> None:
    """Parameters once, FLOPs as often as a step runs; no step and no parameter twice."""
    model = archcalc.load(name)
    if has_unknown(model):
        check_refused(model.walk, model.flops)
        return
    walked, counted, work = model.walk(), model.params(), model.flops()
    assert sum(row.parameters for row in walked.rows) == counted.total
    assert sum(row.flops for row in walked.rows) == work.forward
    assert sum(row.elementwise for row in walked.rows) == work.elementwise
    assert len({row.path for row in walked.rows}) == len(walked.rows)
    assert [row.number for row in walked.rows] == list(range(1, len(walked.rows) + 1))


@pytest.mark.parametrize("name", OF_EVERY_KIND)
def test_every_shape_of_shapes_is_the_output_of_a_step_or_shown_in_one(name: str) -> None:
    """`shapes` lists the batch too, in front or after what the walk counts as copies."""
    model = archcalc.load(name)
    walked = model.walk()
    seen = {each.dims for row in walked.rows for each in (*row.also, *filter(None, [row.output]))}
    for row in model.shapes().rows:
        assert tuple(each for each in row.dims if each != "batch") in seen, row.path


def test_the_textbook_transformer_is_walked_as_a_textbook_tells_it(textbook: WalkReport) -> None:
    formulas = {row.path: row.formula for row in textbook.rows}
    cross, inside = "decoder.blocks.cross", "encoder.blocks.attention"
    assert formulas["source_embedding.tokens"] == "W_tokens[ids] + b_tokens"
    assert formulas["source_embedding.positions"] == "x + sinusoids"
    assert formulas[f"{inside}.q"] == "x·W_q + b_q"
    assert formulas[f"{inside}.scores"] == "q·kᵀ"
    assert formulas[f"{inside}.weights"] == "softmax(c·scores)"
    assert formulas["decoder.blocks.attention.weights"] == "softmax(mask(c·scores))"
    assert formulas[f"{inside}.head"] == "weights·v"
    assert formulas["encoder.blocks.attention_norm"] == "γ ∗ norm(sum) + β"
    assert [formulas[f"{cross}.{name}"] for name in "qkv"] == [
        "x·W_q + b_q",
        "encoder·W_k + b_k",
        "encoder·W_v + b_v",
    ]


def test_cross_attention_reads_what_the_encoder_made(textbook: WalkReport) -> None:
    (keys,) = step(textbook, "decoder.blocks.cross.k").inputs
    assert (keys.name, keys.made_by, keys.dims) == ("encoder", "encoder.blocks.ffn_norm", ("src_seq", "d_model"))


def test_a_projection_is_drawn_with_sides_that_meet_and_heads_that_are_told_apart(textbook: WalkReport) -> None:
    row = step(textbook, "encoder.blocks.attention.q")
    x, weight = (each.box for each in row.pair)
    assert row.output
    made = row.output.box
    assert (x.rows.size, x.columns.size) == (2048, 1024)
    assert (weight.rows.size, weight.columns.size, weight.columns.parts) == (1024, 4 * 192, 4)
    assert (made.rows.size, made.columns.size, made.columns.parts) == (2048, 4 * 192, 4)
    assert (row.each, row.parameters) == (4 * (1024 * 192 + 192), 12 * 4 * (1024 * 192 + 192))
    assert row.once == 2 * 32 * 2048 * 1024 * 4 * 192
    assert row.flops == 12 * row.once


def test_scores_have_a_sheet_for_each_head(textbook: WalkReport) -> None:
    row = step(textbook, "encoder.blocks.attention.scores")
    q, k = row.pair
    assert row.output
    assert (q.box.rows.size, q.box.columns.size, q.box.depth.size) == (2048, 192, 4)
    assert (k.name, k.shape) == ("kᵀ", (4, 192, 2048))
    assert (row.output.box.depth.size, row.output.box.depth.is_copies) == (4, True)


def test_the_factors_of_every_product_have_a_side_in_common() -> None:
    for name in OF_EVERY_KIND:
        for row in archcalc.load(name).walk().rows:
            if row.pair and row.output:
                first, second = (each.box for each in row.pair)
                made = row.output.box
                assert first.columns.size == second.rows.size, (name, row.path)
                assert (first.rows.size, second.columns.size) == (made.rows.size, made.columns.size), (name, row.path)


def test_a_convolution_is_a_small_box_that_moves_over_a_map() -> None:
    row = step(archcalc.load("resnet-18").walk(), "conv_1")
    assert row.what == "7 × 7, stride 2"
    assert row.formula == "input ⋆ W_conv_1"
    (weight,) = row.weights
    box = weight.box
    assert [side.size for side in (box.rows, box.columns, box.depth, box.copies)] == [7, 7, 3, 64]
    assert row.each == 64 * 3 * 7 * 7


def test_a_recurrent_cell_has_the_equations_of_its_layer() -> None:
    """As `shapes --explain` has them; a step for each position."""
    row = step(archcalc.load("sentiment-lstm").walk(), "layer_1.direction.cell.c")
    assert row.formula == "Γu∗c̃⟨t⟩ + Γf∗c⟨t−1⟩"
    assert (row.copies, row.runs) == (2, 2 * 100)


def test_a_tied_output_layer_reads_the_table_and_counts_nothing() -> None:
    report = archcalc.load("gpt2").walk()
    head = step(report, "head")
    assert head.formula == "x·W_tokensᵀ"
    assert (head.parameters, [each.path for each in head.pair]) == (0, ["", "embedding.tokens.weight"])


def test_experts_that_a_token_does_not_visit_are_drawn_and_counted() -> None:
    row = step(archcalc.load("mixtral-8x7b").walk(), "decoder.blocks.moe.experts.gate")
    assert row.pair[1].box.depth.size == 8
    assert row.each == 8 * 4096 * 14336


def test_one_step_is_chosen_by_number_or_path_and_a_part_by_its_path(textbook: WalkReport) -> None:
    model = archcalc.load("textbook")
    (by_number,) = model.walk(step="4").rows
    (by_path,) = model.walk(step="encoder.blocks.attention.q").rows
    assert by_number == by_path
    inside = model.walk(step="decoder.blocks.cross").rows
    assert [row.path for row in inside] == [row.path for row in textbook.rows if ".cross." in row.path]
    assert model.walk(step="decoder.blocks.cross").parameters == 8 * (4 * 4 * 1024 * 192 + 3 * 768 + 1024)


@pytest.mark.parametrize(("wrong", "told"), [("0", "no step called 0"), ("999", "999"), ("encoder.block", "blocks")])
def test_a_step_that_is_not_there_is_told(wrong: str, told: str) -> None:
    with pytest.raises(InputError) as raised:
        archcalc.load("textbook").walk(step=wrong)
    assert told in str(raised.value)


def test_sizes_are_those_that_were_asked_for() -> None:
    report = archcalc.load("gpt2").walk(batch=3, seq=100)
    (scores,) = (row for row in report.rows if row.title == "scores")
    assert scores.output
    assert scores.output.shape == (12, 100, 100)
    assert scores.once == 2 * 3 * 12 * 100 * 64 * 100


@pytest.mark.parametrize("name", ["qwen3-next-80b-a3b", "transformer-big-shaw"])
def test_a_step_that_gives_out_something_else_than_its_product_is_drawn_as_a_row(name: str) -> None:
    """Of projections that are cut into parts, and of scores that have two sums."""
    for row in archcalc.load(name).walk().rows:
        if row.pair and row.output:
            made = row.output.box
            assert (row.pair[0].box.rows.size, row.pair[1].box.columns.size) == (made.rows.size, made.columns.size)
