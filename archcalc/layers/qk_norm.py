"""QK norm: normalises queries and keys, so that attention scores stay bounded.

head    each head alone, all with one vector of head_dim weights (Qwen 3, Gemma 3)
heads   each head alone, every one with weights of its own (Cohere, StableLM)
all     all heads as one vector (OLMo 2)
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.layers.norm import norm


@dataclass(frozen=True)
class QKNorm:
    over: str
    kind: str
    bias: bool
    affine: bool
    width: tuple[int, ...] = ()  # of the weights, for both or for q and k, where that is not what the norm is over

    def fits(self, heads: int, kv_heads: int, head_dim: int) -> bool:
        """Whether its weights are as many as the numbers that they are put on."""
        if not self.width or self.over == "heads":
            return True
        normed = [number * head_dim if self.over == "all" else head_dim for number in (heads, kv_heads)]
        return normed == [self.width[0], self.width[-1]]

    def run(self, m: Module, x: Tensor, head: Dim, each: Dim) -> Tensor:
        """Queries or keys, (batch, positions, (heads, width)): all heads as one vector, or every head by itself."""
        if self.over != "all":
            x = x.seen_as(*x.dims[:2], head, each)
        shape = axes(head, each) if self.over == "heads" else None
        if self.width and not shape:  # a size that does not fit: such a model can be built but not run
            shape = axes(Dim.of("norm_width", {"q_norm": self.width[0], "k_norm": self.width[-1]}[m.name]))
        return norm(m, x, self.kind, bias=self.bias, affine=self.affine, shape=shape)
