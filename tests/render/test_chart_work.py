"""FLOPs by kind of work: bars to scale, and the figures of the report beside them."""

from __future__ import annotations

import pytest
from support.drawn import marked, words

import archcalc
from archcalc.analyze.flops.report import FlopsReport
from archcalc.render.chart.work import work


def report(mode: str = "train", **options: str) -> FlopsReport:
    return archcalc.load("gpt2").flops(mode=mode, **options)  # type: ignore[arg-type]


def test_bars_are_proportional_to_flops() -> None:
    asked = report()
    pieces = [size for amounts in asked.kinds.values() for size in (amounts.forward, amounts.backward) if size]
    wide = [float(each.attrib["width"]) for each in marked(work(asked), "data-pass")]
    assert wide == pytest.approx([size * max(wide) / max(pieces) for size in pieces], abs=0.11)
    assert sum(pieces) == asked.total


def test_figures_are_those_of_the_table() -> None:
    assert {"347.9 G · 39.8 %", "forward 291.6 G", "backward 583.3 G"} <= set(words(work(report())))


def test_inference_has_no_backward_pass() -> None:
    passes = {each.attrib["data-pass"] for each in marked(work(report("prefill")), "data-pass")}
    assert passes == {"forward"}


def test_what_is_recomputed_is_told_apart() -> None:
    passes = {each.attrib["data-pass"] for each in marked(work(report(recompute="full")), "data-pass")}
    assert passes == {"forward", "backward", "recomputed"}
