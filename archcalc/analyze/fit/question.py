"""The model and options of `archcalc fit`: memory at any batch and any length."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any

from archcalc.analyze.fit.layer_split import LayerSplit
from archcalc.analyze.fit.polynomial import Bytes
from archcalc.analyze.fit.solve import UNBOUNDED, Curve
from archcalc.analyze.fit.verdict import Room, missing
from archcalc.analyze.memory.answer import MODES, Memory
from archcalc.analyze.memory.report import MemoryReport
from archcalc.analyze.memory.simulated import Simulated
from archcalc.analyze.placement import shares_matrices
from archcalc.core.errors import InputError
from archcalc.core.progress import doing
from archcalc.network import Network
from archcalc.run.accuracy import Band, band
from archcalc.run.device import Device
from archcalc.run.options import Options
from archcalc.run.resolved import Run
from archcalc.run.size_choices import with_sizes
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from archcalc.analyze.fit.changes import Change
    from archcalc.analyze.fit.layer_split import SplitMemory

FEW_SEQUENCES, FEW_POSITIONS = 2, 16  # from which on steps differ by their sizes alone: a loop's ends are its own steps


@dataclass(frozen=True)
class Question:
    """A model, the sizes that were asked for, and how it is run."""

    model: Network
    sizes: Sizes  # with the batch, and the length where the spec has one
    options: Options
    given: Sizes = field(default_factory=Sizes)  # as they were asked for
    split: LayerSplit | None = None  # layers among devices, where tensor parallelism is not used
    memories: dict[Options, Memory] = field(default_factory=dict)  # by their options, shared by changed questions
    reserve: list[Fraction] = field(default_factory=list)  # what is reserved for a byte of tensors, likewise

    @classmethod
    def of(cls, model: Network, options: Options, split: LayerSplit | None = None) -> Question:
        if options.plan.pp > 1:
            hint = "leave --pp out; `archcalc memory --pp` tells what the largest stage takes"
            raise InputError("fit does not look for the sizes of pipeline stages", hint, field="--pp")
        sizes, spec = options.sizes, model.spec
        if sizes.context:
            model.workload(**sizes.given(), mode="decode")  # for its errors
            *_, last = model.resolved.lengths
            sizes = replace(sizes, context=None, **{last: sizes.context})
        sizes = replace(sizes, batch=sizes.batch or spec.batch or 1, seq=sizes.seq or spec.seq)
        return cls(model, sizes, replace(options, sizes=Sizes()), options.sizes, split)

    @property
    def batch(self) -> int:
        assert self.sizes.batch
        return self.sizes.batch

    @property
    def length(self) -> int | None:
        """The length that was asked for, or that is usual; None where there is none to choose."""
        if not self.has_length or len(self._varying) > 1:
            return None
        return self.sizes.of(self._varying[0]) or self.report.lengths[self._varying[0]]

    def changed(self, change: Change) -> Question:
        """The same question with one change applied."""
        sizes = replace(self.sizes, batch=change.batch or self.batch)
        if change.length:
            sizes = replace(sizes, **dict.fromkeys(self._varying, change.length))
        return replace(self.with_options(self.options.changed(**change.options)), sizes=sizes)

    def with_weights(self, format: str) -> Question:
        """The same question about weights in another format."""
        return self.with_options(self.options.changed(weights=format))

    def with_options(self, options: Options) -> Question:
        """Placed anew where archcalc chose the plan, and the format brings an engine that splits layers instead."""
        devices = options.device.group if options.device else None
        whole = replace(options, tp=None, is_planned=False)
        if not options.is_planned or not devices or self.trains or shares_matrices(self.model, whole):
            return replace(self, options=options)
        return replace(self, options=whole, split=LayerSplit(tuple(one.capacity for _, one in devices.each)))

    def tried(self, change: Change) -> Question | None:
        """The same, if the model and the options allow the change."""
        doing(f"trying {change.option or change.name}")
        try:
            changed = self.changed(change)
            changed.memory.check(changed.sizes)
            return changed
        except InputError:
            return None

    def fits(self, device: Device) -> bool:
        """Whether what is counted surely fits: with the error band to spare, and in the host RAM that was given."""
        safe, host = self.room(device).safe, self.options.host
        if self.memory.least_bytes > safe or (self.trains and self.tensors > min(safe, device.capacity)):
            return False  # whatever a step and the allocator add, which take longer to work out
        return self.required <= safe and (host is None or self.host_bytes <= host)

    def room(self, device: Device) -> Room:
        return Room(device.capacity, self.band.percent if self.band else None, missing(self.model))

    @cached_property
    def band(self) -> Band | None:
        """The error of what is said to be needed; None where no such runs were measured."""
        return band(self.run)

    @property
    def run(self) -> Run:
        """How the model is run, every value filled in."""
        return self.whole.run

    @cached_property
    def whole(self) -> Memory:
        """The memory of the model in one piece."""
        return self._with()

    @cached_property
    def memory(self) -> Memory | SplitMemory:
        return self.split.memory(self.whole) if self.split else self.whole

    def _with(self, **options: Any) -> Memory:
        """The question with further options; results are cached."""
        asked = self.options.changed(**options) if options else self.options
        if asked not in self.memories:
            self.memories[asked] = Memory(self.model, asked)
        return self.memories[asked]

    @cached_property
    def report(self) -> MemoryReport:
        found = self.memory.report(self.sizes)
        asked = self.model.workload(**self.given.given(), mode=MODES[self.options.mode])
        return replace(found, choices=with_sizes(found.choices, asked, self.given.given()))

    @cached_property
    def required(self) -> int:
        """What a device must have; of split layers the first, if all were as full as the fullest."""
        return self.memory.required_bytes(self.sizes)

    @property
    def tensors(self) -> int:
        """The same without what the allocator adds."""
        return self.memory.peak_bytes(self.sizes)

    @cached_property
    def host_bytes(self) -> int:
        """Host RAM of what is offloaded, of all GPUs together."""
        return self.whole.host_bytes(self.sizes)

    def reserved(self, tensors: int) -> int:
        """What a device must have for so many bytes of tensors and overhead: as much more as it is at the sizes that
        were asked for. Curves over many sizes are worked out so; a single answer simulates the allocator."""
        if not self.trains:
            return tensors
        if not self.reserve:
            self.reserve.append(Fraction(self.required, self.report.total_bytes or 1))
        return ceil(tensors * self.reserve[0])

    @property
    def trains(self) -> bool:
        return self.options.trains

    @cached_property
    def by_batch(self) -> Curve:
        """Bytes as a function of the batch, at the same length."""
        return self._of_batches(self.memory)

    @cached_property
    def by_part(self) -> Curve:
        """Bytes by the number of sequences at a time; in training the gradients of those before are there as well."""
        if not self.trains:
            return self.by_batch
        memory = self._with(accumulate=2)  # more than two parts need no more
        return self._of_batches(memory)

    @cached_property
    def _is_simple(self) -> bool:
        """Whether each size is asked for by itself: of split layers, and of engines that fill a device."""
        return self.split is not None or self.whole.run.engine.fills_device

    def _of_batches(self, memory: Memory | SplitMemory) -> Curve:
        def needed(batch: int) -> int:
            return memory.peak_bytes(replace(self.sizes, batch=batch))

        if self._is_simple:
            return Curve(lambda batch: memory.required_bytes(replace(self.sizes, batch=batch)))

        def simulated(batch: int) -> Simulated:
            return memory.simulated(replace(self.sizes, batch=batch))

        return self._curve(Bytes(needed, simulated, least=FEW_SEQUENCES, most=UNBOUNDED))

    def _curve(self, tensors: Bytes) -> Curve:
        return Curve(lambda size: self.reserved(tensors(size)))

    @cached_property
    def by_length(self) -> Curve:
        """Bytes as a function of the length, at the same batch."""
        if self._is_simple:
            return Curve(lambda length: self.memory.required_bytes(self.of_length(self._possible(length))))
        most = self.longest or UNBOUNDED
        return self._curve(Bytes(self._at_length, self._simulated_at_length, least=FEW_POSITIONS, most=most))

    def _simulated_at_length(self, length: int) -> Simulated:
        return self.memory.simulated(self.of_length(length))

    def _at_length(self, length: int) -> int:
        return self.memory.peak_bytes(self.of_length(self._possible(length)))

    def _possible(self, length: int) -> int:
        return self._shortest if length == 1 else length

    def of_length(self, length: int) -> Sizes:
        return replace(self.sizes, **dict.fromkeys(self._varying, length))

    @cached_property
    def _shortest(self) -> int:
        """A recursive net merges two at the least."""
        try:
            self.memory.check(self.of_length(1))
        except InputError:
            return 2
        return 1

    @cached_property
    def _varying(self) -> list[str]:
        """The lengths to vary: those that were not given, or else the last."""
        free = [name for name, limit in self.model.resolved.lengths.items() if not limit.fixed]
        return [name for name in free if name == "seq" or not getattr(self.sizes, name)] or free[-1:]

    @cached_property
    def longest(self) -> int | None:
        """The longest context of the model; None if unlimited, or if a longer one than it was trained for was given."""
        return None if self.is_stretched else self.positions

    @property
    def is_stretched(self) -> bool:
        """Whether more positions were given than the model was trained for."""
        asked = max(self.sizes.seq or 0, self.sizes.src_seq or 0, self.sizes.tgt_seq or 0)
        return self.positions is not None and asked > self.positions

    def longest_in(self, available: int) -> tuple[int | None, str | None]:
        """The longest sequence that so many bytes hold, and whether memory or the model limits it."""
        if not self.has_length:
            return None, None
        if self.length:
            self.by_length.at(self.length)  # which is known, and where the search begins
        if self.longest and self.by_length.at(self.longest) <= available:
            return self.longest, "positions"
        found = self.by_length.largest(available, self.longest or UNBOUNDED)
        return (None, None) if found == UNBOUNDED else (found, "memory")

    @cached_property
    def positions(self) -> int | None:
        """In decode the new token takes the last row of a table."""
        limits = [self.model.resolved.lengths[name] for name in self._varying]
        decodes = self.options.mode == "decode"
        found = [limit.length - (decodes and limit.hard) for limit in limits if limit.length]
        return min(found, default=None)

    @property
    def has_length(self) -> bool:
        """Whether there is a length to choose: an image's follows from its size."""
        lengths = self.model.resolved.lengths
        return bool(lengths) and not all(limit.fixed for limit in lengths.values())

    def over(self, *, tp: int, dp: int, cp: int) -> Question:
        """The same over so many GPUs; training with ZeRO-3."""
        mesh = {name: number if number > 1 else None for name, number in (("tp", tp), ("dp", dp), ("cp", cp))}
        zero = 3 if self.trains and dp * cp > 1 else None
        return replace(self, options=self.options.changed(**mesh, sp=self.options.sp if tp > 1 else None, zero=zero))
