"""What bands and verdicts are worth over all cases, each with what it should be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from measured_classes import Runs, classes, left_out, middle
from measured_rows import Row

Claim = tuple[str, bool]  # in words, and whether it is what it should be

SHOWN = 10
BANDED = 0.7  # of all answers, at least
WIDEST = {"train": 0.05, "infer": 0.1}  # the median band of training, and of inference
COVERED = (0.75, 0.9)  # of the cases of a source that was left out
FALSE_FITS = 0.03  # of all cases whose outcome is known, less than


def claims(rows: Sequence[Row]) -> Iterator[Claim]:
    found = classes(rows)
    answered, banded = sum(len(each.errors) for each in found), sum(len(each.bands) for each in found)
    text = f"answers with a band: {share(banded, answered)} of {answered} (at least {share(BANDED, 1)})"
    yield text, banded >= BANDED * answered
    yield from _width(found)
    yield from _coverage(found)
    yield from _verdicts(rows)


def _width(found: list[Runs]) -> Iterator[Claim]:
    for mode, most in WIDEST.items():
        width = middle([band for each in found if each.of[0] == mode for band in each.bands])
        yield f"median band, {mode}: {percent(width)} (at most {share(most, 1)})", width is not None and width <= most


def _coverage(found: list[Runs]) -> Iterator[Claim]:
    """Of bands as stated, and of bands made without the source that they are tried on."""
    within = [one for each in found for one in each.within]
    yield f"cases within the band that is stated: {share(sum(within), len(within))} of {len(within)}", True
    held = [one for each in found for one in left_out(each)]
    least, most = COVERED
    text = f"within a band made without their source: {share(sum(held), len(held))} of {len(held)}"
    yield f"{text} ({share(least, 1)} to {share(most, 1)})", bool(held) and least <= sum(held) / len(held) <= most


def _verdicts(rows: Sequence[Row]) -> Iterator[Claim]:
    """Of cases that ran or did not: fits that are wrong, and alarms."""
    known = list({row.case["id"]: row for row in rows if row.typed.verdict}.values())
    failed = [row for row in known if did_not_fit(row)]
    wrong = [row for row in failed if row.typed.verdict == "fits"]
    alarms = [row for row in known if not did_not_fit(row) and row.typed.verdict == "does not fit"]
    text = f"false fits: {share(len(wrong), len(known))} of {len(known)} cases that ran or did not"
    met = len(wrong) < FALSE_FITS * len(known) or not wrong
    of_failed = f"of those that did not, {len(wrong)} of {len(failed)}{_named(wrong)}"
    yield f"{text} (less than {share(FALSE_FITS, 1)}); {of_failed}", met
    yield f"false alarms: {share(len(alarms), len(known))}{_named(alarms)}", True


def did_not_fit(row: Row) -> bool:
    """A start-up that printed its pool, and a run with a peak, ran."""
    return row.quantity == "verdict" and "run" not in str(row.measured).lower()


def _named(rows: Sequence[Row]) -> str:
    return f": {', '.join(row.case['id'] for row in rows[:SHOWN])}" if rows else ""


def percent(value: float | None) -> str:
    if value is None:
        return "–"
    if value == 0:
        return "0"
    return f"{100 * value:.2f} %" if abs(value) < 0.1 else f"{100 * value:.0f} %"


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"
