"""How much memory a model takes on each GPU, part by part and layer by layer, at the instant that takes most.

    Memory(model, mode="train", optimizer="adamw").at(batch=8, seq=4096).total_bytes

`Memory` checks the options once and is cheap to ask at many sizes; `total` gives the number alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from archcalc.analyze.memory import decode_cache, inference, training
from archcalc.analyze.memory.option_checks import check_sense, check_sizes
from archcalc.analyze.memory.profile import Instant, Levels, Played
from archcalc.analyze.memory.replicated import undivided, words
from archcalc.analyze.memory.report import PARTS, USUAL_DEPTH, MemoryReport
from archcalc.analyze.memory.rows import rows
from archcalc.analyze.memory.states import Held, Keeping, held, totals
from archcalc.core.assumptions import Assumption, Topic, without
from archcalc.core.errors import InputError
from archcalc.core.execution import Trainable, never
from archcalc.core.ir import Module, Region, Tensor, memory_notes_of, notes_of, walk, work_notes_of
from archcalc.core.precision import BYTES
from archcalc.run import lora, sequence_parallel
from archcalc.run.options import KV_RULES, Asked, Case, case
from archcalc.run.traces import Change
from archcalc.spec import paths
from archcalc.spec.option_checks import checked
from archcalc.spec.workload import Workload
from archcalc.storage.checkpoint import Checkpoint
from archcalc.storage.places import Place, facts

if TYPE_CHECKING:
    from archcalc.model import Model

LAYERS = {  # what the rows of layers are, since they need not add up to the total
    True: "layers: all that is ever kept for them, of which not all stands at the peak",
    False: "layers: weights and cache; activations and overhead are of none of them",
}


SOFTMAX = {  # what eager attention stores of it in 16 bits
    "act": "eager attention: softmax in the activations' 16 bits; `softmax: fp32` in the spec counts it in fp32",
    "fp32": "eager attention: softmax in fp32 and cast to 16 bits, as this model's class in transformers does",
}


class Memory:
    """The memory of a model under one set of options, at any batch and length."""

    def __init__(self, model: Model, **options: Any) -> None:
        self.model, self.options = model, options
        self.case: Case = case(model, **options)
        self._totals: dict[tuple[Any, ...], int] = {}

    @checked()
    def at(
        self,
        batch: int | None = None,
        seq: int | None = None,
        *,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
        depth: int | None = None,
        timeline: bool = False,
    ) -> MemoryReport:
        """The whole report; sizes that are left out come from the spec. `depth` and `timeline` say what is shown."""
        work = self._workload(batch, seq, src_seq, tgt_seq)
        check_sizes(work, self.case)
        levels, root = self._levels(work), self.build(work)
        whole = undivided(self, root, work)
        layers = [LAYERS[self.case.trains]] if depth and not timeline else []
        return MemoryReport(
            model=self.model.name,
            assumptions=(
                *map(str, self._assumptions(work, levels.peak)),
                *_notes(root),
                *words(whole),
                *layers,
                *map(str, work.assumptions),
            ),
            scope=self.model.scope,
            mode=self.case.mode,
            batch=work.batch,
            lengths=work.lengths,
            plan=self.case.plan,
            peak=levels.peak,
            instants=tuple(levels.instants),
            states=self.states,
            undivided=whole,
            padding=sum(one.padding for one in self.held),
            rows=rows(root, self, work),
            estimates=self.case.estimates,
            weights=self.case.format.name,
            depth=depth or USUAL_DEPTH,
            timeline=timeline,
        )

    @checked()
    def total(
        self,
        batch: int | None = None,
        seq: int | None = None,
        *,
        src_seq: int | None = None,
        tgt_seq: int | None = None,
    ) -> int:
        """The bytes alone, remembered."""
        key = (batch, seq, src_seq, tgt_seq)
        if key not in self._totals:
            self._totals[key] = self._levels(self._workload(*key)).peak.bytes
        return self._totals[key]

    def build(self, work: Workload) -> Module:
        """The traced model, with adapters and the loss as the case wants them, and its part of the sequence."""
        return self.model.build(sequence_parallel.one_part(work, self.case.plan.cp), self._changes)

    @cached_property
    def _changes(self) -> tuple[Change, ...]:
        case, found = self.case, list[Change]()
        if case.lora:
            found.append(lora.Lora(case.lora, case.lora_targets))
        if case.trains and case.compile != "all" and BYTES[case.activations] < BYTES["fp32"]:
            found.append(lora.widen_loss)
        if case.plan.sp:
            found.append(sequence_parallel.split_sequence)
        return tuple(found)

    def _levels(self, work: Workload) -> Levels:
        step = self._played(work)
        return Levels(dict(step.start), training.stretch).play(step.changes)

    def played(self, batch: int | None, seq: int | None, **lengths: int | None) -> Played:
        """The step as it is simulated, for whoever asks about many sizes."""
        return self._played(self._workload(batch, seq, lengths.get("src_seq"), lengths.get("tgt_seq")))

    def _played(self, work: Workload) -> Played:
        base = dict.fromkeys(PARTS, 0) | self.states
        base["weights"] = self.weights
        base["overhead"] = self._overhead
        return training.played(self, work, base) if self.case.trains else inference.played(self, work, base)

    def _workload(self, batch: int | None, seq: int | None, src_seq: int | None, tgt_seq: int | None) -> Workload:
        sizes = {"batch": batch, "seq": seq, "src_seq": src_seq, "tgt_seq": tgt_seq}
        return self.model.workload(**sizes, mode=self._mode, attention=self.case.attention)

    @property
    def _mode(self) -> str:
        return "train" if self.case.trains else "prefill"

    @cached_property
    def _root(self) -> Module:
        """The model at its usual size, for what does not depend on sizes."""
        root = self.build(self.model.workload(mode=self._mode, attention=self.case.attention))
        self.case.plan.check(root)
        if self.case.plan.sp:
            sequence_parallel.check_sequence(root)
        if self.case.plan.cp > 1:
            sequence_parallel.check_context(root)
        check_sense(root, self.case)
        return root

    @cached_property
    def keeps_cache(self) -> bool:
        """Whether something is kept for later tokens."""
        return decode_cache.keeps_cache(self._root)

    @cached_property
    def _attends(self) -> bool:
        return any(module.region == Region.CORE for module, _ in walk(self._root))

    @cached_property
    def trainable(self) -> Trainable:
        if not self.case.trains:
            return never
        if self.case.lora:
            return lora.is_adapter
        return lora.all_but(self._root, self.case.freeze)

    @cached_property
    def keeping(self) -> Keeping:
        case = self.case
        rest = case.format.rest or (case.recipe.weights if case.recipe else case.activations)
        fused = getattr(self.model.spec, "fused_qkv", False)  # of transformers alone
        model, as_stored = facts(self._root, fused_qkv=fused), "weights" not in case.said
        return Keeping(case.plan, case.format, rest, self.trainable, case.recipe, case.optimizer, model, as_stored)

    @cached_property
    def held(self) -> tuple[Held, ...]:
        """Every parameter with what is kept for it."""
        return held(self._root, self.keeping)

    @cached_property
    def states(self) -> dict[str, int]:
        """Weights, master weights, gradients and optimizer states, when all of them are there."""
        return totals(self.held, self.keeping)

    @property
    def weights(self) -> int:
        """Bytes of all parameters and buffers."""
        return self.states["weights"] + self.buffers

    @cached_property
    def buffers(self) -> int:
        """Kept once for each copy of a layer, unless they are among the bytes of a file."""
        if self.case.format.has_buffers:
            return 0
        found = [(tensor, copies) for module, copies in walk(self._root) for tensor in module.buffers.values()]
        return sum(int(copies) * self._held_by(tensor) for tensor, copies in found)

    def _held_by(self, buffer: Tensor) -> int:
        """As a file of weights stores it, else in the precision of the activations."""
        return buffer.stored if buffer.stored is not None else int(buffer.size) * BYTES[self.case.activations]

    @cached_property
    def _runtime(self) -> dict[str, Any]:
        from archcalc.spec.yaml_reader import read

        return read(paths.presets("runtime")["cuda"].read_bytes(), "runtime cuda").data

    @property
    def _overhead(self) -> int:
        usual: int = self._runtime["one_gpu" if self.case.plan.gpus == 1 else "several_gpus"]
        return usual if self.case.overhead is None else self.case.overhead

    def _of_attention(self, work: Workload, peak: Instant) -> Iterator[Assumption]:
        """How attention is computed, where nobody asked for it and another way would take other memory; and what eager
        attention stores in 16 bits."""
        used = self.case.attention
        if "attention" not in self.case.said and self._attends and self._matters(work, peak):
            yield Assumption(Topic.ATTENTION, f"{used} attention", used, "--attention")
        stored = {
            op.traits.softmax for module, _ in walk(self._root) if module.region == Region.CORE for op in module.ops
        }
        if BYTES[self.case.activations] < BYTES["fp32"] and stored & set(SOFTMAX):
            yield Assumption(Topic.ATTENTION, SOFTMAX["fp32" if "fp32" in stored else "act"], used)

    def _matters(self, work: Workload, peak: Instant) -> bool:
        """Whether the peak has other parts with the other kind of attention, where that can be had."""
        other = {"eager": "flash", "flash": "eager"}[self.case.attention]
        asked = Memory(self.model, **{**self.options, "attention": other})
        there = replace(work, attention=other)
        try:
            return peak.parts != asked._levels(there).peak.parts
        except InputError:  # context parallelism wants a kernel
            return False

    def _left_out(self) -> Iterator[Assumption]:
        """A format that holds nothing here; modules that a checkpoint leaves as they are, and that are not found."""
        kept = self.case.format
        places = [Place(param, 1) for module, _ in walk(self._root) for param in module.params.values()]
        if kept.is_quantised and not any(kept.holds(place) for place in places):
            text = f"{kept.name} is for layers that this model does not have: its weights stay as they are"
            yield Assumption(Topic.WEIGHTS, text, kept.name)
            return
        names = kept.unfound(places) if isinstance(kept, Checkpoint) else []
        if names:
            text = f"{kept.source} excludes module {names[0]} from quantisation, but no module here has that name"
            yield Assumption(Topic.WEIGHTS, text, names[0])

    def _assumptions(self, work: Workload, peak: Instant) -> Iterator[Assumption]:
        yield from (Assumption(Topic.ESTIMATE, f"estimate: {reason}") for reason in self.case.estimates)
        if self.model.spec.family == "weights":
            yield from without(self.case.assumptions, Topic.PRECISION)  # nothing is computed in it
            left_out = "activations are not counted" if self._root.body else "neither a cache nor activations"
            yield Assumption(Topic.SCOPE, f"a file of weights: {left_out}, since it does not tell what is computed")
        else:
            yield from self.case.assumptions
        yield from self._of_attention(work, peak)
        yield from self._left_out()
        yield from self._of_cache(work)
        if self.case.overhead is None:
            text = f"overhead: {self._runtime['name']}, an estimate ({self._runtime['source']})"
            yield Assumption(Topic.OVERHEAD, text, self._overhead, "--overhead")

    def _of_cache(self, work: Workload) -> Iterator[Assumption]:
        kept = [] if self.case.trains else [one.tensor for one in inference.cache_after(self, work)]
        if any(map(decode_cache.window_of, kept)):
            rule = self.case.kv_rule
            yield Assumption(Topic.KV_CACHE, f"cache of sliding windows: {KV_RULES[rule]}", rule, "--kv-rule")
        if any(map(decode_cache.is_tail, kept)) and self.case.state_format:
            stored = self.case.state_format.name
            text = (
                f"recurrent state in {stored}, of convolutions kernel − 1 positions (transformers and llama.cpp keep"
                " fp32, and transformers mostly a position more)"
            )
            yield Assumption(Topic.STATE, text, stored, "--state-dtype")


def _notes(root: Module) -> tuple[str, ...]:
    return (*notes_of(root), *work_notes_of(root), *memory_notes_of(root))


@checked(Asked)
def memory(
    model: Model,
    *,
    batch: int | None = None,
    seq: int | None = None,
    src_seq: int | None = None,
    tgt_seq: int | None = None,
    depth: int = USUAL_DEPTH,
    timeline: bool = False,
    **options: Any,
) -> MemoryReport:
    """One answer; `Memory` is for many."""
    sizes = {"src_seq": src_seq, "tgt_seq": tgt_seq}
    return Memory(model, **options).at(batch, seq, **sizes, depth=depth, timeline=timeline)
