"""Attention as a part of a block: its layer with every value filled in, and the position encodings that act in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.parts.part import Part
from archcalc.archs.transformer.positions.encoding import Encoding, Reader
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.core.positions import Positions
from archcalc.core.small import TWICE
from archcalc.layers.attention import Attention
from archcalc.layers.attention_inputs import Inputs
from archcalc.layers.attention_mask import CALLED
from archcalc.layers.patches import Patches
from archcalc.layers.windowed import described, windows_on

if TYPE_CHECKING:
    from archcalc.layers.kernel import KernelAttention


@dataclass(frozen=True)
class AttentionPart(Part):
    spec_kind: ClassVar[str] = "attention"
    layer: Attention | KernelAttention
    positions: tuple[Encoding, ...]
    memory: int | None = None  # the width of what it looks at, where the model has no encoder
    global_qkv: bool = False
    kv_of: str = ""  # the part whose keys and values it reads, those of the last block that has it
    patches: Patches | None = None  # of the image, whose rows and columns relative positions may tell apart
    windows: tuple[int, int] | None = None  # rows and columns of patches, each of which sees those of its window

    @property
    def unwitnessed(self) -> str:
        return "indexer of blocks" if getattr(self.layer, "indexer", None) else ""

    def made_small(self, original: AttentionPart) -> AttentionPart:
        """A window is one patch wide where the image has several beside each other."""
        positions = tuple(position.made_small() for position in self.positions)
        if not (self.windows and original.windows and original.patches):
            return replace(self, positions=positions)
        sides = zip(original.windows, original.patches.grid, strict=True)
        height, width = (1 if side < whole else TWICE for side, whole in sides)
        return replace(self, positions=positions, windows=(height, width))

    @property
    def is_bound(self) -> bool:
        return bool(self.kv_of)

    def prepare(self, place: Module, x: Tensor, context: Context) -> Tensor | None:
        """T5 has one relative bias table for the whole stack, DeBERTa one embedding per relative position,
        Transformer-XL one pair of biases."""
        reader = Reader(self.layer, x, context, self.dropout, self.patches)
        prepared = [position.prepare(place, reader) for position in self.positions if position.is_of_stack]
        return next((table for table in prepared if table), None)

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        layer, sight = self.layer, self.layer.sight
        called = "cross-attention" if layer.cross else CALLED[sight.causal]
        m.words.called = called if m.name == self.slot else f"{m.words.title}: {called}"  # behind the spec's own name
        m.words.about = sight.about
        if self.global_qkv:
            layer.keep_global(m, x.dims[-1])
        reader = Reader(layer, x, context, self.dropout, self.patches, context.prepared.get(self.name))
        inputs = Inputs(context.work, mask=context.mask(x, sight), hand_on=partial(context.hand_on, self.name))
        if self.kv_of:
            inputs = inputs._replace(earlier=context.handed[self.kv_of])
        if self.windows and self.patches:
            m.words.about = described(self.windows)
            inputs = inputs._replace(windows=windows_on(self.patches.grid, self.windows))
        for position in self.positions:
            inputs = position.given_to(reader, inputs)
        if layer.cross:
            inputs = inputs._replace(memory=context.memory or self._memory(x, context))
        if layer.cross and context.work.style.zero_bias and not inputs.score_bias:
            inputs = inputs._replace(score_bias=lambda m, q, k: self._zeros(q, k, context))
        return layer.run(m, x, inputs)

    def _memory(self, x: Tensor, context: Context) -> Tensor:
        """Another model's output, assumed to be as long as the sequence."""
        batch, seq, d_model = x.dims
        assert self.memory
        number = context.work.context + 1 if context.work.decodes else seq.size
        length = Dim.of("memory_seq", number, positions=Positions.PAST)
        width = d_model if self.memory == d_model.size else Dim.of("memory", self.memory)
        return context.constant(f"memory of {self.memory}", "act", batch, length, width)

    def _zeros(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        """A bias of zeros; where blocks are recomputed it wants a gradient (transformers, T5Attention.forward)."""
        shape, is_leaf = axes(*q.dims[1:3], k.dims[2]), context.work.style.is_recomputed
        return context.once("a bias of zeros", lambda: Tensor(shape, "act", grad=is_leaf), shape)
