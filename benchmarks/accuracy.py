"""How far archcalc is from what people measured: `python benchmarks/accuracy.py CASES.json`.

CASES.json is a list of cases, each with `id`, `kind`, `model`, `arch`, `measured`, `source` and `trust`: figures from
start-up logs of vLLM and llama.cpp, peaks that training codes report, published counts and FLOPs.

    --format json   every figure of these cases alone, as a list: id, class, what, measured, predicted,
                    error (predicted / measured - 1), band (the error that archcalc states), why_not
    --alone         without the second set of the same kinds (measured_more.yaml)
    --all           every figure, the worst first
    --bands         the error bands of training peaks and of inference, as presets/accuracy has them

Without --format json, prints the error of each class, the worst ten training peaks, what is not compared, with the
reason, and which cases are read otherwise than they say. Exit code 1 if a class misses its target.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from measured_bands import bands
from measured_classes import CLASSES, Class
from measured_figures import UNREAD, Figure, figures
from measured_more import more
from measured_peaks import TRAINING, states
from measured_readings import readings
from measured_startups import band as inference_band


@dataclass(frozen=True)
class Outcome:
    """One class and its figures."""

    of: Class
    figures: list[Figure]

    @property
    def compared(self) -> list[tuple[float, Figure]]:
        """Errors and their figures, the worst first."""
        found = [(figure.error, figure) for figure in self.figures if figure.error is not None]
        return sorted(found, key=lambda pair: -abs(pair[0]))

    @property
    def worst(self) -> float:
        return max((abs(error) for error, _ in self.compared), default=0.0)

    @property
    def met(self) -> bool:
        return self.of.target is None or self.worst <= self.of.target


def main() -> int:
    asked = _parser().parse_args()
    cases = _cases(asked.cases)
    if cases is None:
        print(f"{asked.cases}: no list of cases", file=sys.stderr)
        return 2
    if asked.format == "json":
        print(json.dumps([figure.entry() for figure in figures(cases)], indent=1))
        return 0
    found = figures(cases + ([] if asked.alone else more()))
    if asked.bands:
        print("\n".join(("training:", *bands(found), "inference:", inference_band(cases))))
        return 0
    return _report(found, everything=asked.all)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("cases", metavar="CASES.json")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--bands", action="store_true")
    return parser


def _cases(path: str) -> list[Any] | None:
    """None for a file that is no list of cases."""
    try:
        said = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    said = said.get("cases") if isinstance(said, dict) else said
    return said if isinstance(said, list) else None


def _report(found: list[Figure], *, everything: bool) -> int:
    outcomes = [Outcome(one, [figure for figure in found if figure.of == one.name]) for one in CLASSES]
    for part in (_summary(outcomes), _worst(found), _missed(outcomes), _not_compared(found), _read_otherwise(found)):
        print("\n".join(part))
    if everything:
        print("\n".join(_everything(outcomes)))
    return 0 if all(outcome.met for outcome in outcomes) else 1


def _summary(outcomes: list[Outcome]) -> Iterator[str]:
    yield "| class | figures | median error | worst error | target |"
    yield "|:---|---:|---:|---:|---:|"
    for outcome in outcomes:
        errors = [abs(error) for error, _ in outcome.compared]
        if errors or outcome.of.target is not None:
            yield f"| {outcome.of.name} | {_numbers(errors)} | {_target(outcome)} |"
    every = [abs(error) for outcome in outcomes if TRAINING in outcome.of.name for error, _ in outcome.compared]
    yield f"| every {TRAINING} | {_numbers(every)} | – |"


def _numbers(errors: list[float]) -> str:
    return f"{len(errors)} | {_percent(median(errors or [0.0]))} | {_percent(max(errors, default=0.0))}"


def _target(outcome: Outcome) -> str:
    target = outcome.of.target
    if target is None:
        return "–"
    mark = "✓" if outcome.met else "✗"
    return f"{100 * target:g} % {mark}" if target else f"exact {mark}"


def _percent(share: float) -> str:
    if share == 0:
        return "0"
    return f"{100 * share:.2f} %" if abs(share) < 0.1 else f"{100 * share:.0f} %"


def _worst(found: list[Figure]) -> Iterator[str]:
    yield f"\nThe worst ten of every {TRAINING}:"
    errors = [(figure.error, figure) for figure in found if TRAINING in figure.of and figure.error is not None]
    for error, figure in sorted(errors, key=lambda pair: -abs(pair[0]))[:10]:
        yield f"{_line(error, figure)}, {figure.of}"
        yield from _contradiction(figure)


def _contradiction(figure: Figure) -> Iterator[str]:
    """What a run cannot have taken; the second set's cases are asked in words of their own."""
    if figure.case["arch"] and (least := states(figure.case)) > (figure.measured or 0):
        yield f"    less than weights, gradients and optimizer states alone: {least:.1f} GiB"


def _missed(outcomes: list[Outcome]) -> Iterator[str]:
    for outcome in (outcome for outcome in outcomes if not outcome.met):
        yield f"\n{outcome.of.name} misses its target:"
        for error, figure in outcome.compared:
            if abs(error) > (outcome.of.target or 0):
                yield _line(error, figure)


def _not_compared(found: list[Figure]) -> Iterator[str]:
    yield "\nNot compared, with the reason:"
    refused = Counter((figure.of, figure.why_not) for figure in found if figure.why_not)
    order = [*(one.name for one in CLASSES), UNREAD]
    for (of, why), number in sorted(refused.items(), key=lambda each: (order.index(each[0][0]), -each[1])):
        yield f"  {of}: {number} × {why}"


def _read_otherwise(found: list[Figure]) -> Iterator[str]:
    yield "\nRead otherwise than the case says, by its source:"
    told = {(figure.case["id"], reading["why"]) for figure in found for reading in readings(figure.case)}
    for name, why in sorted(told):
        yield f"  {name}: {why}"


def _everything(outcomes: list[Outcome]) -> Iterator[str]:
    yield "\nEvery figure, the worst first:"
    for outcome in outcomes:
        yield f"\n{outcome.of.name}"
        yield from (_line(error, figure) for error, figure in outcome.compared)


def _line(error: float, figure: Figure) -> str:
    case, what = figure.case, f"{figure.what} {figure.measured:,.6g} measured, {figure.predicted:,.6g} here"
    return f"  {case['id']} {case['model']}: {what} ({error:+.2%})"


if __name__ == "__main__":
    sys.exit(main())
