"""Dims that many layers make, with how tensor parallelism splits them."""

from __future__ import annotations

from archcalc.core.ir import Dim
from archcalc.core.positions import Positions
from archcalc.core.splits import EVENLY, LAST_SHORTER, OR_COPIED


def heads_of(number: int) -> Dim:
    """Attention heads: every GPU computes some of them."""
    return Dim.of("heads", number, copies=True, split=EVENLY)


def kv_heads_of(number: int) -> Dim:
    """KV heads; with fewer heads than GPUs, several GPUs store copies of the same head."""
    return Dim.of("kv_heads", number, copies=True, split=OR_COPIED)


def ffn_of(width: int) -> Dim:
    """The inner width of a feed-forward layer."""
    return Dim.of("ffn", width, split=EVENLY)


def vocab_of(rows: int) -> Dim:
    """Rows of a token embedding, or logits over the vocabulary."""
    return Dim.of("vocab", rows, split=LAST_SHORTER)


def sequence_of(name: str, length: int) -> Dim:
    """The input tokens: `seq`, or `src_seq` and `tgt_seq`."""
    return Dim.of(name, length, positions=Positions.SEQUENCE)
