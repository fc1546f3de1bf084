"""Changes that make a model take less memory: what each sets, what it costs, and what it needs.

    axes(question, facts)       changes of one kind, cheapest first: of an axis, at most one is made

An offload, a new optimizer, another engine's option: a further line here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from archcalc.run.ladders import Rung, ladder
from archcalc.run.option_words import OFFLOADED
from archcalc.spec.option import flag_of

if TYPE_CHECKING:
    from archcalc.analyze.fit.facts import Facts
    from archcalc.analyze.fit.question import Question

CHUNK = 512  # tokens of a prompt that are read at a time: llama.cpp's ubatch
SHORTER = (2, 4)  # parts of the length that was asked for, where changes are combined
QUARTERS = 4  # of the layers may stay on the GPU, where changes are combined
LAYERS_COST, LAYERS_SLOPE = 14, 40  # of any layer that the CPU computes, and of all of them


@dataclass(frozen=True)
class Change:
    """The options and sizes that it sets, how a user writes them, and its price in words.

    `cost` says how dear it is to the user: combinations are looked for in the order of their sums. One that `cuts` does
    less than was asked for, and comes after all that do not. An `exact` change costs time or devices, and changes
    nothing about the results. `needs` is the property of `Facts` that allows it."""

    name: str
    option: str
    price: str
    options: dict[str, Any] = field(hash=False)
    cost: int = 0
    batch: int | None = None
    length: int | None = None
    exact: bool = False
    needs: str = ""
    length_option: str = "seq"  # by which the length is written
    cuts: bool = False

    @property
    def price_order(self) -> tuple[bool, int]:
        """By which changes are compared."""
        return self.cuts, self.cost

    @property
    def gpu_layers(self) -> int | None:
        """How many layers it leaves on the GPU."""
        return self.options.get("ngl")

    def settings(self) -> dict[str, str]:
        """What it sets, by the names of options."""
        sizes = {"batch": self.batch, self.length_option: self.length}
        values = {**self.options, **{name: size for name, size in sizes.items() if size}}
        return {flag_of(name).removeprefix("--"): _value(value) for name, value in values.items()}


Axis = tuple[Change, ...]


def written(options: dict[str, Any]) -> str:
    """As a user types them: `--lora 16 --weights nf4`."""
    return " ".join(_written(name, value) for name, value in options.items())


def _written(name: str, value: Any) -> str:
    if value is True:
        return flag_of(name)
    return f"{flag_of(name)} {_value(value)}"


def _value(value: Any) -> str:
    if value is True:
        return "true"
    return ",".join(value) if isinstance(value, tuple) else str(value)


def change(
    name: str, cost: int, price: str, *, exact: bool = False, needs: str = "", cuts: bool = False, **options: Any
) -> Change:
    return Change(name, written(options), price, options, cost, exact=exact, needs=needs, cuts=cuts)


def setting(name: str, cost: int, price: str, options: dict[str, Any], *, exact: bool = False) -> Change:
    """A change that sets these options."""
    return Change(name, written(options), price, options, cost, exact=exact)


FLASH = (
    change(
        "flash attention", 0, "none: same results, faster", exact=True, needs="has_fused_attention", attention="flash"
    ),
)
PARTS = (Change("smaller micro-batch", "--batch 1", "more accumulation steps", {}, 2, batch=1, exact=True),)
FEWER = (
    Change("fewer sequences at a time", "--batch 1", "fewer tokens a second", {}, 6, batch=1, exact=True, cuts=True),
)

TRAINING: tuple[Axis, ...] = (
    FLASH,
    (change("ZeRO-3", 1, "all-gathers of the weights", exact=True, needs="divides", zero=3),),
    (change("loss in chunks", 1, "a little time", exact=True, loss_chunks=16),),
    PARTS,
    (
        change("recompute attention", 2, "attention scores recomputed", exact=True, recompute="selective"),
        change("recompute ops", 3, "every 2nd matmul recomputed", exact=True, recompute="ops"),
        change("recompute blocks", 4, "forward pass recomputed", exact=True, recompute="full"),
    ),
    (
        change("16-bit training", 6, "rounding to bf16", needs="has_bf16", precision="mixed"),
        change("16-bit states", 9, "no fp32 copy of the weights", needs="has_bf16", precision="bf16"),
    ),
    (change("8-bit Adam", 7, "optimizer states in 8 bits", needs="has_bitsandbytes", optimizer="adam8bit"),),
    (
        change(
            "optimizer in host RAM", 14, "the CPU updates weights", exact=True, needs="has_host", offload=("optimizer",)
        ),
        change("weights in host RAM", 18, "weights cross the bus", exact=True, needs="has_host", offload=("params",)),
    ),
)
ADAPTERS = (
    change("LoRA", 24, "trains only adapters", cuts=True, lora=16),
    change("QLoRA", 30, "adapters over 4-bit weights", needs="is_wide_decoder", cuts=True, lora=16, weights="nf4"),
)
FROZEN = (change("QLoRA", 10, "frozen weights in 4 bits", needs="is_wide_decoder", weights="nf4"),)

INFERENCE: tuple[Axis, ...] = (
    FLASH,
    (
        change("16-bit numbers", 1, "rounding to bf16", needs="has_bf16", precision="bf16"),
        change("16-bit numbers", 2, "rounding to fp16", precision="fp16"),
    ),
    (change("prompt in chunks", 1, "a little time", exact=True, prefill=CHUNK),),
    (change("experts in host RAM", 18, "experts are read by the CPU", exact=True, needs="has_host", cpu_moe=True),),
)


def axes(question: Question, facts: Facts) -> list[Axis]:
    """Those that this model on these devices may take: first what keeps the request, then what cuts it."""
    keeping = _training(question) if question.trains else _inference(question, facts)
    cutting = (*(() if question.trains else (FEWER,)), *_adapters(question), *_shorter(question))
    found = [tuple(_possible(question, facts, axis)) for axis in (*keeping, *cutting)]
    return [axis for axis in found if axis]


def _training(question: Question) -> tuple[Axis, ...]:
    """Of adapters, what they are added to is frozen, and may be narrower."""
    return (*TRAINING, FROZEN) if question.options.lora else TRAINING


def _inference(question: Question, facts: Facts) -> tuple[Axis, ...]:
    return (*INFERENCE, *_formats(question, facts), *_on_gpu(question, facts))


def _adapters(question: Question) -> Iterator[Axis]:
    if question.trains and not question.options.lora:
        yield ADAPTERS


def _possible(question: Question, facts: Facts, axis: Axis) -> Iterator[Change]:
    """Without what was asked for already, and what has no effect."""
    for one in (_beside(question, one) for one in axis):
        is_new = any(question.options.given.get(name) != value for name, value in one.options.items())
        fewer = one.batch is not None and question.batch > 1
        if (is_new or fewer or one.length) and (not one.needs or getattr(facts, one.needs)):
            yield in_parts(question, one, 1) if fewer else one


def _beside(question: Question, one: Change) -> Change:
    """With what is offloaded already, which stays so."""
    given, further = question.options.offload or (), one.options.get("offload", ())
    if not given or not further:
        return one
    options = {**one.options, "offload": tuple(part for part in OFFLOADED if part in (*given, *further))}
    return replace(one, option=written(options), options=options)


def _on_gpu(question: Question, facts: Facts) -> Iterator[Axis]:
    """Fewer layers on the GPU, where layers are dealt out."""
    most = most_layers(question) if facts.deals_out_layers else 0
    parts = [most * part // QUARTERS for part in range(QUARTERS - 1, 0, -1)]
    if all(parts):
        yield tuple(with_layers(question, part) for part in parts)


def most_layers(question: Question) -> int:
    """How many layers may be on the GPU at most, such that there are fewer than now."""
    every = question.whole.offloading.residence.layers + 1  # llama.cpp counts the output layer
    return min(every, every if question.options.ngl is None else question.options.ngl) - 1


def with_layers(question: Question, number: int) -> Change:
    """So many layers on the GPU: the fewer, the more the CPU computes."""
    every = question.whole.offloading.residence.layers + 1
    price = f"the CPU computes {every - number} of {every} layers"
    cost = LAYERS_COST + LAYERS_SLOPE * (every - number) // every
    return setting("layers in host RAM", cost, price, {"ngl": number}, exact=True)


def _formats(question: Question, facts: Facts) -> Iterator[Axis]:
    """Down the ladder of the engine: keys and values, then weights that are not as narrow already."""
    known = ladder(facts.engine, facts.kind)
    yield tuple(_rung("cache", "kv_dtype", one) for one in known.kv if one.bits < facts.cache_bits)
    yield tuple(_rung("weights", "weights", one) for one in known.weights if one.bits < facts.bits)


def _rung(what: str, option: str, rung: Rung) -> Change:
    return setting(f"{rung.bits}-bit {what}", rung.cost, rung.price, {option: rung.format})


def _shorter(question: Question) -> Iterator[Axis]:
    """Parts of the length, the last resort on the same devices."""
    length = question.length
    if length and all(length // part for part in SHORTER):
        yield tuple(shortened(question, length // part, 20 + 4 * part) for part in SHORTER)


def shortened(question: Question, length: int, cost: int = 10) -> Change:
    option = "context" if question.options.mode == "decode" else "seq"
    name, price = "shorter context", f"{length:,} tokens instead of {question.length:,}"
    return Change(name, f"--{option} {length}", price, {}, cost, length=length, length_option=option, cuts=True)


def in_parts(question: Question, one: Change, batch: int) -> Change:
    """So many sequences at a time; in training as many of them in a step as before."""
    option = f"--batch {batch}"
    if not question.trains or batch == question.batch:
        return replace(one, option=option, batch=batch)
    parts = question.batch * (question.options.accumulate or 1) // batch
    return replace(one, option=f"{option} --accumulate {parts}", batch=batch, options={"accumulate": parts})


def joined(chosen: list[Change]) -> Change:
    """All of them as one."""
    options = {name: value for one in chosen for name, value in one.options.items()}
    batch, length = (next((size for size in sizes if size), None) for sizes in _sizes(chosen))
    text, price = " ".join(one.option for one in chosen), "; ".join(one.price for one in chosen)
    name = " and ".join(one.name for one in chosen)
    cost, exact = sum(one.cost for one in chosen), all(one.exact for one in chosen)
    return Change(name, text, price, options, cost, batch, length, exact, cuts=any(one.cuts for one in chosen))


def _sizes(chosen: list[Change]) -> tuple[list[int | None], list[int | None]]:
    return [one.batch for one in chosen], [one.length for one in chosen]
