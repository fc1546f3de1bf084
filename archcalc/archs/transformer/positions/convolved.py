"""A convolution over the embedding, whose output is added to it: what is near tells a position (wav2vec 2.0)."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, Self

from archcalc.archs.transformer.positions.encoding import Encoding, Site
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Tensor
from archcalc.core.small import TWICE
from archcalc.layers.embedding import PLACED
from archcalc.layers.norm import norm
from archcalc.spec.node import Size, field
from archcalc.styles.activations import ACTIVATIONS, activated

WORD = "convolved"
Activation = Literal[*ACTIVATIONS]  # type: ignore[valid-type]


class Convolved(Encoding):
    on_embedding: ClassVar[bool] = True
    needs: ClassVar[dict[str, int]] = {"kernel": 128}
    kernel: Size | None = field(None, "Convolved positions: how many neighbours are seen.", example=128, unset="needed")
    groups: Size = field(1, "Convolved positions: groups of channels that are convolved separately.", example=16)
    layers: Size = field(1, "Convolved positions: how many such convolutions follow each other.", example=5)
    act: Activation = field("gelu", "Convolved positions: the activation behind each convolution.", example="relu")
    normed: Literal["kernel", "output", "none"] = field(
        "kernel",
        "Convolved positions: what is normalised, the kernel (a weight norm: a length and a direction for each of its"
        " places), the output (a layer norm without weights) or nothing.",
        example="output",
    )

    def check(self, site: Site) -> None:
        super().check(site)
        if site.causal:
            raise InputError("convolved positions see what comes later", "put them into an encoder", fields=site.places)
        if site.d_model % self.groups:
            fact = f"d_model {site.d_model} does not divide into {self.groups} groups"
            raise InputError(fact, f"use a divisor of {site.d_model}", fields=site.places)

    def made_small(self) -> Self:
        """In a small model of even width."""
        return self.model_copy(update={"groups": math.gcd(self.groups, TWICE)})

    def add_to(self, m: Module, x: Tensor, patches: object) -> Tensor:
        place, found = m["positions"], x
        place.words.about = PLACED
        for number in range(1, self.layers + 1):
            found = self._convolved(place[f"conv_{number}"], found)
        return place.record("add", x, found)

    def _convolved(self, m: Module, x: Tensor) -> Tensor:
        """With zeros for half a kernel at both ends, which is one output too many where the kernel is even."""
        from archcalc.layers.conv import conv

        assert self.kernel
        _, seq, d_model = x.dims
        padded = seq if self.kernel % 2 else Dim.of("padded_seq", seq.size + 1)
        kernel_norm = self.normed == "kernel"
        made = conv(m, x, d_model, self.kernel, groups=self.groups, seq=padded, weight_norm=kernel_norm)
        made = m.record("view", made, to=x.axes)
        if self.normed == "output":
            made = norm(m["norm"], made, "layer", affine=False)
        return activated(m, made, self.act)


ENCODING = Convolved
