"""Worksheets: the figures of the course's sheet, other sizes by a seed, and a file that is enough by itself."""

from __future__ import annotations

import pytest
from support.filled_sheets import SPECS, handed_in, sheet_of

import archcalc
from archcalc.core.errors import InputError
from archcalc.exercises.answers import read, written
from archcalc.exercises.report import check
from archcalc.exercises.sheet import worksheet
from archcalc.exercises.variation import varied, with_sizes
from archcalc.spec import yaml_reader

MODELS = ["textbook", "gpt2", "llama-3-8b", "mixtral-8x7b", "deepseek-v2-lite", "bart-base", "vit-b-16", "whisper-tiny"]
MODELS += [
    "mamba-130m",
    "recurrentgemma-2b",
    "sentiment-lstm",
    "keras-gru",
    "luong",
    "rnnsearch",
    "gnmt",
    "albert-base-v2",
]
MODELS += ["linear-autoencoder", "recursive-autoencoder", "convolutions"]
EVERY = ("params", "shapes", "flops", "memory")


def test_the_sheet_asks_what_the_course_asks() -> None:
    """The course's own values, in the order in which they are worked out."""
    answers = [blank.answer for blank in sheet_of("textbook", "params").blanks]
    course = [30_721_024, 196_800, 2_361_600, 787_456, 2_048, 1_050_112, 4_203_264, 50_439_168, 7_354_368, 58_834_944]
    course += [30_750_000, 109_274_112, 170_716_160, 201_466_160]
    assert [answer for answer in answers if answer in course] == course


def test_the_shapes_are_those_of_the_course() -> None:
    shapes = {blank.answer for blank in sheet_of("textbook", "shapes").blanks}
    widths = {30_000, 1024, 192, 768, 512}
    assert {(32, 2048, width) for width in widths} <= shapes


@pytest.mark.parametrize("model", MODELS)
def test_the_answers_are_those_of_the_reports(model: str) -> None:
    """The last figure of each question is the one that the other commands print."""
    sheet = sheet_of(model, *EVERY, seed=1)
    found = {(blank.question, blank.name): blank.answer for blank in sheet.blanks}
    of = sheet.model
    states = of.memory(mode="train", precision="fp32", optimizer="adamw").states
    parts = of.memory(mode="infer").parts
    assert found["params", "model"] == of.params().total
    assert found.get(("flops", "model"), 0) == of.flops(mode="prefill").forward
    assert found["memory", "training"] == sum(states.values())
    assert found.get(("memory", "cache"), 0) == parts["kv_cache"] + parts["state"]
    assert {blank.answer for blank in sheet.blanks if blank.question == "shapes"} == {
        row.shape for row in of.shapes().rows
    }


@pytest.mark.parametrize("model", MODELS)
def test_the_file_alone_is_enough(model: str) -> None:
    """Written, read again without the model it came from, and all of the key's answers are right."""
    sheet = sheet_of(model, *EVERY, seed=2)
    filled = read(yaml_reader.read(written(sheet, solved=True).encode(), "ANSWERS.yaml"))
    assert [blank.name for blank in filled.sheet.blanks] == [blank.name for blank in sheet.blanks]
    assert check(filled).all_right


@pytest.mark.parametrize("model", MODELS)
def test_every_seed_gives_another_valid_model(model: str) -> None:
    """One that can be traced, and that is the same for the same seed."""
    sized = with_sizes(archcalc.load(SPECS.get(model, model)))
    specs = [varied(sized, seed).spec for seed in range(6)]
    assert len({str(spec.model_copy(update={"name": ""})) for spec in specs}) > 3
    assert varied(sized, 3).spec == specs[3]
    assert all(spec != sized.spec for spec in specs)


def test_sizes_stay_near_and_fit() -> None:
    """Heads divide the width, and no size leaves the range from a half to one and a half."""
    for seed in range(20):
        spec = varied(with_sizes(archcalc.load("gpt2")), seed).spec.model_dump()
        assert spec["d_model"] % spec["heads"] == 0
        assert 384 <= spec["d_model"] <= 1152
        assert spec["seq"] <= spec["position"][0]["length"]


@pytest.mark.parametrize("model", MODELS)
def test_labels_and_names_are_told_apart(model: str) -> None:
    blanks = sheet_of(model, *EVERY).blanks
    assert len({(blank.question, blank.label) for blank in blanks}) == len(blanks)
    assert len({(blank.question, blank.name) for blank in blanks}) == len(blanks)


def test_an_open_sheet_has_no_right_answer() -> None:
    report = handed_in("gpt2", "params", dict.fromkeys(blank.name for blank in sheet_of("gpt2", "params").blanks))
    assert {standing: number for standing, number in report.counts.items() if number} == {"open": len(report.marks)}


def test_the_sheet_gives_away_no_answer() -> None:
    """Neither in the file nor in what the page says of the model."""
    sheet = sheet_of("textbook", "params")
    open_file = written(sheet)
    big = [blank.answer for blank in sheet.blanks if isinstance(blank.answer, int) and blank.answer > 10_000]
    assert not [answer for answer in big if str(answer) in open_file or f"{answer:,}" in open_file]


def test_what_cannot_be_asked_is_said() -> None:
    with pytest.raises(InputError, match="quantised"):
        worksheet(archcalc.load("gpt-oss-20b"), questions=["memory"])
    with pytest.raises(InputError, match="no question called paramz"):
        worksheet(archcalc.load("gpt2"), questions=["paramz"])


def test_fewer_levels_ask_for_less() -> None:
    """The file remembers it."""
    sheet = worksheet(archcalc.load("textbook"), questions=["params", "shapes"], depth=1)
    assert {blank.name.count(".") for blank in sheet.blanks} == {0}
    assert sheet.blanks[0].answer == 30_721_024
    again = read(yaml_reader.read(written(sheet, solved=True).encode(), "ANSWERS.yaml"))
    assert check(again).all_right
    assert len(again.sheet.blanks) == len(sheet.blanks)


def test_the_key_works_out_the_sides_of_a_map() -> None:
    blank = next(blank for blank in sheet_of("convolutions", "shapes").blanks if blank.name == "conv_1")
    assert "⌊(32 + 2·1 − 3)/2⌋ + 1 = 16" in blank.working


def test_one_head_is_not_mixed_up_with_a_projection() -> None:
    """With a single head for keys and values both have the same number."""
    labels = [blank.label for blank in sheet_of("gpt2:kv_heads=1", "params").blanks]
    assert "attention: q head, k head and v head, each" in labels
    assert "attention: k and v, each" in labels
