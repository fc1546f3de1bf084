"""QK norm: normalises queries and keys, so that attention scores stay bounded.

head    each head alone, all with one vector of head_dim weights (Qwen 3, Gemma 3)
heads   each head alone, every one with weights of its own (Cohere, StableLM)
all     all heads as one vector (OLMo 2)
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.ir import Dim, Module, Tensor
from archcalc.core.roles import Role
from archcalc.layers.norm import norm, normalised


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

    @property
    def _has_bias(self) -> bool:
        return self.affine and self.bias and self.kind == "layer"

    def joined(self, m: Module, x: Tensor) -> Tensor:
        """The norm over all heads together: batch, seq, (heads, head_dim)."""
        if self.width and self.over == "all":
            return self._of_another_width(m, x)
        return norm(m, x, self.kind, bias=self.bias, affine=self.affine) if self.over == "all" else x

    def split(self, m: Module, x: Tensor) -> Tensor:
        """The norm over each head: batch, seq, heads, head_dim."""
        if self.width and self.over == "head":
            return self._of_another_width(m, x)
        if self.over == "head":
            return norm(m, x, self.kind, bias=self.bias, affine=self.affine)
        return self._each_its_own(m, x) if self.over == "heads" else x

    def _of_another_width(self, m: Module, x: Tensor) -> Tensor:
        """Norm weights of a size that does not fit: such a model can be built but not run."""
        width = Dim.of("norm_width", self.width[0 if m.name == "q_norm" else -1])
        weights = (m.param("weight", width, role=Role.NORM),) if self.affine else ()
        biases = (m.param("bias", width, role=Role.NORM),) if self._has_bias else ()
        return normalised(m, x, self.kind, (*weights, *biases))

    def _each_its_own(self, m: Module, x: Tensor) -> Tensor:
        *_, head, each = x.dims
        weights = (m.param("weight", head, each, role=Role.NORM),) if self.affine else ()
        biases = (m.param("bias", head, each, role=Role.NORM),) if self._has_bias else ()
        return normalised(m, x, self.kind, (*weights, *biases))
