"""Kinds of work: what a matrix product is for, by the role of its weight and the part of the model it is in."""

from __future__ import annotations

from archcalc.analyze.flops.cost import Piece
from archcalc.core.ir import ModuleGroup, Param, Region
from archcalc.core.roles import FEED_FORWARD, Role

CONVOLUTIONS, CELLS, PROJECTIONS, SCORES = "convolutions", "recurrent cells", "projections", "attention scores"
STATES, FEED_FORWARDS, LINEARS, CLASSIFIER = "states", "feed-forward", "linear layers", "classifier"
ADAPTERS = "LoRA adapters"
KINDS_OF_WORK = (
    *(CONVOLUTIONS, CELLS, PROJECTIONS, SCORES, STATES, FEED_FORWARDS, LINEARS, ADAPTERS),
    *("embedding", "head", CLASSIFIER, "elementwise"),
)
BY_ROLE = {
    Role.CONVOLUTION: CONVOLUTIONS,
    Role.RECURRENT: CELLS,
    Role.CELL: CELLS,
    Role.SCORES: SCORES,
    Role.ADAPTER: ADAPTERS,
    **dict.fromkeys((*FEED_FORWARD, Role.SHARED_SCALE, Role.LATENT_IN, Role.LATENT_OUT), FEED_FORWARDS),
}


def kind_of(piece: Piece) -> str:
    """The kind of work that an op belongs to."""
    if not piece.matrix:
        return "elementwise"
    roles = {tensor.storage.weight_role for tensor in piece.op.inputs if isinstance(tensor.storage, Param)}
    group = piece.module.group
    if group in (ModuleGroup.HEAD, ModuleGroup.EMBEDDING):
        return CLASSIFIER if Role.CLASSIFIER in roles else str(group)
    if not roles:  # states along a sequence (Mamba's, a delta net's, sums of kernel attention) are one kernel's
        module = piece.module
        while module.is_section and module.region != Region.KERNEL and module.parent:
            module = module.parent
        return STATES if module.region == Region.KERNEL else SCORES
    rest = LINEARS if group is None else PROJECTIONS  # what stands in no block is a layer of its own
    return next((BY_ROLE[role] for role in roles if role in BY_ROLE), rest)
