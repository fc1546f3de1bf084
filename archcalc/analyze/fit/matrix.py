"""What fits over two choices: `archcalc fit MODEL --table weights,context --gpu rtx-3090`.

A row for each value of the first axis, a column for each of the second: the memory needed, and whether that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from archcalc.analyze.fit.facts import Facts, facts
from archcalc.analyze.fit.matrix_report import Cell, MatrixReport
from archcalc.analyze.fit.need import cached, measured, required, room
from archcalc.analyze.fit.notes import CAPACITY, band_note
from archcalc.analyze.fit.request import Request, placed_on, with_options
from archcalc.analyze.fit.solve import longest_in
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError, did_you_mean
from archcalc.network import Network
from archcalc.run.device import Device, group
from archcalc.run.ladders import ladder
from archcalc.run.options import Options

SHORTEST, LONGEST = 2048, 131_072  # contexts, where the model has as many positions and where it has no limit
COLUMNS = 7
BATCHES = tuple(2**power for power in range(COLUMNS))
MARKS = Assumption(Topic.TABLE, "cells: GiB needed; ✓ fits, ≈ tight, ? cannot say, ✗ does not fit", "GiB")


@dataclass(frozen=True)
class Values:
    """What one axis goes through: its name, its values, and the request with one of them."""

    name: str
    of: Callable[[Request, Facts], Sequence[str | int]]
    changed: Callable[[Request, str | int], Request]


def _formats(request: Request, known: Facts) -> list[str]:
    """As the weights are now, and down the ladder."""
    rungs = [one.format for one in ladder(known.engine, known.kind).weights if one.bits < known.bits]
    now = request.deployment.parameters.weights
    narrower = {one: with_options(request, request.options.changed(weights=one)) for one in rungs}
    smaller = [one for one, changed in narrower.items() if changed.deployment.parameters.weights < now]
    return [_weights_now(request), *smaller]


def _caches(request: Request, known: Facts) -> list[str]:
    rungs = ladder(known.engine, known.kind).kv
    return [_cache_now(request), *(one.format for one in rungs if one.bits < known.cache_bits)]


def _weights_now(request: Request) -> str:
    return request.deployment.run.format.name.lower()


def _cache_now(request: Request) -> str:
    return request.deployment.run.cache_name or "none"


def _contexts(request: Request, known: Facts) -> list[int]:
    """Up to all that the model has, by halves."""
    _, asked, longest = request.varying
    if not asked:
        raise InputError("this model has no context to choose", "use --table weights,batch", field="--table")
    most = longest or max(LONGEST, asked)
    halves = [most >> power for power in range(COLUMNS)]
    return sorted(size for size in halves if size >= min(SHORTEST, most // 4) and size)


def _with_format(option: str, now: Callable[[Request], str]) -> Callable[[Request, str | int], Request]:
    def changed(request: Request, value: str | int) -> Request:
        if value == now(request):  # which a file may have, and no option
            return request
        return with_options(request, request.options.changed(**{option: value}))

    return changed


def _with_length(request: Request, value: str | int) -> Request:
    return replace(request, sizes=replace(request.sizes, **dict.fromkeys(request.varying.names, int(value))))


def _with_batch(request: Request, value: str | int) -> Request:
    return replace(request, sizes=replace(request.sizes, batch=int(value)))


AXES = {
    "weights": Values("weights", _formats, _with_format("weights", _weights_now)),
    "kv-dtype": Values("kv_dtype", _caches, _with_format("kv_dtype", _cache_now)),
    "context": Values("context", _contexts, _with_length),
    "batch": Values("batch", lambda request, known: BATCHES, _with_batch),
}


def matrix(model: Network, gpus: Sequence[str] | None, options: Options, axes: str) -> MatrixReport:
    """For one device, or several that hold the model together."""
    first, second = _axes(axes)
    if not gpus or len(gpus) > 1:
        raise InputError("is about one device", "add --gpu NAME, such as --gpu rtx-3090", field="--table")
    if options.trains:
        raise InputError("is about inference", "leave --mode out", field="--table")
    (placed,) = placed_on(model, options, [group(gpus[0])])
    request, device = placed.request, placed.group.first
    known = facts(request, placed.group.kinds)
    rows, columns = first.of(request, known), second.of(request, known)
    return MatrixReport(
        model=model.name,
        assumptions=(*request.report.assumptions, MARKS, band_note(measured(request)), CAPACITY, *placed.notes),
        scope=model.scope,
        gpu=placed.group.name,
        axes=(first.name, second.name),
        across=tuple(columns),
        rows=tuple(
            (one, tuple(_cell(request, device, (first, one), (second, two)) for two in columns)) for one in rows
        ),
        longest=tuple(_longest(request, device, first, one) for one in rows) if second.name == "context" else (),
        memory=request.report,
        capacity=device.capacity,
    )


def _axes(text: str) -> tuple[Values, Values]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in AXES:
            raise InputError(f"no axis called {name or 'nothing'}", did_you_mean(name, AXES), field="--table")
    if len(names) != len(set(names)) or len(names) != 2:
        raise InputError("takes two different axes", "such as --table weights,context", field="--table")
    return AXES[names[0]], AXES[names[1]]


def _cell(request: Request, device: Device, *choices: tuple[Values, str | int]) -> Cell | None:
    """None where the model does not allow both."""
    try:
        for axis, value in choices:
            request = axis.changed(request, value)
        needed = required(request)
    except InputError:
        return None
    return Cell(needed, room(request, device).verdict(needed, cached(request)))


def _longest(request: Request, device: Device, axis: Values, value: str | int) -> int | None:
    """The longest context that fits with the error band to spare."""
    try:
        request = axis.changed(request, value)
        return longest_in(request, room(request, device).safe)[0]
    except InputError:
        return None
