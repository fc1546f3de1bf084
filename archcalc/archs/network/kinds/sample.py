"""The random code of a variational autoencoder: `{sample: {mean: [...], log_variance: [...]}}`.

z = mean + e^(log_variance / 2) · noise, with noise drawn anew for every sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.archs.network.layer import SEQUENCES, Place, Sequence, Shape, Trace
from archcalc.archs.network.values import Layers
from archcalc.core.ir import Module, Tensor
from archcalc.spec.node import Node, field

WORDS = ("sample",)
READS = (SEQUENCES,)


class Distribution(Node):
    mean: Layers = field(..., "Layers that give the mean.", example=[{"linear": 20}])
    log_variance: Layers = field(..., "Layers that give the logarithm of the variance.", example=[{"linear": 20}])


class SampleFields(Node):
    main: ClassVar[str] = "of"
    of: Distribution = field(
        ...,
        "The mean and the log-variance of the code, each a list of layers.",
        example={"mean": [{"linear": 20}], "log_variance": [{"linear": 20}]},
    )


@dataclass(frozen=True)
class Sample:
    spec_kind: ClassVar[str] = "sample"
    mean: Sequence
    log_variance: Sequence

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        mean = self.mean.run(m["mean"], x, trace)
        logarithm = self.log_variance.run(m["log_variance"], x, trace).seen_as(*mean.axes)
        deviation = m.record("exp", m.record("scale", logarithm))
        noise = m.record("constant", to=mean.axes, name="noise", note="drawn from N(0, 1)")
        return m.record(
            "add", mean, m.record("multiply", deviation, noise), name="code", note="mean + deviation · noise"
        )


FIELDS = SampleFields


def read(word: str, fields: SampleFields, shape: Shape, place: Place) -> tuple[Sample, Shape]:
    inside = place.below(word)
    mean, behind = place.reader.steps(fields.of.mean, shape, inside.below("mean"))
    logarithm, other = place.reader.steps(fields.of.log_variance, shape, inside.below("log_variance"))
    if behind != other:
        raise place.wrong(f"the mean is {behind}, the log-variance {other}", "make them equal", word)
    return Sample(mean, logarithm), behind
