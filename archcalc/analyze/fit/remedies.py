"""Single changes that make a model take less memory, cheapest first, and what each costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from archcalc.core.errors import InputError

if TYPE_CHECKING:
    from archcalc.analyze.fit.question import Question
    from archcalc.core.mesh import Plan


@dataclass(frozen=True)
class Change:
    """One change: the options it sets, how a user writes them, and its cost.

    An `exact` one costs time or devices, and changes nothing about the results."""

    name: str
    option: str
    price: str
    options: dict[str, Any] = field(hash=False)
    batch: int | None = None
    exact: bool = False


def _again(what: str) -> dict[str, Any]:
    return {"recompute": what}


TRAINING = (
    Change("flash attention", "--attention flash", "none: same results, faster", {"attention": "flash"}, exact=True),
    Change("smaller micro-batch", "--batch 1", "more accumulation steps", {}, batch=1, exact=True),
    Change("ZeRO-3", "--zero 3", "all-gathers of the weights", {"zero": 3}, exact=True),
    Change("loss in chunks", "--loss-chunks 16", "a little time", {"loss_chunks": 16}, exact=True),
    Change(
        "recompute attention", "--recompute selective", "attention scores recomputed", _again("selective"), exact=True
    ),
    Change("recompute ops", "--recompute ops", "every 2nd matmul recomputed", _again("ops"), exact=True),
    Change("recompute blocks", "--recompute full", "forward pass recomputed", _again("full"), exact=True),
    Change("16-bit training", "--precision mixed", "rounding to bf16", {"precision": "mixed"}),
    Change("8-bit Adam", "--optimizer adam8bit", "optimizer states in 8 bits", {"optimizer": "adam8bit"}),
    Change("16-bit states", "--precision bf16", "no fp32 copy of the weights", {"precision": "bf16"}),
    Change("LoRA", "--lora 16", "trains only adapters", {"lora": 16}),
    Change("QLoRA", "--lora 16 --weights nf4", "adapters over 4-bit weights", {"lora": 16, "weights": "nf4"}),
)

INFERENCE = (
    Change("flash attention", "--attention flash", "none: same results, faster", {"attention": "flash"}, exact=True),
    Change("16-bit numbers", "--precision bf16", "rounding to bf16", {"precision": "bf16"}),
    Change("one sequence at a time", "--batch 1", "fewer tokens a second", {}, batch=1, exact=True),
    Change("8-bit cache", "--kv-dtype fp8", "keys and values in 8 bits", {"kv_dtype": "fp8"}),
    Change("8-bit weights", "--weights int8", "negligible accuracy loss", {"weights": "int8"}),
    Change("4-bit weights", "--weights int4", "some accuracy loss", {"weights": "int4"}),
)


@dataclass(frozen=True)
class Remedy:
    """A change, and what the model needs with it."""

    change: Change
    required: int


def remedies(question: Question, required: int) -> tuple[Remedy, ...]:
    """Every applicable change that saves at least 1 %; changes already made, or weaker ones, save nothing."""
    tried = [(change, needed_with(question, change)) for change in changes(question)]
    return tuple(Remedy(change, needed) for change, needed in tried if needed and 100 * needed <= 99 * required)


def changes(question: Question) -> list[Change]:
    """All that there are, cheapest first."""
    listed = TRAINING if question.trains else INFERENCE
    return [in_parts(question, change, 1) if change.batch else change for change in listed]


def needed_with(question: Question, change: Change) -> int | None:
    """The memory needed with the change; None if the model or the options do not allow it."""
    try:
        changed = question.changed(change)
        return changed.memory.required_bytes(changed.sizes)
    except InputError:
        return None


def in_parts(question: Question, change: Change, batch: int) -> Change:
    """So many sequences at a time; in training as many of them in a step as before."""
    option = f"--batch {batch}"
    if not question.trains or batch == question.batch:
        return replace(change, option=option, batch=batch)
    parts = question.batch * (question.options.accumulate or 1) // batch
    return replace(change, option=f"{option} --accumulate {parts}", batch=batch, options={"accumulate": parts})


def for_device(question: Question, remedy: Remedy, capacity: int) -> Remedy:
    """In place of one sequence at a time as many as fit; in training, such that they add up to the batch."""
    if not remedy.change.batch or remedy.required > capacity:
        return remedy
    most = question.by_part.largest(capacity, question.batch)
    sizes = [size for size in range(most, 0, -1) if not question.trains or question.batch % size == 0]
    tried = (Remedy(change, needed_with(question, change) or 0) for change in _parts_of(question, remedy, sizes))
    return next((one for one in tried if one.required <= capacity), remedy)


def _parts_of(question: Question, remedy: Remedy, sizes: list[int]) -> Iterator[Change]:
    return (in_parts(question, remedy.change, size) for size in sizes)


def more_gpus(question: Question, capacity: int) -> Remedy | None:
    """The number of devices that is enough, instead of the number in use."""
    plan = question.more(capacity)
    return Remedy(spread(question, plan), question.on(plan.tp, plan.dp, plan.cp)) if plan else None


def spread(question: Question, plan: Plan) -> Change:
    """More devices, training with ZeRO-3, else with tensor parallelism."""
    options = {"dp": plan.dp, "zero": 3} if question.trains else {"tp": plan.tp}
    option = " ".join(f"--{name} {number}" for name, number in options.items())
    price = f"{plan.gpus} devices instead of {question.report.plan.gpus}"
    return Change(f"{plan.gpus} GPUs", option, price, options)
