"""archcalc gpus: the catalog, parts of it, and one device in full."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

from archcalc.run.device import catalog

if TYPE_CHECKING:
    from conftest import Run

GIB = 2**30


def listed(run: Run, *arguments: str) -> list[str]:
    """Names, as a program reads them."""
    return [row["gpu"] for row in run("gpus", *arguments, "--format", "json").json["rows"]]


def test_every_device_has_its_line(run: Run) -> None:
    """With its whole name, where there is room for the longest; no line is wider than the terminal."""
    lines = run("gpus", columns=100).out.splitlines()
    assert lines[1] == f"{len(catalog())} devices"
    shown = {line.split()[0] for line in lines[4 : 4 + len(catalog())]}
    assert shown == set(catalog())
    assert max(map(len, run("gpus").out.splitlines())) <= 80


def test_a_line_shows_what_a_driver_reports(run: Run) -> None:
    """Not the nameplate's 80 GiB, and the dense peak."""
    line = next(line for line in run("gpus").out.splitlines() if line.startswith("h100 "))
    assert line.split() == ["h100", "80GB", "79.19", "GiB", "3.35", "TB/s", "989.5", "900.0", "GB/s", "2022"]


def test_filters(run: Run) -> None:
    """Each alone, and together."""
    assert listed(run, "--maker", "google") == [n for n, each in catalog().items() if each.maker == "Google"]
    assert listed(run, "--kind", "embedded") == [n for n, each in catalog().items() if each.kind == "embedded"]
    large = listed(run, "--min-memory", "140GiB", "--maker", "NVIDIA")
    assert "b200" in large and "h200" not in large  # an H200 reports 139.8 GiB
    assert "h200" in listed(run, "--min-memory", "141GB")  # as it is rated
    assert "h200" not in listed(run, "--min-memory", "142GB")


def test_one_device_in_full(run: Run) -> None:
    """Every peak, what was reported by whom, and where it was read."""
    out = run("gpus", "h100", columns=200).out
    assert out.startswith("NVIDIA H100 80GB SXM5\n79.19 GiB of memory\n")
    for told in (
        "85,899,345,920 bytes · 80.00 GiB",
        "dense fp8         1,979.0 TFLOP/s",
        "link bandwidth    900.0 GB/s",
    ):
        assert told in out
    assert "reported memory: CUDA deviceQuery log" in out and out.count("· source: ") == 3


def test_json_and_csv_have_exact_numbers(run: Run) -> None:
    """As the file has them."""
    row = run("gpus", "h100", "--format", "json").json["rows"][0]
    assert (row["capacity_bytes"], row["memory"]["bytes"], row["peak"]["bf16"]) == (
        85_028_896_768,
        80 * GIB,
        9895 * 10**11,
    )
    rows = list(csv.DictReader(io.StringIO(run("gpus", "--format", "csv").out)))
    assert len(rows) == len(catalog())
    assert rows[list(catalog()).index("h100")]["bandwidth"] == "3350000000000"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["h10"], "did you mean h100"),
        (["--maker", "nvida"], "did you mean nvidia"),
        (["--kind", "server"], "choose from"),
        (["--min-memory", "24"], "such as 24GB or 24GiB"),
    ],
)
def test_mistakes_are_told(run: Run, arguments: list[str], told: str) -> None:
    """Exit code 2 and the way out."""
    answer = run("gpus", *arguments)
    assert answer.code == 2 and told in answer.err
