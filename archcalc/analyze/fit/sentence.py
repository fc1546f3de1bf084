"""The answer in one sentence, which heads `fit`, `archcalc MODEL`, the report, the explorer and the JSON of all:

    fits rtx-4090 with 5.19 GiB to spare; 20 requests of 2,048 tokens at once, one of up to 41,152; smallest usual card:
    24 GB in bf16, 12 GB with q8_0, 8 GB with q4_k_m

Its clauses are functions of rows and uses, and stand on lines of their own where there is room for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from archcalc.analyze.fit.rows import Row
from archcalc.analyze.fit.uses import INFERENCE, Use
from archcalc.analyze.fit.verdict import Verdict
from archcalc.spec.units import binary_bytes

FEW = 3  # devices that are named one by one
HEADS = {  # how a verdict on a device begins
    Verdict.FITS: "fits",
    Verdict.TIGHT: "tight on",
    Verdict.CANNOT_SAY: "cannot say for",
    Verdict.NOT: "does not fit",
}


def joined(clauses: Iterable[str]) -> str:
    return "; ".join(filter(None, clauses))


def on_one(row: Row) -> str:
    """`fits rtx-4090 with 5.19 GiB to spare: needs 18.33 of 23.52 GiB ± 6 %`."""
    where = "in all" if row.parts else "on each GPU"
    shared = f" {where}" if row.parts or row.memory.plan.gpus > 1 else ""
    host = f" and {binary_bytes(row.memory.host_bytes)} of host RAM" if row.memory.host else ""
    band = f" ± {row.room.percent} %" if row.room.percent is not None else ""
    if row.verdict is Verdict.FITS:
        needs = f"needs {_of(row.required_bytes, row.room.capacity)}{band}{shared}{host}"
        return f"fits {row.gpu} with {binary_bytes(row.left_bytes)} to spare: {needs}"
    needs = f"needs {binary_bytes(row.required_bytes)}{band}{shared}{host}"
    said = f"{HEADS[row.verdict]} {row.gpu}: {needs}, {row.told(briefly=True)}"
    if row.remedy and row.remedy.changes == 1:  # `; --weights q8_0 makes it fit, with 14.2 GiB of host RAM`
        what = "the counted part" if row.room.missing else "it"
        said += f"; {row.remedy.change.option} makes {what} fit"
        said += f", with {binary_bytes(row.remedy.host)} of host RAM" if row.remedy.host else ""
    return said


def _of(needed: int, there: int) -> str:
    """`18.33 of 23.52 GiB`: the unit once, where both have the same."""
    (number, unit), (limit, limit_unit) = binary_bytes(needed).split(" "), binary_bytes(there).split(" ")
    return f"{number} of {limit} {unit}" if unit == limit_unit else f"{number} {unit} of {limit} {limit_unit}"


def on_several(rows: Sequence[Row]) -> str:
    """How many it fits, then the smallest of them, each of a few, and what is not certain."""
    by_verdict = {verdict: [row for row in rows if row.verdict is verdict] for verdict in Verdict}
    fitting = sorted(by_verdict[Verdict.FITS], key=lambda row: row.room.capacity)
    said = f"fits {len(fitting)} of {len(rows)} devices"
    named = fitting if len(rows) <= FEW else fitting[:1]
    spare = ", ".join(f"{row.gpu} with {binary_bytes(row.left_bytes)} to spare" for row in named)
    if spare:
        said += f": {spare}" if named == fitting else f", the smallest {spare}"
    for verdict in (Verdict.TIGHT, Verdict.CANNOT_SAY):
        found = by_verdict[verdict]
        if found:
            said += f"; {HEADS[verdict]} {', '.join(row.gpu for row in found)}"
    return said


def at_once(rows: Sequence[Row]) -> str:
    """How far it can grow where an engine fills the device: on one, or on the largest of several."""
    pools = [row for row in rows if row.pool and row.pool.room > 0]
    if not pools:
        return ""
    largest = max(pools, key=lambda row: row.room.capacity)
    assert largest.pool
    where = "" if len(rows) == 1 else f" on {largest.gpu}"
    return f"{largest.pool.requests()}{where}"


def smallest_card(uses: Sequence[Use], *, is_partial: bool = False) -> str:
    """`smallest usual card: 24 GB in bf16, 12 GB with q8_0`; of a partial count for what is counted."""
    if not uses:
        return ""
    what = "" if uses[0].name == INFERENCE else f" for {uses[0].name}"
    what += " for the counted part" if is_partial else ""
    return f"smallest usual card{what}: {card_sizes(uses)}"


def card_sizes(uses: Iterable[Use]) -> str:
    """`24 GB in bf16, 12 GB with q8_0`."""
    return ", ".join(f"{use.size} {'with' if 'weights' in use.options else 'in'} {use.format}" for use in uses)
