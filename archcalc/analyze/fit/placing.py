"""How a model is put on the devices of one `--gpu`: the plan that was given, or the one that is chosen and said."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from archcalc.analyze.fit.facts import shares_layers
from archcalc.analyze.fit.layer_split import LayerSplit
from archcalc.analyze.fit.question import Question
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.run.device import DeviceGroup
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.options import Options

if TYPE_CHECKING:
    from archcalc.model import Model

PLANS = ("tp", "dp", "cp", "pp", "ep")


@dataclass(frozen=True)
class Placed:
    """Devices, what is asked of them, and what was chosen for them."""

    group: DeviceGroup
    question: Question
    notes: tuple[Assumption, ...] = ()

    @property
    def capacity(self) -> int:
        """Of the device that the question is about: of split layers, the first."""
        return self.group.first.capacity


@dataclass
class Placing:
    """Questions about one model; equal ones are one."""

    model: Model
    options: Options
    asked: dict[tuple[Options, LayerSplit | None], Question] = field(default_factory=dict)

    def on(self, group: DeviceGroup) -> Placed:
        if group.count == 1:
            return Placed(group, self._question(self.options, group))
        given = [name for name in PLANS if name in self.options.given]
        if not group.is_uniform:
            return self._on_unequal(group, given)
        if given:
            return Placed(group, self._question(self._planned(group), group))
        return self._on_equal(group)

    def _planned(self, group: DeviceGroup) -> Options:
        """The plan that was given, if it is for so many."""
        number = self.options.plan.gpus
        if number != group.count:
            words = " ".join(self.options.plan.words()) or "one GPU"
            fact = f"{group.words} are {group.count} GPUs, and the plan ({words}) is for {number}"
            hint = f"make their product {group.count}, or leave the plan out and one is chosen"
            raise InputError(fact, hint, field="--gpu")
        return self.options

    def _on_equal(self, group: DeviceGroup) -> Placed:
        if self.options.trains:
            return self._chosen(group, "data parallelism with ZeRO-3", dp=group.count, zero=self.options.zero or 3)
        tensor = self._with_tensor_parallelism(group) if shares_layers(group.first) else None
        return tensor or self._split(group)

    def _with_tensor_parallelism(self, group: DeviceGroup) -> Placed | None:
        """None where the model's heads cannot be divided so."""
        try:
            placed = self._chosen(group, "tensor parallelism", tp=group.count)
            _ = placed.question.report
            return placed
        except InputError:
            return None

    def _chosen(self, group: DeviceGroup, how: str, **plan: int) -> Placed:
        text = f"{group.words}: {how}, since no plan was given"
        note = Assumption(Topic.PARALLELISM, text, group.count, "--dp" if self.options.trains else "--tp")
        return Placed(group, self._question(self.options.changed(**plan), group), (note,))

    def _on_unequal(self, group: DeviceGroup, given: list[str]) -> Placed:
        if given:
            fact = f"{group.words} are unequal, and --{given[0]} divides a model into equal parts"
            raise InputError(fact, f"leave --{given[0]} out: layers are split by memory", field="--gpu")
        if self.options.trains:
            fact = f"{group.words} are unequal: archcalc has no plan for training on them"
            raise InputError(fact, "name devices of one kind, such as 2xrtx-3090", field="--gpu")
        return self._split(group)

    def _split(self, group: DeviceGroup) -> Placed:
        split = LayerSplit(tuple(one.capacity for _, one in group.each))
        return Placed(group, self._question(self.options, group, split), (split.note(group.count),))

    def _question(self, options: Options, group: DeviceGroup, split: LayerSplit | None = None) -> Question:
        """On the device, where an engine is asked for: it chooses by the device."""
        if options.engine:
            options = replace(options, device=DeviceFacts.of(group.first))
        if (options, split) not in self.asked:
            self.asked[options, split] = Question.of(self.model, options, split)
        return self.asked[options, split]
