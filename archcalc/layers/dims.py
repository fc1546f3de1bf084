"""Dims that many layers make, with how tensor parallelism splits them: `heads_of(32)`."""

from __future__ import annotations

from functools import partial

from archcalc.core.ir import Dim
from archcalc.core.positions import Positions
from archcalc.core.splits import EVENLY, LAST_SHORTER, OR_COPIED

heads_of = partial(Dim.of, "heads", copies=True, split=EVENLY)  # of attention: every GPU computes some of them
kv_heads_of = partial(Dim.of, "kv_heads", copies=True, split=OR_COPIED)  # of fewer than GPUs, several store the same
ffn_of = partial(Dim.of, "ffn", split=EVENLY)  # the inner width of a feed-forward layer
vocab_of = partial(Dim.of, "vocab", split=LAST_SHORTER)  # rows of a token embedding, or logits over the vocabulary
sequence_of = partial(Dim.of, positions=Positions.SEQUENCE)  # the input tokens: `seq`, or `src_seq` and `tgt_seq`
