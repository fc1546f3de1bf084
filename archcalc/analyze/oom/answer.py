"""A log held against the model: which tensor, which step, which flag helps.

    oom(model, text, {"batch": 4})

What the log says of the run is taken unless it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from shlex import quote
from typing import Any

from archcalc.analyze.fit.answer import fitted
from archcalc.analyze.fit.remedies import remedies
from archcalc.analyze.fit.request import Placed, placed_on, request_of
from archcalc.analyze.fit.search import Remedy
from archcalc.analyze.memory.measured import against
from archcalc.analyze.memory.peak import bytes_beside_cache, cache_bytes, check, peak
from archcalc.analyze.oom.candidates import as_many_tokens, candidates
from archcalc.analyze.oom.comparing import compared
from archcalc.analyze.oom.figures import Counted
from archcalc.analyze.oom.reading import Log, read
from archcalc.analyze.oom.report import OomReport
from archcalc.core.errors import InputError
from archcalc.core.progress import doing
from archcalc.network import Network
from archcalc.run.commands import OOM
from archcalc.run.device import group
from archcalc.run.options import Options, options_of
from archcalc.spec.option import flag_of, other_names
from archcalc.storage.named_formats import meaning

SHARES, LARGEST = ("share", "static"), 0.95  # pools that are a share of a card, and the largest that people take
LENGTHS = ("src_seq", "tgt_seq", "context")  # instead of --seq
FIRST = ("mode", "engine", "gpu", "seq")  # options without which others are refused


def oom(model: Network, text: str, given: Mapping[str, Any]) -> OomReport:
    """`text` is a log, or the part of it that has the message."""
    return explained(model, read(text), given)


def explained(model: Network, log: Log, given: Mapping[str, Any]) -> OomReport:
    """The same for a log that was read."""
    options, told, unread = _options(model, log, given)
    gpus, options = [options.gpu] if options.gpu else [], replace(options, gpu=None)
    placed = placed_on(model, options, map(group, gpus))
    request = placed[0].request if placed else request_of(model, options)
    engine, needed, measured = request.deployment.run.engine, log.get("needed"), None
    row = fitted(model, gpus, options, verdicts_alone=True).rows[0] if gpus else None
    rows, missing = compared(log, Counted(request, row)), 0
    helps: tuple[Remedy, ...] = ()
    if needed > request.report.allocated_bytes and not engine.fills_device:
        measured = against(request.deployment, request.sizes, request.report, ("allocated", needed))
    if row and row.pool and log.failure and "kv_pool" in log.figures:
        missing = max(row.pool.room - log.get("kv_pool"), 0)
    if gpus and log.is_failure:  # from here on with what the run takes beyond what is counted
        doing("looking for what makes it fit")
        options = measured.applied(options) if measured else replace(options, shift=missing)
        row = fitted(model, gpus, options, verdicts_alone=True).rows[0]
        placed = placed_on(model, options, map(group, gpus))
        helps, _ = remedies(placed)
    found = peak(request.deployment, request.sizes)
    likely = tuple(candidates(found, log))
    share = _share(placed[0]) if log.failure and placed else 0.0
    return OomReport(
        model=model.name,
        assumptions=request.report.assumptions,
        scope=model.scope,
        memory=request.report,
        log=log,
        rows=rows,
        likely=likely,
        tokens=() if likely else as_many_tokens(found, log),
        read=tuple(told),
        unread=tuple(unread),
        device=row,
        remedies=helps,
        measured=measured,
        share=share,
        missing=missing,
    )


def _share(placed: Placed) -> float:
    """Of a card that an engine fills, what one request needs beyond the share that it has; 0 where that is too much."""
    deployment, one = placed.request.deployment, replace(placed.request.sizes, batch=1)
    needed = bytes_beside_cache(deployment, one) + cache_bytes(deployment, one)
    share = ceil(100 * needed / placed.group.first.capacity) / 100
    is_share = deployment.run.engine.rules.pool in SHARES
    return share if is_share and deployment.run.engine.share < share <= LARGEST else 0


def _options(model: Network, log: Log, given: Mapping[str, Any]) -> tuple[Options, list[str], list[str]]:
    """With what the log tells, as people write it, and what it tells in vain: options that archcalc does not take."""
    known = options_of(OOM)
    others_of = other_names(known)
    chosen = {others_of.get(name, name): value for name, value in given.items() if value is not None}
    found = {name: value for name, value in _device(log).items() if "gpu" not in chosen} | log.options
    if model.stored:  # the model's files say how they are stored, and logs only how that is called
        found.pop("weights", None)
    if "weights" in found:
        meant = meaning(str(found["weights"]), str(found.get("engine", "")).partition("@")[0])
        found["weights"] = found["weights"] if meant.why else meant.format
    if chosen.get("mode") == "train":
        found = {name: value for name, value in found.items() if name in ("gpu", "mode")}
    chosen = {"mode": found.pop("mode", "infer"), **chosen}
    if not chosen.keys().isdisjoint(LENGTHS):
        found.pop("seq", None)
    wanted = {name: value for name, value in found.items() if name not in chosen}
    unread = _refused(model, chosen, wanted)
    taken = {name: value for name, value in wanted.items() if name not in unread}
    told = [flag_of(name) if value is True else f"{flag_of(name)} {quote(str(value))}" for name, value in taken.items()]
    reasons = [f"{flag_of(name)} {wanted[name]} ({reason})" for name, reason in unread.items()]
    return Options.of(OOM, {**chosen, **taken}), told, reasons


def _refused(model: Network, chosen: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, str]:
    """Options that archcalc does not take, and why; each is tried where it does not take all of them."""
    found, taken = dict[str, str](), dict(chosen)
    if not _refusal(model, {**chosen, **wanted}):
        return found
    for name in sorted(wanted, key=lambda one: FIRST.index(one) if one in FIRST else len(FIRST)):
        reason = _refusal(model, {**taken, name: wanted[name]})
        if reason:
            found[name] = reason
        else:
            taken[name] = wanted[name]
    return found


def _refusal(model: Network, values: Mapping[str, Any]) -> str:
    """Why archcalc does not take them; empty where it does."""
    try:
        options = Options.of(OOM, values)
        devices = [group(options.gpu)] if options.gpu else []
        alone = replace(options, gpu=None)
        request = placed_on(model, alone, devices)[0].request if devices else request_of(model, alone)
        check(request.deployment, request.sizes)
    except InputError as reason:
        return reason.fact
    return ""


def _device(log: Log) -> dict[str, Any]:
    """The card by what it has: without what other processes hold, or what is free before the model is loaded."""
    if log.get("capacity"):
        return {"gpu": f"{(log.get('capacity') - log.others) / 2**30:.2f}GiB"}
    if log.get("free_at_start"):
        return {"gpu": f"{log.get('free_at_start') / 2**30:.2f}GiB", "overhead": 0}
    return {}
