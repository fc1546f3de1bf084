"""What accuracy.py prints: errors of every class of figures in two columns, classes of runs, and claims with targets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from measured_cases import readings
from measured_classes import Runs, classes, left_out, middle
from measured_rows import NO_CLASS, Row
from measured_wanted import QUANTITIES, TRAINING

TRUSTED = "A"  # of which nothing is inferred: these are held against a promise
SHOWN = 10


def errors(rows: Sequence[Row]) -> Iterator[str]:
    """Every class of figures: with code, month and facts, and as typed."""
    yield "| figures | number | median with facts | worst | median as typed | worst | target |"
    yield "|:---|---:|---:|---:|---:|---:|---:|"
    for name, found in _grouped(rows).items():
        if name not in (NO_CLASS, QUANTITIES["verdict"].name):
            yield f"| {name} | {len(found)} | {_numbers(found, typed=False)} | {_numbers(found)} | {_target(found)} |"
    peaks = [row for row in rows if TRAINING in row.of]
    yield f"| every {TRAINING} | {len(peaks)} | {_numbers(peaks, typed=False)} | {_numbers(peaks)} | – |"


def missed(rows: Sequence[Row]) -> list[str]:
    """Classes whose median error, with facts, is more than was promised."""
    return [name for name, found in _grouped(rows).items() if not _is_met(found)]


def runs(rows: Sequence[Row]) -> Iterator[str]:
    """Every class of runs, as typed."""
    yield "\n| mode | code or engine | devices | sharding | runs | answered | median error | with a band | median band | within it |"
    yield "|:---|:---|:---|:---|---:|---:|---:|---:|---:|---:|"
    for found in classes(rows):
        answered, banded = len(found.errors), len(found.bands)
        shares = f"{_share(banded, answered)} | {percent(middle(found.bands))} | {_share(sum(found.within), banded)}"
        yield f"| {' | '.join(found.of)} | {len(found.rows)} | {answered} | {percent(middle(found.errors))} | {shares} |"


def claims(rows: Sequence[Row]) -> Iterator[tuple[str, bool]]:
    """What bands and verdicts are worth over all cases, and whether it is what they should be."""
    found = classes(rows)
    answered = sum(len(each.errors) for each in found)
    banded = sum(len(each.bands) for each in found)
    yield f"answers with a band: {_share(banded, answered)} of {answered} (at least 70 %)", banded >= 0.7 * answered
    for mode, most, name in (("train", 0.05, "training"), ("infer", 0.1, "inference")):
        stated = [band for each in found if each.of[0] == mode for band in each.bands]
        width = middle(stated)
        yield f"median band of {name}: {percent(width)} (at most {most:.0%})", width is not None and width <= most
    yield from _coverage(found)
    yield from _false_fits(rows)


def _coverage(found: list[Runs]) -> Iterator[tuple[str, bool]]:
    """Of bands as stated, and of bands made without the source that they are tried on."""
    within = [held for each in found for held in each.within]
    yield f"cases within their stated band: {_share(sum(within), len(within))} of {len(within)}", True
    held = [one for each in found for one in left_out(each)]
    share = sum(held) / len(held) if held else 0.0
    text = f"cases of a source that was left out within the band: {_share(sum(held), len(held))} of {len(held)} (75 to 90 %)"
    yield text, 0.75 <= share <= 0.9


def _false_fits(rows: Sequence[Row]) -> Iterator[tuple[str, bool]]:
    asked = [row for row in rows if row.quantity == "verdict" and row.typed.predicted]
    wrong = [row for row in asked if is_false_fit(row)]
    names = ", ".join(row.case["id"] for row in wrong[:SHOWN])
    text = f"false fits: {_share(len(wrong), len(asked))} of {len(asked)} verdicts (less than 3 %){': ' if names else ''}{names}"
    yield text, len(wrong) < 0.03 * len(asked) or not asked
    ran = [row for row in asked if not _did_not_fit(row)]
    alarms = [row for row in ran if row.typed.predicted == "does not fit"]
    names = ", ".join(row.case["id"] for row in alarms[:SHOWN])
    yield f"false alarms: {_share(len(alarms), len(ran))} of {len(ran)} runs that ran{': ' if names else ''}{names}", True


def is_false_fit(row: Row) -> bool:
    """Whether archcalc says that a run fits which did not."""
    return _did_not_fit(row) and row.typed.predicted == "fits"


def _did_not_fit(row: Row) -> bool:
    return "run" not in str(row.measured).lower()


def worst(rows: Sequence[Row], number: int) -> Iterator[str]:
    """The figures that are furthest off, as typed."""
    found = [(abs(row.typed_error), row) for row in rows if row.typed_error is not None]
    for _, row in sorted(found, key=lambda pair: -pair[0])[:number]:
        yield f"  {row.case['id']}: {row.of}, {row.measured:,.6g} measured, {row.typed.predicted:,.6g} here ({row.typed_error:+.1%})"
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


def _numbers(found: Sequence[Row], *, typed: bool = True) -> str:
    sizes = [abs(error) for row in found if (error := row.typed_error if typed else row.error) is not None]
    return f"{percent(middle(sizes))} | {percent(max(sizes, default=None))}"


def _is_met(found: list[Row]) -> bool:
    target = QUANTITIES[found[0].quantity].target if found[0].quantity else None
    sizes = [abs(row.error) for row in found if row.error is not None and row.case["trust"] == TRUSTED]
    return target is None or not sizes or median(sizes) <= target


def _target(found: list[Row]) -> str:
    target = QUANTITIES[found[0].quantity].target if found[0].quantity else None
    if target is None:
        return "–"
    return f"{'exact' if target == 0 else f'{100 * target:g} %'} {'✓' if _is_met(found) else '✗'}"


def percent(share: float | None) -> str:
    if share is None:
        return "–"
    if share == 0:
        return "0"
    return f"{100 * share:.2f} %" if abs(share) < 0.1 else f"{100 * share:.0f} %"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"
