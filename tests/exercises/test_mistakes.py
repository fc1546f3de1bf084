"""Every declared mistake is found where somebody makes it. The wrong values are worked out here by hand."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from support.filled_sheets import handed_in, mark_of, sheet_of

from archcalc.core.expression import Leaf
from archcalc.exercises.explaining import ONE_SAMPLE, UNITS, Explanations
from archcalc.exercises.marking import NAMES, Standing
from archcalc.exercises.mistakes.in_a_step import FORGOTTEN_FACTOR, MISTAKES, RARER_MISTAKES, another_size
from archcalc.exercises.mistakes.in_the_model import MISREMEMBERED, misreadings

Q, OUT, BLOCK = "encoder.blocks.attention.q", "encoder.blocks.attention.out", "encoder.blocks"
GATES = 2 * 128 * (100 + 128 + 2) + 2 * 128 * (256 + 128 + 2)  # one gate of both layers, in both directions
ALBERT = 4 * 769 * 768 + 769 * 3072 + 3073 * 768 + 2 * 2 * 768  # its one block
CROSS = "cross-attention forgotten"
GATED = "gate of the feed-forward layer"
INJECTED = [  # model, question, blank, wrong answer, the mistake that it is
    ("textbook", "params", "encoder.blocks.attention.q_head", "1024*192", "forgotten bias"),
    ("textbook", "params", "source_embedding", "30000*1024", "forgotten bias"),
    ("textbook", "params", "head", "1024*30000", "forgotten bias"),
    ("textbook", "params", "model", 201_466_160 - 30_721_024, "equal parts counted too rarely"),
    ("textbook", "params", "encoder.blocks.attention.heads", "4*(1024*192 + 192)", "equal parts counted too rarely"),
    ("textbook", "params", "decoder.blocks", 7_354_368 - 2 * 2048, "equal parts counted too rarely"),
    ("textbook", "params", "decoder.blocks", 7_354_368 - 3_149_056, CROSS),
    ("textbook", "params", "decoder.blocks", 7_354_368 - 3_149_056 - 2 * 1024, CROSS),
    ("textbook", "params", "decoder", 8 * (7_354_368 - 3_149_056 - 2 * 1024), CROSS),
    ("textbook", "params", "model", 201_466_160 - 8 * 3_149_056, CROSS),
    ("bart-base", "params", "decoder.blocks", 4 * 769 * 768 + 769 * 3072 + 3073 * 768 + 2 * 2 * 768, CROSS),
    ("textbook", "params", "decoder", 12 * 7_354_368, "the encoder's blocks for the decoder's"),
    ("textbook", "params", "model", 201_466_160 + 4 * 7_354_368, "the encoder's blocks for the decoder's"),
    ("textbook", "params", "encoder", 8 * 4_203_264, "the decoder's blocks for the encoder's"),
    ("lenet-5", "params", "conv_2", "(5*5 + 1) * 6*16", "bias for every input"),
    ("lenet-5", "params", "conv_2", "5*5*6*16 + 6", "bias for every input"),
    ("lenet-5", "params", "linear_1", "400*120 + 400", "bias for every input"),
    ("lenet-5", "flops", "conv_2", "2 * 5*5*6*16", "FLOPs of one place"),
    ("textbook", "flops", "encoder.blocks.ffn.in", "2*32*1024*512", "FLOPs of one place"),
    ("sentiment-lstm", "params", "layer_1.direction", "100 * 4*128*(100 + 128 + 2)", "weights times steps"),
    ("albert-base-v2", "params", "encoder", 12 * ALBERT, "weights times steps"),
    ("gpt2", "params", "model", 4 * 124_439_808, "bytes for parameters"),
    ("llama-3-8b", "params", "model", 2 * 8_030_261_248, "bytes for parameters"),
    ("lenet-5", "shapes", "conv_1", "1 x 6 x 27 x 27", "size without + 1"),
    ("lenet-5", "shapes", "pool_1", "1 x 6 x 13 x 13", "size without + 1"),
    ("lenet-5", "params", "linear_1", "16*4*4*120 + 120", "size without + 1"),
    ("lenet-5", "shapes", "conv_1", "1 x 6 x 32 x 32", "`same` padding assumed"),
    ("lenet-5", "params", "linear_1", "16*8*8*120 + 120", "`same` padding assumed"),
    ("convolutions", "shapes", "conv_1", "8 x 16 x 17 x 17", "size rounded up"),
    ("textbook", "params", "encoder", 4_203_264, "forgotten repeats"),
    ("textbook", "params", "model", 201_466_160 - 11 * 4_203_264, "forgotten repeats"),
    ("textbook", "params", Q, "1024*192 + 192", "forgotten repeats"),
    ("mixtral-8x7b", "params", "decoder.blocks.moe.experts.gate", "4096*14336", "forgotten copies"),
    ("textbook", "params", "encoder.blocks.ffn", "1024*512 + 512", "forgotten part"),
    ("textbook", "params", "model", 170_716_160, "forgotten part"),
    ("textbook", "params", BLOCK, 4_203_264 + 1_050_112, "part counted twice"),
    ("sentiment-lstm", "params", "layer_1.direction", "4*128*(100 + 2)", "forgotten term"),
    ("textbook", "params", OUT, "1024*1024 + 1024", "d_model for the heads' width"),
    ("textbook", "params", "encoder.blocks.attention.heads", "3*(1024*1024 + 1024)", "d_model for the heads' width"),
    ("textbook", "params", "encoder.blocks.ffn.in", "1024*768 + 768", "another size"),
    ("textbook", "params", "model", 201_466_160 - 30_000 * 1024, "sharing of the embedding where there is none"),
    ("textbook", "params", "head", "1024*30000 + 2*30000", "two bias vectors instead of one"),
    ("bart-base", "params", "model", 139_420_416 + 50_265 * 768, "sharing of the embedding forgotten"),
    ("gpt2", "params", "model", 124_439_808 + 50_257 * 768, "output layer where it is tied"),
    ("gpt2", "params", "model", 124_439_808 - 1024 * 768, "position table forgotten"),
    ("gpt2", "params", "decoder.blocks", "4*768*768 + 2*768*3072 + 4*768", "bias in every layer forgotten"),
    ("gpt2", "params", "decoder.blocks.ffn", "2*(768*3072 + 3072) + 3072*768 + 768", f"{GATED} where there is none"),
    ("vit-b-16", "params", "model", 86_567_656 - (12 * 2 + 1) * 768, "RMS norm for layer norm"),
    ("vit-b-16", "params", "embedding.projection", "16*16*768 + 768", "one channel for all"),
    ("vit-b-16", "params", "embedding.positions", "196*768", "class token forgotten"),
    ("llama-3-8b", "params", "decoder.blocks.attention.k", "4096*4096", "keys and values for every head"),
    ("llama-3-8b", "params", "decoder.blocks.attention.out", "4097*4096", "bias in every layer where there is none"),
    ("llama-3-8b", "params", "decoder.blocks.attention_norm", "2*4096", "layer norm for RMS norm"),
    ("llama-3-8b", "params", "model", 8_030_261_248 - 32 * 4096 * 14336, f"{GATED} forgotten"),
    ("mixtral-8x7b", "params", "decoder.blocks.moe.experts", "2*3*4096*14336", "only the active experts"),
    ("sentiment-lstm", "params", "layer_1.direction", "4*128*(100 + 128 + 1)", "one bias vector instead of two"),
    ("sentiment-lstm", "params", "layer_1.direction", "4*128*(100 + 128)", "forgotten bias"),
    ("sentiment-lstm", "params", "layer_1", "4*128*(100 + 128 + 2)", "forgotten repeats"),
    ("sentiment-lstm", "params", "all_stacks", 3 * GATES, "three gates for four"),
    ("sentiment-gru", "params", "all_stacks", 4 * GATES, "four gates for three"),
    ("sentiment-gru", "params", "all_stacks", GATES, "no gates"),
    ("sentiment-lstm", "params", "all_stacks", 4 * 128 * (230 + 258), "second direction forgotten"),
    ("keras-gru", "params", "model", 4_022_850 + 3_938_304 + 1024 * 66, "second direction where there is none"),
    ("luong", "params", "encoder.layer_1", "4*1000*(2000 + 2)", "two bias vectors instead of one"),
    ("luong", "params", "encoder.layer_1", "4*1000*2000", "forgotten bias"),
    ("luong:peephole=true", "params", "encoder.layer_1", "4*1000*2001", "peepholes forgotten"),
    ("luong", "params", "encoder.layer_1", "4*1000*2001 + 3*1000", "peepholes where there is none"),
    ("luong:projection=500", "params", "encoder", "4*4*1000*2001", "projection forgotten"),
    ("textbook", "flops", "head", "32*2048*1024*30000", "multiply-adds for FLOPs"),
    ("textbook", "flops", "head", "2*2048*1024*30000", ONE_SAMPLE),
    ("textbook", "flops", "model", "3*29865055092736", "training for forward"),
    ("textbook", "flops", "encoder.blocks.ffn.in", "2*2048*1024*512", ONE_SAMPLE),
    ("sentiment-lstm", "memory", "weights.fp32", "32*2631298", "bits for bytes"),
    ("sentiment-lstm", "memory", "weights.fp32", "10525.192", "kB for bytes"),
    ("sentiment-lstm", "memory", "weights.fp32", "10.525192", "MB for bytes"),
    ("sentiment-lstm", "memory", "weights.fp32", "0.0105", "GB for bytes"),
    ("sentiment-lstm", "memory", "weights.fp32", "4*2631298/1024", "KiB for bytes"),
    ("sentiment-lstm", "memory", "weights.fp32", "10.04", "MiB for bytes"),
    ("sentiment-lstm", "memory", "weights.fp32", "4*2631298/1024**3", "GiB for bytes"),
    ("sentiment-lstm", "memory", "weights.fp32", "4*2631298/2**20*10**6", "MB for MiB"),
    ("sentiment-lstm", "memory", "weights.fp32", "4*2631298/10**6*2**20", "MiB for MB"),
    ("textbook", "shapes", Q, "2048 x 768", "forgotten batch"),
    ("textbook", "shapes", Q, "[32, 768]", "forgotten axis"),
    ("textbook", "shapes", Q, "[32, 768, 2048]", "axes in another order"),
    ("textbook", "shapes", Q, "32 x 2048 x 1024", "d_model for the heads' width"),
    ("textbook", "shapes", Q, "32 x 2048 x 512", "another size on an axis"),
    ("textbook", "shapes", Q, "32 x 4 x 2048 x 192", "axes merged or split"),
    ("textbook", "shapes", Q, "32 x 12 x 2048 x 768", "one axis too many"),
    ("vit-b-16:batch=8", "shapes", OUT, "8 x 196 x 768", "class token forgotten"),
    ("convolutions", "params", "conv_1", "3*3*3*16", "forgotten bias"),
    ("convolutions", "params", "conv_2", "3*3*16*32 + 32", "groups forgotten"),
    ("convolutions", "params", "conv_1", "3*3*16 + 16", "forgotten factor"),
    ("convolutions", "shapes", "conv_1", "8 x 16 x 32 x 32", "stride forgotten"),
    ("convolutions", "shapes", "conv_1", "8 x 16 x 15 x 15", "padding forgotten"),
    ("convolutions", "shapes", "conv_2", "8 x 32 x 12 x 12", "padding forgotten"),
    ("convolutions", "shapes", "conv_2", "8 x 32 x 18 x 18", "dilation forgotten"),
]  # fmt: skip
DECLARED = {
    *(mistake.name for mistake in (*MISTAKES, *RARER_MISTAKES, FORGOTTEN_FACTOR, another_size(()))),
    *(misreading.name for misreading in misreadings().mistakes),
    *(one.name for one in MISREMEMBERED),
    *(name for units in UNITS.values() for name, _, _ in units),
    *NAMES,
}


@pytest.mark.parametrize(("model", "question", "blank", "answer", "mistake"), INJECTED)
def test_a_mistake_is_found(model: str, question: str, blank: str, answer: object, mistake: str) -> None:
    """By its name; with a sentence."""
    mark = mark_of(model, question, blank, answer)
    assert (mark.standing, mark.mistake) == (Standing.WRONG, mistake), mark.remark
    assert mark.remark


def test_every_declared_mistake_is_injected() -> None:
    """One that is declared and never seen would not be known to work."""
    assert DECLARED - {mistake for *_, mistake in INJECTED} == set()


def test_what_follows_from_a_wrong_answer_is_a_right_step() -> None:
    """The bias of one head is forgotten; all that is made of it is worked out from that, in several ways."""
    head = 1024 * 192
    attention = 12 * head + 787_456
    block = attention + 2 * 2048 + 1_050_112
    given: dict[str, object] = {
        "P2": head,
        "P4": 12 * head,
        "P6": attention,
        "encoder.blocks": block,
        "encoder": 12 * block,
    }
    report = handed_in("textbook", "params", given)
    standings = {mark.blank.number: mark.standing for mark in report.marks if mark.standing is not Standing.RIGHT}
    assert standings.pop("P2") is Standing.WRONG
    assert set(standings.values()) == {Standing.FOLLOWS}
    assert len(standings) == 4
    assert report.first_mistake
    assert report.first_mistake.blank.number == "P2"


def test_a_mistake_on_top_of_a_wrong_answer_is_found() -> None:
    """One head without its bias, then one block instead of twelve."""
    block = 12 * 1024 * 192 + 787_456 + 2 * 2048 + 1_050_112
    report = handed_in("textbook", "params", {"P2": 1024 * 192, "encoder.blocks": block, "encoder": block})
    mark = next(mark for mark in report.marks if mark.blank.name == "encoder")
    assert (mark.standing, mark.mistake) == (Standing.WRONG, "forgotten repeats")
    assert "your earlier answers" in mark.remark


@pytest.mark.parametrize(
    ("model", "question", "blank", "answer", "standing"),
    [
        ("textbook", "params", "model", "2.01e8", Standing.ROUNDED),
        ("textbook", "params", "all_stacks", "109.3 M", Standing.ROUNDED),
        ("textbook", "params", "model", "201 500 000", Standing.ROUNDED),
        ("textbook", "params", "model", "≈ 0.20 B", Standing.ROUNDED),
        ("sentiment-lstm", "memory", "weights.fp32", "10.04 MiB", Standing.ROUNDED),
        ("textbook", "params", "source_embedding", "30,720,000", Standing.WRONG),  # more digits than are right
        ("textbook", "params", "source_embedding", "30000 * 1024", Standing.WRONG),  # a working rounds nothing
        ("textbook", "params", "model", "2e8", Standing.WRONG),  # one digit is a guess
        ("textbook", "params", "model", "201.4M + 0", Standing.WRONG),
    ],
)
def test_a_rounded_number_is_neither_right_nor_wrong(
    model: str, question: str, blank: str, answer: str, standing: Standing
) -> None:
    """Right to the digits that were given."""
    assert mark_of(model, question, blank, answer).standing is standing


@pytest.mark.parametrize(
    ("answer", "remark"),
    [(201_466_165, "5 too many"), (201_466_160 * 7, "7 times too large"), ("201466160/5", "5 times too small")],
)
def test_a_number_that_no_mistake_explains_is_so_far_off(answer: object, remark: str) -> None:
    mark = mark_of("textbook", "params", "model", answer)
    assert (mark.standing, mark.mistake, mark.remark) == (Standing.WRONG, "", remark)


def test_a_misread_model_is_one_mistake_in_shapes() -> None:
    """Every later shape that it explains follows from the first."""
    given: dict[str, object] = {
        "encoder.blocks.attention.q": "1 x 196 x 768",
        "encoder.blocks.ffn.in": "1 x 196 x 3072",
    }
    report = handed_in("vit-b-16", "shapes", given)
    found = [(mark.standing, mark.mistake) for mark in report.marks if mark.standing is not Standing.RIGHT]
    assert found == [(Standing.WRONG, "class token forgotten"), (Standing.FOLLOWS, "")]


@pytest.mark.parametrize(
    ("model", "question", "blank", "answer", "mistake"),
    [
        (
            "gpt2",
            "params",
            "model",
            124_439_808 - 1024 * 768 - 25 * 768,
            "RMS norm for layer norm and position table forgotten",
        ),
        ("textbook", "params", "decoder", 7_354_368 - 3_149_056, "cross-attention forgotten and forgotten repeats"),
        ("textbook", "params", "head", 4 * 1024 * 30_000, "forgotten bias and bytes for parameters"),
    ],
)
def test_two_mistakes_at_once_are_only_a_guess(
    model: str, question: str, blank: str, answer: int, mistake: str
) -> None:
    mark = mark_of(model, question, blank, answer)
    assert set(mark.mistake.split(" and ")) == set(mistake.split(" and "))
    assert "could be" in mark.remark


def test_mistakes_that_explain_equally_are_both_told() -> None:
    """Height and width are equal, so nobody can tell which was forgotten."""
    mark = mark_of("lenet-5", "flops", "conv_1", "2*28*5*5*6")
    assert mark.remark == "could be: the factor height_1 (28) is missing; or: the factor width_1 (28) is missing"


SHEETS = [
    "textbook",
    "gpt2",
    "lenet-5",
    "sentiment-lstm",
    "mixtral-8x7b",
    "bart-base",
    "vit-b-16",
    "luong",
    "resnet-18",
]


@pytest.mark.parametrize("model", SHEETS)
def test_a_random_number_has_no_name(model: str) -> None:
    """Nobody is accused of a mistake that they did not make."""
    sheet, draw = sheet_of(model, "params", "flops", "memory"), random.Random(model)
    explanations = Explanations(sheet)
    large = [blank for blank in sheet.blanks if isinstance(blank.answer, int) and blank.answer > 10**5]
    for blank in draw.choices(large, k=25):
        assert isinstance(blank.answer, int)
        given = Fraction(draw.randint(blank.answer // 2, 2 * blank.answer))
        assert explanations.of_number(blank, given, {}) is None


@pytest.mark.parametrize("model", SHEETS)
def test_every_sentence_is_whole(model: str) -> None:
    """No brackets around nothing, and no name that is missing."""
    sheet = sheet_of(model, "params", "flops")
    steps = [blank.step for blank in sheet.blanks if blank.step]
    kinds = (*MISTAKES, *RARER_MISTAKES, FORGOTTEN_FACTOR, another_size((Leaf(7, "width"),)))
    ways = [way for step in steps for way in step.every_way]
    told = [slip.sentence for way in ways for kind in kinds for slip in kind.slips(way, lambda step: step.value())]
    assert told
    assert not [sentence for sentence in told if "()" in sentence or "  " in sentence or sentence != sentence.strip()]
