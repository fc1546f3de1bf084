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
from archcalc.spec.units import binary_bytes

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
    found = list(_by_option(parameters, list(saved), cache))
    options = list(dict.fromkeys(one.option for one in found))
    return tuple(sorted((one for one in found if one.bytes), key=lambda one: (options.index(one.option), -one.bytes)))


def _by_option(parameters: ParameterMemory, saved: list[Saved], cache: Iterable[Cached]) -> Iterator[Undivided]:
    """What tensor, sequence and context parallelism leave whole on every GPU, then what ZeRO does."""
    plan, held, states = parameters.plan, parameters.held, parameters.states
    if plan.tp > 1:
        option = f"--tp {plan.tp}"
        whole = _by_part(one for one in held if not plan.is_divided(one.param))
        yield from (Undivided(option, part, size) for part, size in whole.items())
        activations = sum(one.bytes for one in saved if not plan.is_divided(one.cell.tensor))
        yield Undivided(option, "replicated activations", 0 if plan.sp else activations)
        yield Undivided(option, "cache", sum(one.bytes for one in cache if not plan.is_divided(one.tensor)))
    if plan.sp:
        gathered = sum(one.bytes for one in saved if is_gathered(one.cell.tensor))
        yield Undivided("--sp", "all-gathered inputs saved by linear layers", gathered)
    if plan.cp > 1 and not plan.zero:
        yield from (Undivided(f"--cp {plan.cp}", NAMES.get(kind, kind), states[kind]) for kind in KINDS)
    if plan.zero in FLAT:
        kinds = [kind for kind in KINDS if kind not in SHARDED[plan.zero]]
        yield from (Undivided(f"--zero {plan.zero}", NAMES.get(kind, kind), states[kind]) for kind in kinds)
    if plan.zero == 3:
        unsplit = _by_part(one for one in held if plan.sharded(one.param) == plan.size(one.param))
        yield from (Undivided("--zero 3", part, size) for part, size in unsplit.items())
        yield Undivided("--zero 3", "buffers", parameters.buffers)


def _by_part(held: Iterable[Held]) -> dict[str, int]:
    """Bytes of parameters, gradients and optimizer states, by the child of a block, or of the root, that owns them."""
    sums: dict[str, int] = {}
    for one in held:
        module = one.param.owner
        while module.parent and module.parent.parent and module.parent.region != Region.BLOCK:
            module = module.parent
        part = module.path or one.param.name
        sums[part] = sums.get(part, 0) + sum(getattr(one, kind) for kind in KINDS)
    return sums


def left_whole(found: Iterable[Undivided]) -> list[Assumption]:
    """One for each option: `--tp 2 leaves these whole …: decoder.blocks.mixer (1.2 GB), …`."""
    by_option: dict[str, list[Undivided]] = {}
    for one in found:
        by_option.setdefault(one.option, []).append(one)
    notes = []
    for option, parts in by_option.items():
        named = [f"{one.part} ({binary_bytes(one.bytes)})" for one in parts[:SHOWN]]
        rest = sum(one.bytes for one in parts[SHOWN:])
        more = [f"{len(parts) - SHOWN} more ({binary_bytes(rest)})"] if rest else []
        text = f"{option} replicates these, in whole or in part, on every GPU: {', '.join([*named, *more])}"
        notes.append(Assumption(Topic.PARALLELISM, text))
    return notes
