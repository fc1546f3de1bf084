"""Transformer-XL: a memory of earlier segments, and scores with the sinusoids of distances; the computation is in
`archcalc.layers.transformer_xl`."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from archcalc.archs.transformer.positions.encoding import RELATIVE, Encoding, Places, Reader, Site
from archcalc.core.errors import InputError, Path
from archcalc.core.ir import Dim, Module, Tensor
from archcalc.layers.attention import Attention, Heads
from archcalc.layers.attention_inputs import Inputs
from archcalc.layers.transformer_xl import CONTENT, POSITION, head_bias, position_scores, with_bias
from archcalc.spec.node import Size, field

WORD = "transformer-xl"


class TransformerXL(Encoding):
    on_scores: ClassVar[bool] = True
    needs: ClassVar[dict[str, int]] = {"memory": 150}
    memory: Size | None = field(
        None,
        "Transformer-XL: how many positions of earlier segments each attention looks at, besides its own segment.",
        example=150,
        unset="needed by transformer-xl",
    )
    shared: bool = field(
        True,
        "Transformer-XL: all blocks of a stack share the biases u and v, or each block has its own.",
        example=False,
    )

    @property
    def is_of_stack(self) -> bool:
        return self.shared

    def check(self, site: Site) -> None:
        super().check(site)
        self.check_pairs(site)

    def check_layer(self, layer: Heads, at: Places) -> None:
        """It looks back from a segment, at all of its memory, with scores that nothing bends."""
        if not layer.sight.causal:
            fact = "transformer-xl positions are for causal attention, which looks back at earlier segments"
            hint = "write them under decoder; an encoder takes relative, shaw, rope or alibi"
            raise InputError(fact, hint, fields=at("position"))
        has: dict[str, object] = {"window": layer.sight.window, "chunk": layer.sight.chunk}
        if isinstance(layer, Attention):
            has |= {"softcap": layer.softcap, "experts": layer.routed}
        for name, is_set in has.items():
            if is_set:
                fact = f"attention with transformer-xl positions has no {name}"
                raise InputError(fact, f"leave {name} out", fields=at(name))

    def check_one_table(self, layers: list[Heads], at: list[Path]) -> None:
        if len({(layer.heads, layer.head_dim) for layer in layers}) > 1:
            fact = "one pair of biases u and v for the stack, but attention layers with different heads"
            raise InputError(fact, "give each block its own: `shared: false`", fields=at)

    def prepare(self, stack: Module, reader: Reader) -> None:
        """u and v, for all blocks of the stack."""
        m = stack["position"]
        m.words.title = m.words.term = RELATIVE
        for name in (CONTENT, POSITION):
            reader.context.once(name, partial(_head_bias, m, name, reader.layer))

    def given_to(self, reader: Reader, inputs: Inputs) -> Inputs:
        return inputs._replace(
            score_bias=lambda m, q, k: self._scores(m, q, reader),
            content_queries=lambda m, q: _with_bias(m, q, CONTENT, reader),
        )

    def _scores(self, m: Module, q: Tensor, reader: Reader) -> Tensor:
        """Queries and v with all distances, from the whole memory and segment to none."""
        past = reader.past
        distances = Dim("distances", past.size)
        encodings = reader.context.constant("sinusoids of distances", "act", distances, reader.x.dims[-1])
        return position_scores(m, _with_bias(m, q, POSITION, reader), encodings, past)


def _with_bias(m: Module, q: Tensor, name: str, reader: Reader) -> Tensor:
    """Queries and u or v: the stack's, or the block's own."""
    shared = reader.context.shared.get((name, ()))
    return with_bias(m, q, name, shared or _head_bias(m, name, reader.layer))


def _head_bias(m: Module, name: str, layer: Heads) -> Tensor:
    return head_bias(m, name, *layer.projections[0].out)


ENCODING = TransformerXL
