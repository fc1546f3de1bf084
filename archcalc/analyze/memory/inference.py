"""Memory of inference: weights, KV cache, and the peak of activations in prefill or decode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from archcalc.analyze.memory.decode_cache import Cached, CacheFormats, appended, cached, grows, positions_read
from archcalc.analyze.memory.encoders import hold_encodings, in_memory_of_their_own
from archcalc.analyze.memory.engine_step import expand_latent, experts_workspace, kept_by_sampler, sampling
from archcalc.analyze.memory.indexed_cache import indexed
from archcalc.analyze.memory.seen_positions import masks, see_past, store_scores
from archcalc.analyze.memory.simulated import Simulated
from archcalc.analyze.memory.vllm_cache import BATCH, in_groups
from archcalc.core.divisors import divisors
from archcalc.core.errors import InputError
from archcalc.core.execution import never
from archcalc.core.ir import Module, ModuleGroup, Op, Param, Region, Tensor, walk
from archcalc.core.positions import GROWING, Positions
from archcalc.core.precision import BYTES, Policy
from archcalc.core.tree import computed_earlier, enclosing
from archcalc.simulate.build import schedule
from archcalc.simulate.passes.gradients import forward_only
from archcalc.simulate.passes.weight_copies import copy_for_products
from archcalc.simulate.schedule import Pass
from archcalc.simulate.simulation import simulate
from archcalc.storage.format import plain
from archcalc.storage.places import Place

if TYPE_CHECKING:
    from archcalc.run.resolved import Run
    from archcalc.spec.workload import Workload


def prompt_of(work: Workload, run: Run) -> Workload:
    """What is read at once: everything, or as many tokens as a piece of the prompt has. An engine that fills a device
    is ready for a full step of them, of as many prompts as that takes."""
    piece = run.prefill
    if max(work.lengths.values(), default=1) <= run.engine.whole_up_to:
        piece = None
    if piece and run.engine.fills_device and not work.decodes:
        # the longest prompt of which a number fills a step of so many tokens
        length = max(work.lengths.values(), default=1)
        longest = max(each for each in divisors(piece) if each <= length)
        return replace(work, batch=piece // longest, lengths=dict.fromkeys(work.lengths, longest))
    if piece and run.engine.tokens and not work.decodes:
        work = replace(work, batch=1)
    return replace(work, lengths={name: min(length, piece) for name, length in work.lengths.items()}) if piece else work


def cache_after(root: Module, work: Workload, run: Run) -> list[Cached]:
    """The cache of a decoder after `work`; `root` is traced for any sizes, in a mode that keeps a cache."""
    assert run.kv_format and run.state_format
    own = (run.kv_format, run.state_format, run.kv_rule, run.prefill, run.plan)
    formats = CacheFormats(*own, prefix=run.shared_prefix, values=run.value_format, others=indexed(root, run))
    rule = run.engine.rules.cache
    if rule and rule.whole_blocks:
        _check_blocks(root, run, formats)
    if run.kv_rule == "vllm" or run.engine.rules.states:
        formats = replace(formats, tails=plain(run.activations))  # get_kv_cache_torch_dtype: as the model
    if run.kv_rule != "vllm":
        return cached(root, work, formats)
    blocks = run.engine.rules.blocks
    in_flight = 1 if run.mode == "decode" else blocks.in_flight * (run.prefill or BATCH)
    return in_groups(root, work, formats, in_flight, blocks.states)


def _check_blocks(root: Module, run: Run, formats: CacheFormats) -> None:
    """Refuse a quantised KV cache whose blocks do not divide a model's heads.

    Source: llama.cpp, llama_init_from_model in src/llama-context.cpp: its flash kernel reads a head as whole blocks;
    without it a position of all heads has to be."""
    for tensor in (tensor for tensor, _, _ in appended(root) if grows(tensor)):
        kept, width, of = formats.of(tensor), int(tensor.dims[-1].size), "a head has"
        if run.attention == "eager":
            own = (int(dim.size) for dim in tensor.dims if dim.positions not in GROWING and dim.name != "batch")
            width, of = prod(own), "all heads have"
        if width % kept.block:
            what = "values" if tensor.of_values else "keys"
            fact = f"{run.engine.rules.name} stores {what} in {kept.name} in blocks of {kept.block}, and {of} {width}"
            raise InputError(fact, "choose fp16 or bf16", field="--kv-dtype")


def simulated(
    root: Module,
    work: Workload,
    run: Run,
    cache: list[Cached],
    start: dict[str, int],
    staged: Callable[[Param], int] = lambda param: 0,
) -> Simulated:
    """Prefill or decode of `work`, for a piece of which `root` was traced, with the whole cache in place. `staged` has
    the bytes of weights that are copied from host RAM for a product."""
    keys, state = (sum(one.bytes for one in cache if one.grows == grows) for grows in (True, False))
    policy, prompt, rules = Policy(run.activations), prompt_of(work, run), run.engine.rules
    size = partial(_bytes, run=run, policy=policy, earlier=computed_earlier(root), decodes=bool(cache))
    positions = positions_read(work) if work.lengths else 0
    tokens = prompt.batch * (1 if prompt.decodes else max(prompt.lengths.values(), default=1))
    passes: list[Pass] = [forward_only, partial(see_past, run=run, positions=positions)]
    blocks = (module for module, _ in walk(root) if module.region == Region.BLOCK and not module.medium)
    stream = (item.output for block in blocks for item in block.body if isinstance(item, Op))
    residual = max((run.plan.size(tensor) * policy.bytes_of(tensor.role) for tensor in stream), default=0)
    held = (rules.held + run.engine.copies - 1) * residual  # by functions, while a layer runs; and waiting for it
    kernel = rules.attention.get(run.attention)  # an engine's own
    if kernel and (kernel.scores or kernel.copied):
        copied = masks(root, run, positions, kernel.copied) if kernel.copied else 0
        passes.append(partial(store_scores, run=run, positions=positions, kernel=kernel, passing=copied))
    if rules.latent_workspace:
        passes.append(partial(expand_latent, run=run, positions=positions, rule=rules.latent_workspace))
    if kernel and kernel.mask:
        held += run.engine.copies * masks(root, run, positions, kernel.mask)
    if tokens > 1 and run.format.dequantised_copies:
        passes.append(partial(copy_for_products, size=lambda param: _dequantised(param, run) + staged(param)))
    elif run.offload:
        passes.append(partial(copy_for_products, size=staged))
    if rules.encoders.tries:
        passes.append(hold_encodings)
    step = schedule(root, policy, never, size, passes)
    encoding, changes = 0, simulate(step)
    if rules.encoders.alone:
        encoding, changes = in_memory_of_their_own(changes)
    changes += sampling(root, run, work.batch, residual, held)
    beside = start["activations"] + encoding + held + (experts_workspace(root, run) if rules.fuses_experts else 0)
    beside += rules.request_table * run.engine.requests * positions  # where each request's tokens are in the pool
    beside += kept_by_sampler(root, run)
    return Simulated({**start, "activations": beside, "kv_cache": keys, "state": state}, changes, step, cache)


def _dequantised(param: Param, run: Run) -> int:
    """bitsandbytes' MatMul4Bit dequantises a matrix for its product, unless a single token is read."""
    copies = run.format.dequantised_copies if run.format.holds(Place(param, 1)) else 0
    return copies * run.plan.size(param) * BYTES[run.activations]


def _bytes(
    tensor: Tensor, module: Module, *, run: Run, policy: Policy, earlier: frozenset[Tensor], decodes: bool
) -> int:
    """A cache is counted apart, with what earlier steps left in it; a decoder's head sees the last position alone."""
    rules = run.engine.rules
    # what computes inside of a kernel stores nothing; what experts compute in is counted once for all layers
    kernels = {Region.EXPERTS: rules.fuses_experts, Region.INDEXER: rules.fuses_indexer}
    is_fused = any(fuses and enclosing(module, region) for region, fuses in kernels.items())
    if tensor.role == "cache" or tensor.storage in earlier or is_fused:
        return 0
    here = run.plan.size(tensor)
    if decodes and module.group == ModuleGroup.HEAD:
        here //= next((int(dim.size) for dim in tensor.dims if dim.positions is Positions.SEQUENCE), 1)
    return here * policy.bytes_of(tensor.role)
