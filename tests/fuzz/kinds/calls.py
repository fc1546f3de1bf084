"""Calls of the Python library with arguments of any type: an InputError, or a report whose numbers make sense."""

from __future__ import annotations

from functools import cache
from typing import Any

from archcalc.report.base import Report
from fuzz import questions
from fuzz.case import Case, Wrong
from fuzz.values import odd

METHODS = ("params", "shapes", "flops", "memory", "kernel", "fit", "load", "set")
SHARES = (14, 14, 26, 26, 8, 2, 6, 6)
MODELS = ("textbook", "gpt2", "bert-base", "lenet-5", "sentiment-lstm")
NOT_OF_CALLS = ("format", "set", "gpu", "table", "models")


def run(case: Case) -> None:
    method = case.random.choices(METHODS, SHARES)[0]
    if method == "load":
        case.load(_value(case))
    elif method == "set":
        case.load("gpt2", set=case.random.choice((_value(case), [_value(case)], ["heads=4"], "heads=4")))
    else:
        _asked(case, method)


def _asked(case: Case, method: str) -> None:
    from archcalc import fit

    name = case.random.choice(MODELS)
    model = _model(name)
    arguments = _arguments(case, method)
    words = f"load({name!r}).{method}({', '.join(f'{key}={value!r:.200}' for key, value in arguments.items())})"
    question = (
        (lambda: fit(model, "24GiB", **arguments)) if method == "fit" else lambda: getattr(model, method)(**arguments)
    )
    report = case.call(words, question)
    if report is not None:
        _sensible(report)


@cache
def _model(name: str) -> Any:
    from archcalc import load

    return load(name)


def _arguments(case: Case, method: str) -> dict[str, Any]:
    """Options by the names that the library has for them."""
    known = {name.removeprefix("--").replace("-", "_"): values for name, values in questions.options_of(method).items()}
    known = {name: values for name, values in known.items() if name not in NOT_OF_CALLS}
    names = case.random.sample(list(known), min(len(known), case.random.randint(1, 4)))
    found = {name: _argument(case, known[name]) for name in names}
    if case.chance(0.05):
        found[case.random.choice(("unknown", "Batch", ""))] = 1
    return found


def _argument(case: Case, choices: tuple[str, ...]) -> Any:
    """As the command line would hand it over, or anything else."""
    if case.chance(0.4):
        return _value(case)
    drawn = case.random.choice(choices or (True, False))
    return int(drawn) if isinstance(drawn, str) and drawn.isascii() and drawn.isdigit() else drawn


def _value(case: Case) -> Any:
    return case.random.choice((odd(case.random), b"bytes", object(), 3 + 4j, range(3), {1: 2}, {"heads"}, 10**15))


def _sensible(report: Report) -> None:
    """No number of a report is negative, and none is a fraction where bytes or parameters are counted."""
    record = report.record()
    for key in ("total", "total_bytes", "forward", "backward", "bytes"):
        if key in record and not (isinstance(record[key], int) and record[key] >= 0):
            raise Wrong(f"{key} is {record[key]!r}")
    parts = record.get("parts", {})
    for key, value in parts.items() if isinstance(parts, dict) else ():  # of shapes they are a list, with shapes
        if not isinstance(value, int) or value < 0:
            raise Wrong(f"{key} is {value!r}")
