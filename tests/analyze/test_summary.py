"""`archcalc summary`: the numbers of `params`, `shapes` and `flops`, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.unknown_activations import check_refused, has_unknown, with_silu

import archcalc
from archcalc.spec import paths

if TYPE_CHECKING:
    from conftest import Run, Write

D, HEADS, WIDTH, BLOCKS, SEQ = 768, 12, 3072, 12, 1024  # GPT-2's


@pytest.mark.wide(12)
@pytest.mark.parametrize("name", sorted(paths.presets()))
def test_every_row_says_what_the_other_commands_say(run: Run, write: Write, name: str) -> None:
    rows = {row["path"]: row for row in run("summary", name, "--format", "json").json["rows"]}
    params = run("params", name, "--format", "json").json["rows"]
    counted = {row["path"]: row["total"] for row in params if row["kind"] == "module"}
    assert counted == {path: row["parameters"] for path, row in rows.items() if path in counted}
    assert all(row["parameters"] == 0 for path, row in rows.items() if path not in counted)
    model = archcalc.load(name)
    if has_unknown(model):
        check_refused(lambda: model.flops(mode="forward"))
        name = write(with_silu(model))  # the matrix products of a summary are the same
    flops = run("flops", name, "--mode", "forward", "--format", "json").json["rows"]
    worked = {row["path"]: row["forward"] for row in flops if row["path"] in rows}
    assert worked == {path: rows[path]["flops"] for path in worked}
    assert rows["model"]["flops"] == worked["model"] if worked else rows["model"]["flops"] == 0


def test_shapes_are_those_that_the_layers_give_out(run: Run) -> None:
    rows = {row["path"]: row for row in run("summary", "gpt2", "--batch", "2", "--format", "json").json["rows"]}
    assert rows["decoder.blocks.ffn.in"]["shape"] == [2, SEQ, WIDTH]
    assert rows["decoder.blocks"]["shape"] == [2, SEQ, D]
    assert rows["head"]["shape"] == [2, SEQ, 50257]
    assert rows["head"]["dims"] == ["batch", "seq", "vocab"]


def test_equal_layers_stand_once_with_the_numbers_of_all(run: Run) -> None:
    answer = run("summary", "gpt2", "--depth", "2")
    (block,) = [line for line in answer.out.splitlines() if line.startswith("  block")]
    assert block.split()[1:3] == ["×", str(BLOCKS)]
    assert f"{BLOCKS * (12 * D * D + 13 * D):,}" in block
    rows = {row["path"]: row for row in run("summary", "gpt2", "--format", "json").json["rows"]}
    assert rows["decoder.blocks.ffn"]["flops"] == BLOCKS * 2 * 2 * SEQ * D * WIDTH


def test_at_80_columns_every_column_is_there(run: Run) -> None:
    out = run("summary", "deepseek-v3", "--batch", "32").out
    (head,) = [line for line in out.splitlines() if line.startswith("layer ")]
    assert head.split() == ["layer", "×", "output", "shape", "parameters", "FLOPs", "share"]
    assert max(map(len, out.splitlines())) <= 80
