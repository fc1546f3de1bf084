"""Changes that make a model take less memory: those that a request on some devices may take.

    axes(request, facts)       changes of one kind, cheapest first: of an axis, at most one is made

An offload, a new optimizer, another engine's option: a further line here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from archcalc.analyze.fit.change import Change
from archcalc.analyze.fit.facts import Facts
from archcalc.analyze.fit.request import Request
from archcalc.run.ladders import Rung, ladder
from archcalc.run.option_words import OFFLOADED

CHUNK = 512  # tokens of a prompt that are read at a time: llama.cpp's ubatch
SHORTER = (2, 4)  # parts of the length that was asked for, where changes are combined
QUARTERS = 4  # of the layers may stay on the GPU, where changes are combined
LAYERS_COST, LAYERS_SLOPE = 14, 40  # of any layer that the CPU computes, and of all of them
Axis = tuple[Change, ...]

FLASH = (
    Change(
        "flash attention",
        0,
        "none: same results, faster",
        {"attention": "flash"},
        exact=True,
        needs="has_fused_attention",
    ),
)
PARTS = (Change("smaller micro-batch", 2, "more accumulation steps", exact=True, batch=1),)
FEWER = (Change("fewer sequences at a time", 6, "fewer tokens a second", exact=True, cuts=True, batch=1),)

TRAINING: tuple[Axis, ...] = (
    FLASH,
    (Change("ZeRO-3", 1, "all-gathers of the weights", {"zero": 3}, exact=True, needs="divides"),),
    (Change("loss in chunks", 1, "a little time", {"loss_chunks": 16}, exact=True),),
    PARTS,
    (
        Change("recompute attention", 2, "attention scores recomputed", {"recompute": "selective"}, exact=True),
        Change("recompute ops", 3, "every 2nd matmul recomputed", {"recompute": "ops"}, exact=True),
        Change("recompute blocks", 4, "forward pass recomputed", {"recompute": "full"}, exact=True),
    ),
    (
        Change("16-bit training", 6, "rounding to bf16", {"precision": "mixed"}, needs="has_bf16"),
        Change("16-bit states", 9, "no fp32 copy of the weights", {"precision": "bf16"}, needs="has_bf16"),
    ),
    (Change("8-bit Adam", 7, "optimizer states in 8 bits", {"optimizer": "adam8bit"}, needs="has_bitsandbytes"),),
    (
        Change(
            "optimizer in host RAM",
            14,
            "the CPU updates weights",
            {"offload": ("optimizer",)},
            exact=True,
            needs="has_host",
        ),
        Change(
            "weights in host RAM", 18, "weights cross the bus", {"offload": ("params",)}, exact=True, needs="has_host"
        ),
    ),
)
ADAPTERS = (
    Change("LoRA", 24, "trains only adapters", {"lora": 16}, cuts=True),
    Change(
        "QLoRA", 30, "adapters over 4-bit weights", {"lora": 16, "weights": "nf4"}, needs="is_wide_decoder", cuts=True
    ),
)
FROZEN = (Change("QLoRA", 10, "frozen weights in 4 bits", {"weights": "nf4"}, needs="is_wide_decoder"),)

ALL_OF_IT = {"gpu_memory_utilization": 0.95}
FEW_AT_ONCE = {**ALL_OF_IT, "max_num_seqs": 16}
SERVING = (  # of an engine that fills a share of the device
    Change("a larger share", 1, "next to nothing is left to other programs", ALL_OF_IT, exact=True),
    Change("and few requests at once", 3, "16 requests at a time", FEW_AT_ONCE, exact=True),
    Change("and no CUDA graphs", 5, "slower decoding", {**FEW_AT_ONCE, "enforce_eager": True}, exact=True),
)
INFERENCE: tuple[Axis, ...] = (
    FLASH,
    (
        Change("16-bit numbers", 1, "rounding to bf16", {"precision": "bf16"}, needs="has_bf16"),
        Change("16-bit numbers", 2, "rounding to fp16", {"precision": "fp16"}),
    ),
    (Change("prompt in chunks", 1, "a little time", {"prefill": CHUNK}, exact=True),),
    (
        Change(
            "experts in host RAM", 18, "experts are read by the CPU", {"cpu_moe": True}, exact=True, needs="has_host"
        ),
    ),
)


def axes(request: Request, facts: Facts) -> list[Axis]:
    """Those that this model on these devices may take: first what keeps the request, then what cuts it."""
    every = (*_keeping(request, facts), *_cutting(request))
    return [found for axis in every if (found := tuple(_possible(request, facts, axis)))]


def _keeping(request: Request, facts: Facts) -> Iterator[Axis]:
    if request.options.trains:
        yield from TRAINING
        if request.options.lora:  # what adapters are added to is frozen, and may be narrower
            yield FROZEN
        return
    yield from INFERENCE
    if facts.serves:
        yield tuple(_besides(request, SERVING))
    rungs = ladder(facts.engine, facts.kind)
    yield tuple(_rung("cache", "kv_dtype", rung) for rung in rungs.kv if rung.bits < facts.cache_bits)
    yield tuple(_rung("weights", "weights", rung) for rung in rungs.weights if rung.bits < facts.bits)
    most = most_layers(request) if facts.deals_out_layers else 0
    parts = [most * part // QUARTERS for part in range(QUARTERS - 1, 0, -1)]
    if all(parts):
        yield tuple(with_layers(request, part) for part in parts)


def _besides(request: Request, changes: Axis) -> Iterator[Change]:
    """The same without what was given: that stays."""
    for one in changes:
        left = {name: value for name, value in one.options.items() if name not in request.options.given}
        if left:
            yield replace(one, options=left)


def _rung(what: str, option: str, rung: Rung) -> Change:
    return Change(f"{rung.bits}-bit {what}", rung.cost, rung.price, {option: rung.format})


def _cutting(request: Request) -> Iterator[Axis]:
    """Parts of the length are the last resort on the same devices."""
    if not request.options.trains:
        yield FEWER
    elif not request.options.lora:
        yield ADAPTERS
    length = request.varying.asked
    if length and all(length // part for part in SHORTER):
        yield tuple(shortened(request, length // part, 20 + 4 * part) for part in SHORTER)


def _possible(request: Request, facts: Facts, axis: Axis) -> Iterator[Change]:
    """Without what was asked for already, and what has no effect; what is offloaded already stays so."""
    given = request.options.given
    for one in axis:
        further = one.options.get("offload")
        if further and request.options.offload:
            together = tuple(part for part in OFFLOADED if part in (*request.options.offload, *further))
            one = replace(one, options={**one.options, "offload": together})
        is_new = any(given.get(name) != value for name, value in one.options.items())
        fewer = one.batch is not None and request.batch > 1
        if (is_new or fewer or one.length) and (not one.needs or getattr(facts, one.needs)):
            yield in_parts(request, one, 1) if fewer else one


def most_layers(request: Request) -> int:
    """How many layers may be on the GPU at most, such that there are fewer than now."""
    every = request.deployment.offloading.residence.layers + 1  # llama.cpp counts the output layer
    return min(every, every if request.options.ngl is None else request.options.ngl) - 1


def with_layers(request: Request, number: int) -> Change:
    """So many layers on the GPU: the fewer, the more the CPU computes."""
    every = request.deployment.offloading.residence.layers + 1
    price = f"the CPU computes {every - number} of {every} layers"
    cost = LAYERS_COST + LAYERS_SLOPE * (every - number) // every
    return Change("layers in host RAM", cost, price, {"ngl": number}, exact=True)


def shortened(request: Request, length: int, cost: int = 10) -> Change:
    option = "context" if request.options.mode == "decode" else "seq"
    price = f"{length:,} tokens instead of {request.varying.asked:,}"
    return Change("shorter context", cost, price, cuts=True, length=length, length_option=option)


def in_parts(request: Request, one: Change, batch: int) -> Change:
    """So many sequences at a time; in training as many of them in a step as before."""
    typed = f"--batch {batch}"
    if not request.options.trains or batch == request.batch:
        return replace(one, batch=batch, typed=typed)
    parts = request.batch * (request.options.accumulate or 1) // batch
    return replace(one, batch=batch, options={"accumulate": parts}, typed=f"{typed} --accumulate {parts}")
