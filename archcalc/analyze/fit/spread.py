"""A model over several devices of one kind: the smallest number that is enough, of those that machines have.

Training is divided by ZeRO-3 among data-parallel groups, inference by tensor parallelism as far as the heads allow; an
engine that has none splits layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from archcalc.analyze.fit.need import fits, required, room, tensors
from archcalc.analyze.fit.request import Request, checked, over
from archcalc.core.errors import InputError
from archcalc.core.progress import doing
from archcalc.run.device import Device

IN_A_MACHINE = (1, 2, 4, 8)  # boards of NVIDIA (HGX) and AMD carry 4 or 8, and clouds rent 1, 2, 4 or 8 of a machine
MACHINE = IN_A_MACHINE[-1]
MOST = 4096
NUMBERS = (*IN_A_MACHINE, *range(2 * MACHINE, MOST + 1, MACHINE))  # beyond one machine, whole machines
MANY = 8  # times as many GPUs hold next to nothing of what is divided among them
WIDEST = 128  # GPUs that share a layer
FEW = 5  # numbers that are tried one by one


@dataclass(frozen=True)
class Spread:
    """A request, and the devices that it is asked about. `tp` and `cp` GPUs share layers and sequences in training;
    in inference there are `dp` groups, each of `cp`."""

    request: Request
    device: Device
    tp: int = 1
    dp: int = 1
    cp: int = 1

    @classmethod
    def of(cls, request: Request, device: Device) -> Spread:
        """Divided as it was asked to be."""
        plan = request.options.plan
        return cls(request, device, plan.tp, plan.dp, plan.cp)

    def fewest(self) -> int | None:
        """The smallest number of such devices, whatever number was given; None if no number is enough.

        Sequences and layers stay divided as they were asked to be where fewer are enough so."""
        asked = self.request.options.plan.gpus
        found = [asked] if asked in NUMBERS and fits(self.request, self.device) else []
        ways = {(tp, cp) for tp in (1, self.tp) for cp in (1, self.cp)}
        for tp, cp in ways if found != [1] else ():  # no number is smaller
            number = replace(self, tp=tp, dp=1, cp=cp).smallest(1)
            found += [number] if number else []
        return min(found, default=None)

    def smallest(self, least: int) -> int | None:
        """Of those that are not fewer than `least`."""
        if self.request.options.trains:
            sizes = [gpus for gpus in NUMBERS if gpus >= least and gpus % (self.tp * self.cp) == 0]
            return smallest(sizes, self._is_enough, self._is_hopeless)
        most = MACHINE if splits_layers(self.request) else WIDEST
        sizes = [gpus for gpus in NUMBERS if least <= gpus <= most and gpus % (self.dp * self.cp) == 0]
        return next((gpus for gpus in sizes if self._is_enough(gpus)), None)

    def over(self, gpus: int) -> Request | None:
        """The request over so many: more data-parallel groups in training, else more GPUs that share each layer or hold
        some. None where the model cannot be divided so."""
        doing(f"trying {gpus} × {self.device.name}")
        request = self.request
        try:
            if splits_layers(request):
                return checked(replace(request, split=(self.device.capacity,) * gpus) if gpus > 1 else request)
            if request.options.trains:
                return checked(over(request, tp=self.tp, dp=gpus // (self.tp * self.cp), cp=self.cp))
            return checked(over(request, tp=gpus // (self.dp * self.cp), dp=self.dp, cp=self.cp))
        except InputError:
            return None

    def _is_enough(self, gpus: int) -> bool:
        weights = self.request.deployment.parameters.weights
        if splits_layers(self.request) and weights > gpus * self.device.capacity:
            return False  # however layers are dealt out
        spread = self.over(gpus)
        return spread is not None and fits(spread, self.device)

    def _is_hopeless(self, gpus: int) -> bool:
        """Whether it is the allocator that takes too much, and would take nearly as much with many more GPUs."""
        spread, many = self.over(gpus), self.over(min(MANY * gpus, MOST))
        if not spread or not many:
            return False
        safe = room(spread, self.device).safe
        if spread.deployment.least_bytes > safe or tensors(spread) > safe:
            return False
        return tensors(many) * Fraction(required(spread), tensors(spread) or 1) > safe


def splits_layers(request: Request) -> bool:
    """Whether what runs it has no tensor parallelism."""
    return not request.options.trains and not request.deployment.run.engine.rules.tensor_parallel


def smallest(
    sizes: Sequence[int], enough: Callable[[int], bool], hopeless: Callable[[int], bool] = lambda size: False
) -> int | None:
    """The smallest of ascending sizes that is enough; None if there is none, or where one is found to be `hopeless`.

    More need not need less: of GPUs, each holds less of the weights, but tensors of few rows are padded. So rungs are
    tried from below: the first few one by one, then by doubling, and the last. What is assumed: if two neighbouring
    rungs are too few, so are all sizes between them."""
    doubled = (FEW << power for power in range(len(sizes).bit_length()))
    rungs: set[int] = {*range(FEW), *doubled, len(sizes) - 1}
    low = -1
    for high in sorted(place for place in rungs if 0 <= place < len(sizes)):
        if enough(sizes[high]):
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if enough(sizes[middle]) else (middle, high)
            return sizes[high]
        if hopeless(sizes[high]):
            return None
        low = high
    return None
