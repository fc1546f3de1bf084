"""A log held against the model: which tensor, which step, which flag helps.

    explained(model, read(text), {"batch": 4})

What the log says of the run is used unless an option says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from shlex import quote
from typing import Any

from archcalc.analyze.fit.answer import fitted
from archcalc.analyze.fit.remedies import remedies
from archcalc.analyze.fit.request import Placed, Request, placed_on, request_of
from archcalc.analyze.fit.rows import Row
from archcalc.analyze.memory.measured import against
from archcalc.analyze.memory.measured_run import Compared
from archcalc.analyze.memory.peak import bytes_beside_cache, cache_bytes, check, peak
from archcalc.analyze.oom.candidates import as_many_tokens, candidates
from archcalc.analyze.oom.comparing import compared
from archcalc.analyze.oom.figures import Counted
from archcalc.analyze.oom.reading import Log
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


def explained(model: Network, log: Log, given: Mapping[str, Any]) -> OomReport:
    """The report on a log: the run that it tells of, its figures against what is counted, then what helps."""
    options, told, unread = _options(model, log, given)
    request, device = _request(model, options), _on_device(model, options)
    step = peak(request.deployment, request.sizes)
    likely = tuple(candidates(step, log))
    found = OomReport(
        model=model.name,
        assumptions=request.report.assumptions,
        scope=model.scope,
        memory=request.report,
        log=log,
        rows=compared(log, Counted(request, device)),
        likely=likely,
        tokens=() if likely else as_many_tokens(step, log),
        read=told,
        unread=unread,
        device=device,
        measured=_beyond(request, log),
        missing=_missing(device, log),
    )
    if device and log.is_failure:
        return _with_remedies(found, model, options)
    return found


def _request(model: Network, options: Options) -> Request:
    """On the card, where one is named."""
    alone = replace(options, gpu=None)
    if not options.gpu:
        return request_of(model, alone)
    return placed_on(model, alone, [group(options.gpu)])[0].request


def _on_device(model: Network, options: Options) -> Row | None:
    """What fits on the card, where one is named."""
    if not options.gpu:
        return None
    return fitted(model, [options.gpu], replace(options, gpu=None), verdicts_alone=True).rows[0]


def _beyond(request: Request, log: Log) -> Compared | None:
    """Of a run that allocated more than is counted, how much and why."""
    needed = log.get("needed")
    if needed <= request.report.allocated_bytes or request.deployment.run.engine.fills_device:
        return None
    return against(request.deployment, request.sizes, request.report, ("allocated", needed))


def _missing(device: Row | None, log: Log) -> int:
    """Bytes that the KV cache of a run which failed has less than is counted."""
    if not (device and device.pool and log.failure and "kv_pool" in log.figures):
        return 0
    return max(device.pool.room - log.get("kv_pool"), 0)


def _with_remedies(found: OomReport, model: Network, options: Options) -> OomReport:
    """What makes it fit, if the run takes as much more than is counted as the log says."""
    doing("looking for changes that make it fit")
    shifted = replace(options, shift=found.missing)
    if found.measured:
        shifted = found.measured.applied(options)
    placed = placed_on(model, replace(shifted, gpu=None), [group(str(options.gpu))])
    helps, _ = remedies(placed)
    return replace(found, device=_on_device(model, shifted), remedies=helps, share=_share(placed[0], found.log))


def _share(placed: Placed, log: Log) -> float:
    """Of a card that an engine fills, what one request needs beyond the share that it has; 0 where that is too much."""
    deployment, one = placed.request.deployment, replace(placed.request.sizes, batch=1)
    engine = deployment.run.engine
    if not log.failure or engine.rules.pool not in SHARES:
        return 0
    needed = bytes_beside_cache(deployment, one) + cache_bytes(deployment, one)
    share = ceil(100 * needed / placed.group.first.capacity) / 100
    return share if engine.share < share <= LARGEST else 0


def _options(model: Network, log: Log, given: Mapping[str, Any]) -> tuple[Options, list[str], list[str]]:
    """The options of the run; those that the log told, as people write them; those that archcalc does not take."""
    others_of = other_names(options_of(OOM))
    chosen = {others_of.get(name, name): value for name, value in given.items() if value is not None}
    found = {name: value for name, value in _device(log).items() if "gpu" not in chosen} | log.options
    if model.stored:  # the model's files say how they are stored, and logs only how that is called
        found.pop("weights", None)
    if "weights" in found:
        meant = meaning(str(found["weights"]), str(found.get("engine", "")).partition("@")[0])
        if not meant.why:
            found["weights"] = meant.format
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
    for name in sorted(wanted, key=lambda one: (*FIRST, one).index(one)):
        reason = _refusal(model, {**taken, name: wanted[name]})
        if reason:
            found[name] = reason
        else:
            taken[name] = wanted[name]
    return found


def _refusal(model: Network, values: Mapping[str, Any]) -> str:
    """Why archcalc does not take them; empty where it does."""
    try:
        request = _request(model, Options.of(OOM, values))
        check(request.deployment, request.sizes)
    except InputError as reason:
        return reason.fact
    return ""


def _device(log: Log) -> dict[str, Any]:
    """The card by its memory, less what other processes hold; or by what is free before the model is loaded."""
    if log.get("capacity"):
        return {"gpu": f"{(log.get('capacity') - log.others) / 2**30:.2f}GiB"}
    if log.get("free_at_start"):
        return {"gpu": f"{log.get('free_at_start') / 2**30:.2f}GiB", "overhead": 0}
    return {}
