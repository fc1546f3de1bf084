"""A model over several devices of one kind: the smallest number that is enough, of those that machines have.

Training is divided by ZeRO-3 among data-parallel groups, inference by tensor parallelism as far as the heads allow; an
engine that has none splits layers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from archcalc.analyze.fit.layer_split import LayerSplit
from archcalc.analyze.fit.node_numbers import IN_A_MACHINE, MOST, NUMBERS
from archcalc.analyze.fit.solve import smallest
from archcalc.core.errors import InputError
from archcalc.core.progress import doing

if TYPE_CHECKING:
    from archcalc.analyze.fit.question import Question
    from archcalc.run.device import Device

MANY = 8  # times as many GPUs hold next to nothing of what is divided among them
WIDEST = 128  # GPUs that share a layer


@dataclass(frozen=True)
class Spread:
    """A question, and the devices that it is asked about. `tp` and `cp` GPUs share layers and sequences in training;
    in inference there are `dp` groups, each of `cp`."""

    question: Question
    device: Device
    tp: int = 1
    dp: int = 1
    cp: int = 1

    @classmethod
    def of(cls, question: Question, device: Device) -> Spread:
        """Divided as it was asked to be."""
        plan = question.options.plan
        return cls(question, device, plan.tp, plan.dp, plan.cp)

    @property
    def splits_layers(self) -> bool:
        return not self.question.trains and not self.question.whole.run.engine.rules.tensor_parallel

    def fewest(self) -> int | None:
        """The smallest number of such devices, whatever number was given; None if no number is enough.

        Sequences and layers stay divided as they were asked to be where fewer are enough so."""
        question, asked = self.question, self.question.options.plan.gpus
        found = [asked] if asked in NUMBERS and question.fits(self.device) else []
        for tp, cp in {(tp, cp) for tp in (1, self.tp) for cp in (1, self.cp)}:
            number = replace(self, tp=tp, dp=1, cp=cp).smallest(1)
            found += [number] if number else []
        return min(found, default=None)

    def more(self) -> int | None:
        """The smallest number that is more than was asked about."""
        return self.smallest(self.question.options.plan.gpus + 1)

    def smallest(self, least: int) -> int | None:
        if self.question.trains:
            sizes = [gpus for gpus in NUMBERS if gpus >= least and gpus % (self.tp * self.cp) == 0]
            return smallest(sizes, self._is_enough, self._is_hopeless)
        most = IN_A_MACHINE[-1] if self.splits_layers else WIDEST
        sizes = [gpus for gpus in NUMBERS if least <= gpus <= most and gpus % (self.dp * self.cp) == 0]
        return next((gpus for gpus in sizes if self._is_enough(gpus)), None)

    def over(self, gpus: int) -> Question | None:
        """The question over so many; None where the model cannot be divided so."""
        doing(f"trying {gpus} × {self.device.name}")
        try:
            spread = self._divided(gpus)
            spread.memory.check(spread.sizes)
            return spread
        except InputError:
            return None

    def _divided(self, gpus: int) -> Question:
        """More data-parallel groups in training, else more GPUs that share each layer or hold some."""
        question = self.question
        if self.splits_layers:
            return replace(question, split=LayerSplit((self.device.capacity,) * gpus)) if gpus > 1 else question
        if question.trains:
            return question.over(tp=self.tp, dp=gpus // (self.tp * self.cp), cp=self.cp)
        return question.over(tp=gpus // (self.dp * self.cp), dp=self.dp, cp=self.cp)

    def _is_enough(self, gpus: int) -> bool:
        if self.splits_layers and self.question.whole.parameters.weights > gpus * self.device.capacity:
            return False  # however layers are dealt out
        spread = self.over(gpus)
        return spread is not None and spread.fits(self.device)

    def _is_hopeless(self, gpus: int) -> bool:
        """Whether it is the allocator that takes too much, and would take nearly as much with many more GPUs."""
        spread, many = self.over(gpus), self.over(min(MANY * gpus, MOST))
        if not spread or not many:
            return False
        safe = spread.room(self.device).safe
        if spread.memory.least_bytes > safe or spread.tensors > safe:
            return False
        share = Fraction(spread.required, spread.tensors or 1)
        return many.tensors * share > safe
