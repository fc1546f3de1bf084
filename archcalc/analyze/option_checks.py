"""Check options against the model: an option about a part that the model does not have is an error."""

from __future__ import annotations

from collections.abc import Iterable

from archcalc.analyze.memory.decode_cache import grows
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Region, Tensor, walk
from archcalc.core.mesh import Plan
from archcalc.core.tree import ops_in
from archcalc.network import Network
from archcalc.run import sequence_parallel
from archcalc.run.cache_types import BOTH, OF_KEYS, OF_VALUES, cache_types
from archcalc.run.choose_engine import generates
from archcalc.run.option_words import RECOMPUTE
from archcalc.run.options import Options
from archcalc.spec.option import flag_of
from archcalc.spec.workload import Workload

IN_BLOCKS = "vllm"  # the rule that is about every layer
OF_CACHE = (BOTH, OF_KEYS, OF_VALUES)
NO_CACHE = "this model has no cache and no decode step"


def check_decodes(model: Network) -> None:
    """Refuse decode for a model without a KV cache or recurrent state."""
    if model.resolved.lengths and not generates(model):  # one without sequences is refused with its workload
        model.build(model.workload(mode="decode"))  # refused there, where its family has a reason of its own
        raise InputError(NO_CACHE, "use --mode train or prefill", field="--mode")


def check_generates(model: Network) -> None:
    """Refuse a training method whose sequences are generated, for a model that generates none."""
    if model.resolved.lengths and not generates(model):
        fact = "only a language model that generates its sequences is trained so"
        raise InputError(fact, "use --method sft, or leave it out", field="--method")


def check_plan(root: Module, plan: Plan, *, replicated: bool = False) -> None:
    """Refuse a parallelism plan that the model does not support. `replicated`: under sequence parallelism, a matrix
    that every GPU holds reads its own part of the sequence."""
    plan.check(root)
    if plan.sp:
        sequence_parallel.check_sequence(root, replicated=replicated)
    if plan.cp > 1:
        sequence_parallel.check_context(root)


def check_sense(root: Module, asked: Options) -> None:
    """Refuse options about blocks, attention, a cache or a vocabulary that the model does not have."""
    if asked.trains and not root.body:
        hint = "give the model's config.json or a spec"
        raise InputError("a weights file does not describe the computation", hint, field="--mode")
    regions = {module.region for module, _ in walk(root)}
    ops = [*ops_in(root)]
    has_logits = any(op.traits.reads_logits for op in ops)
    cached = {dim for op in ops if op.output.role == "cache" for dim in op.output.dims}
    recompute = RECOMPUTE[asked.recompute or "none"]
    whole = recompute in ("block", "ops")
    _need(Region.BLOCK in regions or not whole, "--recompute", "this model has no blocks to recompute")
    _need(Region.CORE in regions or recompute != "core", "--recompute", "this model has no attention to recompute")
    _need(Region.CORE in regions or not asked.attention, "--attention", "this model has no softmax attention")
    _need(has_logits or (asked.loss_chunks or 1) == 1, "--loss-chunks", "this model has no logits over a vocabulary")
    windowed = any(dim.reach for dim in cached)
    _need(windowed or asked.kv_rule in (None, IN_BLOCKS), "--kv-rule", "this model has no sliding windows")
    for name in (*OF_CACHE, "kv_rule", "state_dtype", "prefill", "draft", "shared_prefix"):
        _need(bool(cached) or name not in asked.given, flag_of(name), NO_CACHE)


def check_sizes(work: Workload, asked: Options) -> None:
    """Refuse more loss chunks or more GPUs of context parallelism than there are positions, and a shared prefix that is
    longer than what is cached."""
    lengths = [int(length) for length in work.lengths.values()] or [1]
    positions, shortest, gpus = int(work.batch) * max(lengths), min(lengths), asked.plan.cp
    chunks = asked.loss_chunks or 1
    if chunks > positions:
        fact = f"{chunks:,} chunks of {positions:,} positions: some would be empty"
        raise InputError(fact, f"use at most {positions:,}, such as --loss-chunks 8", field="--loss-chunks")
    if gpus > shortest:
        fact = f"{shortest:,} positions cannot be split over {gpus:,} GPUs: some would get none"
        raise InputError(fact, "use fewer GPUs for --cp, or a longer --seq", field="--cp")
    *_, last = work.lengths.values() if work.lengths else (0,)
    cached = work.context if work.decodes else last
    if (asked.shared_prefix or 0) > cached:
        fact = f"a prefix of {asked.shared_prefix:,} tokens is longer than the {cached:,} that are cached"
        raise InputError(fact, f"use at most {cached:,}, or a longer --context", field="--shared-prefix")


def check_cache(cached: Iterable[Tensor], asked: Options) -> None:
    """Refuse --kv-dtype without a KV cache, two formats for what is one tensor, and --state-dtype without a recurrent
    state."""
    tensors = tuple(cached)
    grown = {grows(tensor) for tensor in tensors}
    for name in (name for name in OF_CACHE if name in asked.given):
        _need(True in grown, flag_of(name), "this model has no KV cache, but a recurrent state")
    keys, values = cache_types(asked)
    apart = keys.format == values.format or any(tensor.of_values for tensor in tensors)
    _need(apart, flag_of(values.option), "this model caches keys and values as one latent vector, in one format")
    _need(True in grown or not asked.shared_prefix, "--shared-prefix", "a recurrent state cannot be shared")
    _need(False in grown or not asked.state_dtype, "--state-dtype", "this model has no recurrent state, but a KV cache")


def _need(fine: bool, option: str, fact: str) -> None:
    if not fine:
        raise InputError(fact, f"leave {option} out", field=option)
