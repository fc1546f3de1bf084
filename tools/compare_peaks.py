"""Write presets/accuracy/code.json: how far archcalc's training memory is from that of transformers' own classes.

    python tools/compare_peaks.py                  # every type that archcalc reads, a few random configs of each
    python tools/compare_peaks.py bert llama       # these types; the others stay as they are
    python tools/compare_peaks.py --show bert      # print every comparison, and write nothing

The class runs on the meta device, and the bytes of living storages are compared with what `archcalc memory --mode
train --overhead 0` says with the same options and nothing else (tools/peak_difference.py).
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import torch
import transformers

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from peak_difference import Difference, Way, difference
from support.hf_trained import Drawn, drawn, trained_class

from archcalc.importers.hf import translators
from archcalc.run.accuracy import DATA, kind_of

CONFIGS = 2  # of each type
WAYS = (Way("bf16"), Way("fp32"), Way("bf16", recompute=True), Way("bf16", lora=True))
SCANS = ("mamba_ssm", "fla")  # kernels in whose place transformers has loops in Python, which keep every state
Record = dict[str, Any]
Found = dict[Way, list[Difference]]


def compared(model_type: str, *, configs: int = CONFIGS, ways: tuple[Way, ...] = WAYS) -> Record:
    """The record of one type."""
    named = trained_class(model_type)
    if not named:
        return {"reason": "transformers has no class for such a config alone"}
    source = inspect.getsource(sys.modules[getattr(transformers, named[0]).__module__])
    scans = [package for package in SCANS if f', "{package}")' in source]
    if scans:
        return {
            "class": named[0],
            "reason": f"people train with the kernels of {scans[0]}, which the meta device lacks",
        }
    found: Found = {way: [] for way in ways}
    reasons: dict[Way, str] = {}
    for one in drawn(model_type):
        if len(found[ways[0]]) == configs:
            break
        for way in ways:
            outcome = _tried(one, way)
            if isinstance(outcome, str):
                reasons[way] = outcome
            else:
                found[way].append(outcome)
            if not found[ways[0]]:
                break
    return {"class": named[0], **_kinds(found, reasons)}


def _tried(one: Drawn, way: Way) -> Difference | str:
    """A difference, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return difference(one.config, way, one.batch, one.seq)
    except Exception as reason:  # a class raises whatever it likes, for what it does not compute on the meta device
        return f"{type(reason).__name__}: {' '.join(str(reason).split())[:120]}"


def _kinds(found: Found, reasons: dict[Way, str]) -> Record:
    """By kind of setting: how many, the worst and the median difference in percent; or the reason."""
    record: Record = {}
    for way, differences in found.items():
        percents = [one.percent for one in differences]
        if percents:
            worst = max(percents, key=abs)
            sizes = sorted(map(abs, percents))
            record[_kind(way)] = {
                "settings": len(percents),
                "worst": round(worst, 2),
                "median": round(median(sizes), 2),
            }
        elif way in reasons:
            record[_kind(way)] = {"reason": reasons[way]}
    return record


def _kind(way: Way) -> str:
    return kind_of(way.precision, recompute=way.recompute, lora=way.lora)


def summary(types: dict[str, Record]) -> Iterator[str]:
    """A line for each kind of setting, over all types."""
    for way in WAYS:
        rows = [record[_kind(way)] for record in types.values() if "worst" in record.get(_kind(way), {})]
        if rows:
            worst, middle = [abs(row["worst"]) for row in rows], [row["median"] for row in rows]
            within = " ".join(
                f"{sum(one <= most for one in worst) / len(worst):.0%} within {most} %" for most in (3, 10)
            )
            medians = f"median {median(middle):.2f} %, worst settings {median(worst):.2f} %"
            yield f"{_kind(way):22} {len(rows)} types, {medians}, {within}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("types", nargs="*")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    before = json.loads(DATA.read_text("utf-8"))["types"] if DATA.exists() and given.types else {}
    for model_type in given.types or sorted(translators()):
        before[model_type] = compared(model_type)
        print(model_type, json.dumps(before[model_type]), flush=True)
        if not given.show:
            write(before)
    print(*summary(before), sep="\n")


def write(types: dict[str, Record]) -> None:
    """One line for each type, so that changes can be read."""
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(record)}" for name, record in sorted(types.items()))
    versions = {"transformers": transformers.__version__, "torch": torch.__version__.partition("+")[0]}
    head = "".join(f"{json.dumps(name)}: {json.dumps(version)},\n" for name, version in versions.items())
    DATA.write_text(f'{{\n{head}"types": {{\n{lines}\n}}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
