"""How far archcalc is from what people measured: `python benchmarks/accuracy.py CASES.json [--all] [--alone]`.

CASES.json is a list of cases, each with `id`, `kind`, `model`, `arch`, `measured` and `trust`: figures from start-up
logs of vLLM and llama.cpp, peaks that torchtitan, torchtune and litgpt report, published counts and FLOPs. A second set
of the same kinds (measured_more.yaml) comes to them, unless CASES.json is to stand alone. Prints the error of each
class, the worst ten training peaks with what explains them, and what archcalc cannot express, with the reason. Exit
code 1 if a class misses its target.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from measured_classes import CLASSES, Class
from measured_models import Case, Inexpressible
from measured_more import more
from measured_reasons import reason

from archcalc.core.errors import InputError

Figure = tuple[float, Case, str, float, float]  # error, case, of what, measured, archcalc's

PRINTED = 0.006  # what llama.cpp's hundredths of a MiB may hide


@dataclass
class Outcome:
    """One class: the error of every figure, and why a case has none."""

    of: Class
    errors: list[Figure] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def worst(self) -> float:
        return max((abs(error[0]) for error in self.errors), default=0.0)

    @property
    def met(self) -> bool:
        return self.of.target is None or self.worst <= self.of.target

    def ranked(self) -> list[Figure]:
        return sorted(self.errors, key=lambda error: -abs(error[0]))


def main() -> int:
    paths = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    if len(paths) != 1:
        print(__doc__)
        return 2
    cases = json.loads(Path(paths[0]).read_text(encoding="utf-8")) + ([] if "--alone" in sys.argv else more())
    outcomes = [_outcome(each, cases) for each in CLASSES]
    print("\n".join(_summary(outcomes)))
    for outcome in (outcome for outcome in outcomes if outcome.of.name == "training peak"):
        print("\n".join(_worst(outcome)))
    print("\n".join(_missed(outcomes)))
    print("\n".join(_refused(outcomes)))
    if "--all" in sys.argv:
        print("\n".join(_everything(outcomes)))
    return 0 if all(outcome.met for outcome in outcomes) else 1


def _outcome(each: Class, cases: list[Case]) -> Outcome:
    outcome = Outcome(each)
    for case in filter(each.picks, cases):
        if case["trust"] != "A" and each.trusted:
            continue
        try:
            compared = list(each.compared(case))
            outcome.errors += [(_error(each, said, ours), case, what, said, ours) for what, said, ours in compared]
        except (Inexpressible, InputError) as why:
            outcome.refused[str(why).splitlines()[0]] += 1
        except (LookupError, TypeError, ValueError, AttributeError) as why:
            outcome.refused[f"laid out otherwise than is read here ({type(why).__name__}: {why})"] += 1
    return outcome


def _error(each: Class, measured: float, ours: float) -> float:
    """Relative; none where the printed digits are the same."""
    if each.target == 0 and each.name != "parameters" and abs(measured - ours) < PRINTED:
        return 0.0
    return ours / measured - 1


def _summary(outcomes: list[Outcome]) -> Iterator[str]:
    yield "| class | figures | median error | worst error | target |"
    yield "|:---|---:|---:|---:|---:|"
    for outcome in outcomes:
        errors = [abs(error[0]) for error in outcome.errors] or [0.0]
        target = outcome.of.target
        wanted = "–" if target is None else "exact" if target == 0 else f"{100 * target:g} %"
        met = "" if target is None else " ✓" if outcome.met else " ✗"
        numbers = f"{len(outcome.errors)} | {_percent(median(errors))} | {_percent(max(errors))}"
        yield f"| {outcome.of.name} | {numbers} | {wanted}{met} |"


def _percent(share: float) -> str:
    return "0" if share == 0 else f"{100 * share:.2f} %" if abs(share) < 0.1 else f"{100 * share:.0f} %"


def _worst(outcome: Outcome) -> Iterator[str]:
    yield f"\nThe worst ten of: {outcome.of.name}"
    for error, case, _, measured, ours in outcome.ranked()[:10]:
        yield f"  {case['id']}: {measured:.1f} GiB measured, {ours:.1f} here ({error:+.0%}): {reason(case, error)}"


def _missed(outcomes: list[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        if not outcome.met:
            yield f"\n{outcome.of.name} misses its target:"
        for figure in outcome.ranked() if not outcome.met else ():
            if abs(figure[0]) > (outcome.of.target or 0):
                yield _line(figure)


def _refused(outcomes: list[Outcome]) -> Iterator[str]:
    yield "\nNot expressed, with the reason:"
    for outcome in (outcome for outcome in outcomes if not outcome.of.name.startswith("·")):  # parts of one above
        for why, number in outcome.refused.most_common():
            yield f"  {outcome.of.name}: {number} × {why}"


def _everything(outcomes: list[Outcome]) -> Iterator[str]:
    yield "\nEvery figure, the worst first:"
    for outcome in outcomes:
        yield f"\n{outcome.of.name}"
        yield from map(_line, outcome.ranked())


def _line(figure: Figure) -> str:
    error, case, what, measured, ours = figure
    return f"  {case['id']} {case['model']}: {what} {measured:,.6g} measured, {ours:,.6g} here ({error:+.2%})"


if __name__ == "__main__":
    sys.exit(main())
