"""Cells of a file of answers as students fill them in: no cell stops the others."""

from __future__ import annotations

import pytest
from support.filled_sheets import handed_in, mark_of, sheet_of, with_answers

from archcalc.core.errors import InputError
from archcalc.exercises.answers import document, read
from archcalc.exercises.marking import Standing

Q, SCORES, LOGITS = "encoder.blocks.attention.q", "encoder.blocks.attention.scores", "head"
RIGHT, UNREADABLE, OPEN = Standing.RIGHT, Standing.UNREADABLE, Standing.OPEN


@pytest.mark.parametrize(
    ("blank", "answer", "standing"),
    [
        ("source_embedding", "30 721 024", RIGHT),
        ("source_embedding", "30'721'024", RIGHT),
        ("source_embedding", "30.721.024", RIGHT),
        ("source_embedding", "۳۰٬۷۲۱٬۰۲۴", RIGHT),
        ("source_embedding", r"30000 \times 1024 + 1024", RIGHT),
        ("source_embedding", "vocab*d_model + d_model", RIGHT),
        ("source_embedding", "V*1024 + 1024 = 30,721,024", RIGHT),
        ("encoder.blocks.attention_norm", "2.048", RIGHT),
        ("source_embedding", "V*d + d", RIGHT),  # d may be two sizes: the one that is right is meant
        ("source_embedding", "B x N x V", UNREADABLE),  # N may be two sizes, and with neither it is right
        ("model", "I do not know", UNREADABLE),
        ("model", "twelve", UNREADABLE),
        ("model", "{a: 5}", UNREADABLE),
        ("model", "9**9**9", UNREADABLE),
        ("model", "true", UNREADABLE),
        ("model", ".nan", UNREADABLE),
        ("model", "9" * 45, Standing.WRONG),
        ("model", "9" * 300, UNREADABLE),
        ("model", "'?'", OPEN),
        ("model", "–", OPEN),
        ("model", "n/a", OPEN),
    ],
)
def test_a_number_as_students_write_it(blank: str, answer: str, standing: Standing) -> None:
    mark = mark_of("textbook", "params", blank, answer)
    assert mark.standing is standing, mark.remark
    assert bool(mark.remark) == (standing not in (RIGHT, OPEN) or answer == "2.048")


@pytest.mark.parametrize(
    ("blank", "answer", "standing"),
    [
        (LOGITS, "32 x 2048 x 30000", RIGHT),
        (LOGITS, "32x2048x30000", RIGHT),
        (LOGITS, "(32, 2048, 30000)", RIGHT),
        (LOGITS, "[32, 2048, 30000]", RIGHT),
        (LOGITS, "torch.Size([32, 2048, 30000])", RIGHT),
        (LOGITS, "32 × 2,048 × 30 000", RIGHT),
        (LOGITS, "32 2048 30000", RIGHT),
        (LOGITS, "۳۲ × ۲۰۴۸ × ۳۰۰۰۰", RIGHT),
        (LOGITS, r"$32 \times 2048 \times 30000$", RIGHT),
        (LOGITS, "B x N x V", RIGHT),
        (LOGITS, "BxNxV", RIGHT),
        (LOGITS, "[B, T, V]", RIGHT),
        (LOGITS, "batch × seq × vocab", RIGHT),
        (LOGITS, "batch_size, seq_len, |V|", RIGHT),
        (Q, "(B, T, 4*192)", RIGHT),
        (Q, "[B, T, heads*head_dim]", RIGHT),
        (LOGITS, "B x N x d", Standing.WRONG),
        (LOGITS, "B x N x Q", UNREADABLE),
        (LOGITS, "32 x", UNREADABLE),
        (LOGITS, "-3 x 4", UNREADABLE),
        (LOGITS, "[32, [4]]", UNREADABLE),
        (LOGITS, "as before", UNREADABLE),
        (LOGITS, "3.5 x 4", UNREADABLE),
        (LOGITS, "-", OPEN),
    ],
)
def test_a_shape_as_students_write_it(blank: str, answer: str, standing: Standing) -> None:
    """By sizes or by the usual letters."""
    mark = mark_of("textbook", "shapes", blank, answer)
    assert mark.standing is standing, mark.remark


@pytest.mark.parametrize(
    "broken",
    ["2: 3", "*foo", "[32, 4", "{", "'open", "@5", "%", "!tag 5", "a: b: c", "| 5", "> 3", "\t]", "5 \x1b[31m"],
)
def test_an_answer_that_is_no_yaml_stops_no_other(broken: str) -> None:
    text = with_answers(sheet_of("textbook", "params"), {"model": broken})
    report = read(document(text.encode(), "ANSWERS.yaml"))
    assert report.cells["params", "model"].trouble
    assert report.cells["params", "source_embedding"].value == 30_721_024


def test_a_file_that_is_no_yaml_elsewhere_is_told_as_it_stands() -> None:
    text = with_answers(sheet_of("textbook", "params"), {}).replace("worksheet: 1", "worksheet: [")
    with pytest.raises(InputError, match="YAML"):
        document(text.encode(), "ANSWERS.yaml")


def test_a_name_that_is_no_blank_is_told_and_stops_no_other() -> None:
    text = with_answers(sheet_of("textbook", "params"), {}).replace("    source_embedding:", "    sorce_embedding:")
    found = read(document(text.encode(), "ANSWERS.yaml"))
    assert found.strays == ("params.sorce_embedding is no blank of this sheet: did you mean source_embedding?",)
    assert found.cells["params", "head"].value == 30_750_000


def test_all_that_was_read_is_marked() -> None:
    given: dict[str, object] = {"model": "no idea", "head": "", "encoder": 50_439_168, "decoder": 5}
    counts = handed_in("textbook", "params", given).counts
    assert (counts["unreadable"], counts["open"], counts["wrong"]) == (1, 1, 1)
