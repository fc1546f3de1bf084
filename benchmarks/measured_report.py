"""What accuracy.py prints: errors of every class of figures in two columns, also by devices and by version, classes of
runs, and claims."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from measured_cases import readings
from measured_claims import percent, share
from measured_classes import classes, middle
from measured_quantities import ENGINES, QUANTITIES, TRAINING
from measured_rows import NO_CLASS, Row

OF_RUNS = ENGINES + tuple(name for name, what in QUANTITIES.items() if TRAINING in what.name)  # engines' and codes'
VERSION = re.compile(r"--(?:engine|code) [a-z.-]+@(\S+)")
BUILDS = 1000
NEAR = 0.1
TRUSTED = "A"  # of which nothing is inferred: these are held against a promise


def errors(rows: Sequence[Row]) -> Iterator[str]:
    """Every class of figures: with facts, as typed with the version that ran, and with the code of today."""
    yield "| figures | number | median with facts | worst | median as typed | worst | code of today | worst | target |"
    yield "|:---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for name, found in _grouped(rows).items():
        if name not in (NO_CLASS, QUANTITIES["verdict"].name):
            yield f"| {name} | {len(found)} | {_columns(found)} | {_target(found)} |"
    peaks = [row for row in rows if TRAINING in row.of]
    yield f"| every {TRAINING} | {len(peaks)} | {_columns(peaks)} | – |"


def missed(rows: Sequence[Row]) -> list[str]:
    """Classes whose median error, with facts, is more than was promised."""
    return [name for name, found in _grouped(rows).items() if not _is_met(found)]


def runs(rows: Sequence[Row]) -> Iterator[str]:
    """Every class of runs, as typed."""
    names = ("mode", "code or engine", "devices", "sharding", "weights")
    heads = (*names, "runs", "answered", "median error", "with a band")
    yield f"\n| {' | '.join(heads)} | median band | within it |"
    yield f"|{':---|' * len(names)}{'---:|' * 6}"
    for found in classes(rows):
        answered, banded = len(found.errors), len(found.bands)
        numbers = f"{len(found.rows)} | {answered} | {percent(middle(found.errors))}"
        shares = f"{share(banded, answered)} | {percent(middle(found.bands))} | {share(sum(found.within), banded)}"
        yield f"| {' | '.join(found.of)} | {numbers} | {shares} |"


def devices(rows: Sequence[Row]) -> Iterator[str]:
    """Figures of runs, as typed, by class of devices and way of sharding."""
    heads = ("figures", "devices", "sharding")
    yield from _split(rows, heads, lambda row: (row.of, row.run["devices"], row.run["sharding"]))


def versions(rows: Sequence[Row]) -> Iterator[str]:
    """Figures of engines and codes, as typed, by version or month."""
    yield from _split(rows, ("figures", "version"), lambda row: (row.of, version_of(row)))


def version_of(row: Row) -> str:
    """Of an engine's release two parts, of a code the month, and builds of llama.cpp by the thousand."""
    said = VERSION.search(row.typed.command or "")
    if not said:
        return "not said"
    if said[1].isdigit():
        return f"b{int(said[1]) // BUILDS}000 on"
    return ".".join(said[1].split(".")[:2])


def _split(rows: Sequence[Row], heads: tuple[str, ...], key: Callable[[Row], tuple[str, ...]]) -> Iterator[str]:
    found: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for row in rows:
        if row.quantity in OF_RUNS and row.typed_error is not None:
            found[key(row)].append(abs(row.typed_error))
    yield f"\n| {' | '.join(heads)} | answered | median error | within {percent(NEAR)} |"
    yield f"|{':---|' * len(heads)}---:|---:|---:|"
    for names, sizes in sorted(found.items()):
        near = share(sum(size <= NEAR for size in sizes), len(sizes))
        yield f"| {' | '.join(names)} | {len(sizes)} | {percent(median(sizes))} | {near} |"


def worst(rows: Sequence[Row], number: int) -> Iterator[str]:
    """The figures that are furthest off, as typed."""
    found = [(abs(row.typed_error), row) for row in rows if row.typed_error is not None]
    for _, row in sorted(found, key=lambda pair: -pair[0])[:number]:
        numbers = f"{row.measured:,.6g} measured, {row.typed.predicted:,.6g} here ({row.typed_error:+.1%})"
        yield f"  {row.case['id']}: {row.of}, {numbers}"
        yield f"    {row.typed.command}"


def refusals(rows: Sequence[Row]) -> Iterator[str]:
    """Why figures are not compared, as typed: the most common reasons first, with some of the cases."""
    yield "\nNot compared as typed, with the reason:"
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row.typed.refused:
            found[row.typed.refused].append(row.case["id"])
    for why, names in sorted(found.items(), key=lambda each: -len(each[1])):
        several = ", ".join(list(dict.fromkeys(names))[:3])
        yield f"  {len(names)} × {why} ({several})"


def read_otherwise(rows: Sequence[Row]) -> Iterator[str]:
    yield "\nRead otherwise than the case says, by its source:"
    told = Counter((row.case["id"], reading["why"]) for row in rows for reading in readings(row.case))
    yield from (f"  {name}: {why}" for name, why in sorted(told))


def _grouped(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """By class, in the order of quantities."""
    order = [*(quantity.name for quantity in QUANTITIES.values()), NO_CLASS]
    found: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: next(place for place, name in enumerate(order) if row.of.startswith(name))):
        found[row.of].append(row)
    return found


def _columns(found: Sequence[Row]) -> str:
    """With facts, as typed, and with the code of today."""
    return " | ".join(
        _numbers(errors)
        for errors in (
            [row.error for row in found],
            [row.typed_error for row in found],
            [row.today_error for row in found],
        )
    )


def _numbers(errors: Sequence[float | None]) -> str:
    sizes = [abs(error) for error in errors if error is not None]
    return f"{percent(middle(sizes))} | {percent(max(sizes, default=None))}"


def _is_met(found: list[Row]) -> bool:
    target = QUANTITIES[found[0].quantity].target if found[0].quantity else None
    sizes = [abs(row.error) for row in found if row.error is not None and row.case["trust"] == TRUSTED]
    return target is None or not sizes or median(sizes) <= target


def _target(found: list[Row]) -> str:
    target = QUANTITIES[found[0].quantity].target if found[0].quantity else None
    if target is None or all(row.error is None for row in found):
        return "–"
    promised = "exact" if target == 0 else f"{100 * target:g} %"
    return f"{promised} {'✓' if _is_met(found) else '✗'}"
