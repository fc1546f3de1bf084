"""Replicated memory: parts of a model that --tp, --sp, --cp or --zero do not shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from archcalc.analyze.memory.decode_cache import Cached
from archcalc.analyze.memory.states import FLAT, KINDS, SHARDED, Held, ParameterMemory
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Region
from archcalc.run.sequence_parallel import is_gathered
from archcalc.simulate.schedule import Saved
from archcalc.spec.units import decimal_bytes

SHOWN = 3  # parts that a sentence names; the record has all of them
NAMES = {"master": "master weights", "optimizer": "optimizer states"}


@dataclass(frozen=True)
class Undivided:
    """`bytes` on each GPU of a part that an option does not divide among all its GPUs."""

    option: str
    part: str
    bytes: int


def undivided(parameters: ParameterMemory, saved: Iterable[Saved], cache: Iterable[Cached]) -> tuple[Undivided, ...]:
    """Largest first within each option."""
    plan = parameters.plan
    if plan.tp == plan.cp == 1 and not plan.sp and not plan.zero:
        return ()
    saved = list(saved)
    found = [*_by_tensor(parameters, saved, cache), *_by_sequence(parameters, saved), *_by_shards(parameters)]
    options = list(dict.fromkeys(one.option for one in found))
    return tuple(sorted((one for one in found if one.bytes), key=lambda one: (options.index(one.option), -one.bytes)))


def left_whole(found: Iterable[Undivided]) -> list[Assumption]:
    """One for each option: `--tp 2 leaves these whole …: decoder.blocks.mixer (1.2 GB), …`."""
    by_option: dict[str, list[Undivided]] = {}
    for one in found:
        by_option.setdefault(one.option, []).append(one)
    notes = []
    for option, parts in by_option.items():
        named = [f"{one.part} ({decimal_bytes(one.bytes)})" for one in parts[:SHOWN]]
        rest = sum(one.bytes for one in parts[SHOWN:])
        more = [f"{len(parts) - SHOWN} more ({decimal_bytes(rest)})"] if rest else []
        text = f"{option} replicates these, in whole or in part, on every GPU: {', '.join([*named, *more])}"
        notes.append(Assumption(Topic.PARALLELISM, text))
    return notes


def _by_tensor(parameters: ParameterMemory, saved: list[Saved], cache: Iterable[Cached]) -> Iterator[Undivided]:
    plan = parameters.plan
    if plan.tp == 1:
        return
    option = f"--tp {plan.tp}"
    whole = [one for one in parameters.held if not plan.is_divided(one.param)]
    yield from (Undivided(option, part, size) for part, size in _by_part(whole).items())
    activations = sum(one.bytes for one in saved if not plan.is_divided(one.cell.tensor))
    yield Undivided(option, "replicated activations", 0 if plan.sp else activations)
    yield Undivided(option, "cache", sum(one.bytes for one in cache if not plan.is_divided(one.tensor)))


def _by_part(held: list[Held]) -> dict[str, int]:
    """Bytes of parameters, gradients and optimizer states, by the child of a block, or of the root, that owns them."""
    sums: dict[str, int] = {}
    for one in held:
        module = one.param.owner
        while module.parent and module.parent.parent and module.parent.region != Region.BLOCK:
            module = module.parent
        part = module.path or one.param.name
        sums[part] = sums.get(part, 0) + sum(getattr(one, kind) for kind in KINDS)
    return sums


def _by_sequence(parameters: ParameterMemory, saved: list[Saved]) -> Iterator[Undivided]:
    plan = parameters.plan
    if plan.sp:
        gathered = sum(one.bytes for one in saved if is_gathered(one.cell.tensor))
        yield Undivided("--sp", "all-gathered inputs saved by linear layers", gathered)
    if plan.cp > 1 and not plan.zero:
        yield from _states(parameters, f"--cp {plan.cp}", KINDS)


def _by_shards(parameters: ParameterMemory) -> Iterator[Undivided]:
    plan = parameters.plan
    if plan.zero in FLAT:
        whole = [kind for kind in KINDS if kind not in SHARDED[plan.zero]]
        yield from _states(parameters, f"--zero {plan.zero}", whole)
    if plan.zero == 3:
        unsplit = [one for one in parameters.held if plan.sharded(one.param) == plan.size(one.param)]
        yield from (Undivided("--zero 3", part, size) for part, size in _by_part(unsplit).items())
        yield Undivided("--zero 3", "buffers", parameters.buffers)


def _states(parameters: ParameterMemory, option: str, kinds: Iterable[str]) -> Iterator[Undivided]:
    yield from (Undivided(option, NAMES.get(kind, kind), parameters.states[kind]) for kind in kinds)
