"""archcalc fit --table: every cell is what its own command answers, and so is what a slider says of it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pytest

from archcalc.analyze.fit.matrix import matrix
from archcalc.analyze.fit.matrix_axes import Typed
from archcalc.analyze.fit.matrix_cell import Cell, Refusal
from archcalc.loading import load
from archcalc.render.chart.matrix import cells
from archcalc.run.options import Options

if TYPE_CHECKING:
    from conftest import Run

ASKED = [  # models and devices of different kinds
    ("llama-3.1-8b", "weights,gpu", "--gpu rtx-3060 --gpu m4-pro-48gb --gpu h100 --gpu 24GB"),
    ("gemma-3-27b", "gpu=4090,l40s,weights=int8,q4_k_m", ""),
    ("deepseek-v3", "weights=fp8,int4,q2_k,gpu", "--gpu rx-7900-xtx --gpu h200 --gpu 8xh200"),
    ("llama-3.1-70b", "plan=1,tp2,tp8,gpu=h100,4090", "--weights awq"),
    ("llama-3.1-70b", "weights=q4_k_m,q2_k,context=4096,32k", "--gpu rtx-5070-ti+rtx-5090"),
    ("gpt2 mamba-130m t5-small", "model,gpu=t4,1GiB", "--batch 4"),
    ("gpt2", "kv-dtype,batch=1,64", "--gpu 2GiB --context 512"),
    ("resnet-50", "gpu,batch=1,256,4096", "--gpu rtx-4060 --gpu h100"),
    ("gpt2:decoder=6 textbook", "model,gpu=4060,a100", "--mode train --cell batch --optimizer sgd"),
    ("qwen3-0.6b", "plan,gpu=rtx-3090", "--mode train --set decoder=4"),
]
KEYS = ("required_bytes", "left_bytes", "verdict", "why")


@pytest.mark.parametrize(("models", "axes", "more"), ASKED)
def test_every_cell_is_what_its_command_answers(run: Run, models: str, axes: str, more: str) -> None:
    asked = (*models.split(), "--table", axes, *more.split(), "--format", "json")
    rows = run("fit", *asked).json["rows"]
    for row in rows:
        archcalc, *words = shlex.split(row["command"]) or ["archcalc"]
        assert archcalc == "archcalc"
        alone = run(*words, "--format", "json") if words else None
        if row["verdict"] is None:  # refused there too, for the same reason
            assert alone is None or (alone.code == 2 and row["why"] in alone.err.replace("\n", " "))
            continue
        assert alone
        (one,) = alone.json["rows"]
        grown = [key for key in ("max_seq", "max_batch") if key in row]
        assert [row[key] for key in (*KEYS, *grown)] == [one[key] for key in (*KEYS, *grown)]


def test_what_an_engine_does_not_read_is_said(run: Run) -> None:
    """llama.cpp, which AMD's card runs by --engine, reads GGUF files alone."""
    asked = ("llama-3.1-8b", "--table", "weights=bf16,fp8,q8_0,gpu=rx-7900-xtx", "--engine", "llama.cpp")
    answer = run("fit", *asked)
    assert "– fp8 × rx-7900-xtx: llama.cpp reads GGUF files, which hold no fp8" in answer.out
    (line,) = [line for line in answer.out.splitlines() if line.startswith("fp8 ")]
    assert line.split() == ["fp8", "–"]


def report(models: str, axes: str, cell: str = "", **options: Any) -> Any:
    typed = [(Typed(name), load(name)) for name in models.split()]
    return matrix(typed, None, Options.of("fit", options), axes, cell)


@pytest.mark.parametrize(
    ("model", "axes", "cell"),
    [
        ("llama-3.1-8b", "weights=bf16,q8_0,int4,gpu=rtx-3060,4090,m4-pro-48gb", ""),
        ("gemma-3-27b", "weights=int4,q4_k_m,gpu=4090,24GB,l40s", ""),
        ("llama-3.1-70b", "plan=tp2,tp4,gpu=h100", ""),
        ("llama-3.1-8b", "weights=bf16,q8_0,gpu=4090,h100", "batch"),
    ],
)
def test_a_slider_says_what_the_command_says(run: Run, model: str, axes: str, cell: str) -> None:
    """On both sides of each bound, and of the model's own longest context nobody is asked beyond."""
    told = cells(report(model, axes, cell))
    sizes = 0
    for one in (one for row in told["cells"] for one in row):
        bounds = [bound for bound in (one["most"], one["limit"]) if bound is not None]
        for size in sorted({bound + step for bound in bounds for step in (0, 1) if bound + step}):
            if one.get("longest") and size > one["longest"]:
                continue
            verdict = one["within"] if one["most"] is None or size <= one["most"] else one["beyond"]
            if one["limit"] is not None and size > one["limit"]:
                verdict = "does not fit"
            (row,) = run(*shlex.split(one["asking"])[1:], str(size), "--format", "json").json["rows"]
            assert (one["name"], size, row["verdict"]) == (one["name"], size, verdict)
            sizes += 1
    assert sizes > 3


def test_a_slider_is_not_offered_where_other_limits_decide() -> None:
    """A training step's allocator, and host RAM."""
    for one in (
        report("gpt2", "batch=1,8,gpu=t4", mode="train"),
        report("gpt2", "weights,gpu=t4", host="64GiB", ngl=4),
    ):
        assert all(cell.growth is None or not cell.growth.command for cell in one.answered())


def test_devices_on_which_the_run_is_the_same_share_what_is_worked_out() -> None:
    """llama.cpp needs as much on every card, so that its memory is simulated once for a format."""
    found = report("llama-3.1-8b", "weights=q4_k_m,gpu=3060,4090,h100")
    ((_, row),) = found.rows
    first, *others = [cell.row.memory for cell in row if isinstance(cell, Cell)]
    assert len(others) == 2 and {other.total_bytes for other in others} == {first.total_bytes}
    assert [cell.row.gpu for cell in row] == ["rtx-3060", "rtx-4090", "h100"]


def test_formats_that_nothing_here_reads_are_no_rows() -> None:
    """Unless somebody names them."""
    assert [value for value, _ in report("resnet-50", "weights,gpu=t4").rows] == ["fp32"]
    named = report("resnet-50", "weights=fp32,q4_k_m,gpu=t4")
    assert [isinstance(row[0], Refusal) for _, row in named.rows] == [False, True]


def test_a_model_that_nobody_typed_has_no_command() -> None:
    found = matrix([(Typed(""), load("gpt2"))], ["t4"], Options.of("fit", {}), "weights,gpu")
    assert {cell.command for cell in found.answered()} == {""}
