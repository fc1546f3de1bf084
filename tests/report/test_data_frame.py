"""Reports as data frames of pandas: every row, every column, and integers to the last digit."""

from __future__ import annotations

import sys

import pandas
import pytest

import archcalc
from archcalc.report.data_frame import data_frame

EXACT = 2**60 + 1  # which no float holds


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([EXACT, 3], "Int64"),
        ([EXACT, None], "Int64"),
        ([-EXACT, None], "Int64"),
        ([2**63 - 1, None], "Int64"),
        ([2**63, None], "object"),
        ([2**80 + 1, 3], "object"),
        ([True, None], "boolean"),
        ([1.5, None], "Float64"),
        (["a", None], "string"),
    ],
)
def test_a_column_keeps_its_values(values: list[object], dtype: str) -> None:
    frame = data_frame([{"name": value} for value in values], ["name"])
    assert str(frame["name"].dtype) == dtype
    assert [None if value is pandas.NA else value for value in frame["name"]] == values


def test_a_report_is_a_frame_with_the_columns_of_its_csv() -> None:
    report = archcalc.load("gpt2").params()
    frame = report.to_pandas()
    assert list(frame.columns) == report.heads()
    assert frame.loc[frame.path == "model", "total"].item() == 124_439_808
    assert frame.loc[frame.path == "decoder.blocks", "each"].item() == 12 * 768**2 + 13 * 768


def test_every_kind_of_report_has_one() -> None:
    model = archcalc.load("gpt2")
    asked = [model.shapes(), model.flops(), model.memory(mode="train"), model.fit("rtx-4090"), model.plot("batch=1,2")]
    asked += [archcalc.compare([model, model.changed("ffn=64")]), archcalc.gpus(maker="amd"), model.kernel()]
    for report in asked:
        assert len(report.to_pandas()) == len(report.flat()) > 0


def test_a_report_without_rows_has_a_frame_without_rows() -> None:
    assert len(data_frame([], ["name"])) == 0


def test_without_pandas_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(archcalc.InputError, match=r"pip install 'archcalc\[pandas\]'"):
        archcalc.load("gpt2").params().to_pandas()
