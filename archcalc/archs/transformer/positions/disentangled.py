"""Disentangled positions (DeBERTa): scores of content with positions and of positions with content; the computation is
in `archcalc.layers.disentangled`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator

from archcalc.archs.transformer.nodes import list_as_tuple
from archcalc.archs.transformer.positions.encoding import Bucketed, Places, Reader, Site
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Tensor
from archcalc.layers.attention import Attention, Heads
from archcalc.layers.attention_inputs import Inputs
from archcalc.spec.node import field

WORD = "disentangled"
_SERVES = {"q": "p2c", "k": "c2p"}  # the term that a projection of positions is for
Terms = Annotated[tuple[Literal["c2p", "p2c"], ...], BeforeValidator(list_as_tuple)]
OwnProjections = Annotated[tuple[Literal["q", "k"], ...], BeforeValidator(list_as_tuple)]


class Disentangled(Bucketed):
    on_scores: ClassVar[bool] = True
    needs: ClassVar[dict[str, int]] = {"buckets": 256}
    terms: Terms = field(
        ("c2p", "p2c"),
        "What disentangled attention adds to the scores: content looking at positions, positions looking at content.",
        example=["c2p"],
    )
    project: OwnProjections = field(
        (), "Projections that the table of disentangled positions has of its own.", example=["q", "k"]
    )
    norm: bool = field(False, "A norm on the table of disentangled positions.", example=True)

    @property
    def is_of_stack(self) -> bool:
        return True

    def check(self, site: Site) -> None:
        super().check(site)
        for projection in self.project:
            if _SERVES[projection] not in self.terms:
                fact = f"a projection {projection} of positions is for the term {_SERVES[projection]}"
                raise InputError(fact, "add the term, or leave the projection out", fields=site.places)

    def check_layer(self, layer: Heads, at: Places) -> None:
        """Positions may reuse the query and key projections, which must then give one vector per head."""
        if layer.sight.causal:
            hint = "use them in an encoder; a decoder takes rope, alibi or relative"
            raise InputError("disentangled positions are for bidirectional attention", hint, fields=at("position"))
        if layer.kv_heads != layer.heads:
            fact = f"disentangled positions are projected for {layer.heads} heads of keys, not {layer.kv_heads}"
            raise InputError(fact, "leave kv_heads out", fields=at("kv_heads"))
        if "p2c" in self.terms and "q" not in self.project and isinstance(layer, Attention):
            _check_plain_queries(layer, at)

    def prepare(self, stack: Module, reader: Reader) -> Tensor:
        """One embedding for each relative position."""
        from archcalc.layers.disentangled import distance_table

        assert self.buckets
        width, is_read = reader.x.dims[-1], bool(self.terms)
        make = partial(distance_table, stack["position"], width, self.buckets, normed=self.norm, read=is_read)
        return reader.context.once("distances", make)

    def given_to(self, reader: Reader, inputs: Inputs) -> Inputs:
        if not self.terms:
            return inputs
        scores = partial(self._scores, reader=reader)
        return inputs._replace(score_bias=scores, reads_projections=True)

    def _scores(self, m: Module, q: Tensor, k: Tensor, *, reader: Reader) -> Tensor:
        from archcalc.layers.disentangled import Disentangled as PositionScores

        assert reader.prepared
        distances = reader.context.constant("distances", "index", q.dims[2], k.dims[2])
        layer = PositionScores(self.terms, self.project, reader.dropout)
        return layer.run(m, q, k, reader.prepared, distances, reader.context.work)


def _check_plain_queries(layer: Attention, at: Places) -> None:
    besides = {"gate": (layer.gate == "query", "also produces a gate"), "experts": (layer.routed, "belongs to experts")}
    for name, (holds, what) in besides.items():
        if holds:
            fact = f"relative positions reuse the query projection, which here {what}"
            raise InputError(fact, "give positions their own projection: `project: [q]`", fields=at(name))


ENCODING = Disentangled
