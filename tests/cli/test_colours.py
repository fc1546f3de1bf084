"""Verdicts in colour, on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run

GREEN, YELLOW, RED, END = "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[0m"
ALL = ("fit", "llama-3.1-8b", "--engine", "plain")


def test_a_verdict_has_one_colour_in_the_table_of_devices(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = run(*ALL).out
    assert "\x1b" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    lines = [line for line in run(*ALL).out.splitlines() if line.startswith(("rtx-4060 ", "rtx-5060-ti", "h100 "))]
    for line, toned in zip(lines, (f"{RED}no{END} ", f"{YELLOW}tight{END} ", f"{GREEN}yes{END} "), strict=True):
        assert toned in line and line.count("\x1b") == 2
    monkeypatch.setenv("NO_COLOR", "1")
    assert run(*ALL).out == plain


@pytest.mark.parametrize(("gpu", "begins"), [("rtx-4060", f"{RED}does not fit"), ("h100", f"{GREEN}fits h100")])
def test_the_line_that_answers_has_the_same_colour(
    run: Run, monkeypatch: pytest.MonkeyPatch, gpu: str, begins: str
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert begins in run("fit", "llama-3.1-8b", "--gpu", gpu).out


def test_an_answer_about_several_verdicts_has_none(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1mfits 7 of 10 devices" in run(*ALL).out
