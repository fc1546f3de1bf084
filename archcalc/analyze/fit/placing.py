"""How a model is put on the devices of one `--gpu`: the plan that was given, or the one that is chosen and said."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from archcalc.analyze.fit.layer_split import LayerSplit
from archcalc.analyze.fit.question import Question
from archcalc.analyze.placement import placed
from archcalc.core.assumptions import Assumption
from archcalc.network import Network
from archcalc.run.device import DeviceGroup
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.options import Options


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

    model: Network
    options: Options
    is_named: bool = True  # devices that a user names decide what runs on them; a list of usual ones does not
    asked: list[Question] = field(default_factory=list)

    def on(self, group: DeviceGroup) -> Placed:
        options = placed(self.model, self.options, group)
        return Placed(group, self._question(options, None)) if options else self._split(group)

    def _split(self, group: DeviceGroup) -> Placed:
        split = LayerSplit(tuple(one.capacity for _, one in group.each))
        options = replace(self.options, device=DeviceFacts.of_group(group))
        return Placed(group, self._question(options, split), (split.note(group.count),))

    def _question(self, options: Options, split: LayerSplit | None) -> Question:
        """Devices on which the run is the same share a question."""
        options = options if self.is_named else replace(options, device=None)
        made = Question.of(self.model, options, split)
        known = next((each for each in self.asked if each.run == made.run and each.split == split), None)
        if known is None:
            self.asked.append(made)
        return known or made
