"""Reports show themselves: printed as the terminal has them, in notebooks as tables of HTML."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from archcalc import Model, fit, load
from archcalc.report.base import Report

if TYPE_CHECKING:
    from conftest import Run

MADE = ("Report", "Overview")  # how the names of what a question returns end
ASKED: dict[str, tuple[str, ...]] = {  # what must be said beside the question
    "plot": ("batch=1..8",),
    "oom": ("CUDA out of memory. Tried to allocate 2.00 GiB.",),
}
QUESTIONS = ("params", "shapes", "flops", "memory", "kernel")


def report_of(question: str) -> Report:
    found = fit(load("gpt2"), gpus=["t4"]) if question == "fit" else getattr(load("gpt2"), question)()
    assert isinstance(found, Report)
    return found


class Read(HTMLParser):
    """Rows of cells, and whether every tag is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.items: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "li":
            self.items.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif self.open and self.open[-1] == "li":
            self.items[-1] += data


@pytest.mark.parametrize("question", [*QUESTIONS, "fit"])
def test_print_shows_what_the_terminal_shows(question: str, run: Run) -> None:
    asked = ("--gpu", "t4") if question == "fit" else ()
    assert str(report_of(question)) == run(question, "gpt2", *asked).out.rstrip("\n")


@pytest.mark.parametrize("name", ["gpt2", "lenet-5"])
def test_whatever_a_model_returns_can_be_printed(name: str) -> None:
    """As text: never as Python writes an object, nor with an error where there are no figures."""
    model = load(name)
    methods = {key: vars(Model)[key].__annotations__ for key in vars(Model) if hasattr(vars(Model)[key], "__code__")}
    questions = [key for key, types in methods.items() if str(types.get("return")).endswith(MADE)]
    assert {*QUESTIONS, "diagram", "plot", "report"} <= set(questions)
    for question in questions:
        if question == "kernel" and name != "gpt2":  # of attention alone
            continue
        printed = str(getattr(model, question)(*ASKED.get(question, ())))
        assert printed.startswith(model.name)
        assert "Report(" not in printed


@pytest.mark.parametrize("question", [*QUESTIONS, "fit"])
def test_a_notebook_shows_every_line_and_assumption(question: str) -> None:
    report = report_of(question)
    read = Read(report._repr_html_())
    tables = (report.table(), *report.more())
    lines = len(report.figures()) + sum(1 + len(table.lines) for table in tables)
    assert read.open == []
    assert len(read.rows) == lines
    assert read.items == [str(each) for each in report.assumptions]


def test_numbers_in_a_notebook_are_those_of_the_report() -> None:
    report = load("gpt2").params()
    cells = [cell for row in Read(report._repr_html_()).rows for cell in row]
    assert f"{report.total:,}" in cells


def test_no_name_is_taken_for_markup() -> None:
    spec = {"family": "transformer", "name": "<script>alert(1)</script> & co", "decoder": 1, "d_model": 8, "vocab": 9}
    shown = load({**spec, "heads": 2, "ffn": 8, "notes": ["a <b>bold</b> note"]}).params()._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "<b>bold" not in shown


def test_markdown_is_that_of_the_command(run: Run) -> None:
    assert report_of("params")._repr_markdown_() == run("params", "gpt2", "--format", "markdown").out.rstrip("\n")
