"""The random code of a variational autoencoder: `{sample: {mean: [...], log_variance: [...]}}`.

z = mean + e^(log_variance / 2) · noise, with noise drawn anew for every sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from archcalc.archs.network.layer import Sequence
from archcalc.archs.network.shape import Shape
from archcalc.archs.network.trace import Trace
from archcalc.archs.network.values import Layers
from archcalc.core.ir import Module, Tensor
from archcalc.spec.node import Node

if TYPE_CHECKING:
    from archcalc.archs.network.place import Place
    from archcalc.archs.network.reader import Reader

WORDS = ("sample",)
MAY_STAND_ALONE = False


class Distribution(Node):
    mean: Layers = Field(examples=[[{"linear": 20}]], description="Layers that give the mean.")
    log_variance: Layers = Field(
        examples=[[{"linear": 20}]], description="Layers that give the logarithm of the variance."
    )


class SampleFields(Node):
    main: ClassVar[str] = "of"
    of: Distribution = Field(
        examples=[{"mean": [{"linear": 20}], "log_variance": [{"linear": 20}]}],
        description="The mean and the log-variance of the code, each a list of layers.",
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


def read(word: str, fields: SampleFields, shape: Shape, place: Place, reader: Reader) -> tuple[Sample, Shape]:
    inside = place.below(word)
    mean, behind = reader.steps(fields.of.mean, shape, inside.below("mean"))
    logarithm, other = reader.steps(fields.of.log_variance, shape, inside.below("log_variance"))
    if behind != other:
        raise place.wrong(f"the mean is {behind}, the log-variance {other}", "make them equal", word)
    return Sample(mean, logarithm), behind
