"""Input sizes: batch size and sequence lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from archcalc.spec.option import option
from archcalc.spec.option_checks import size

WITH_CACHE = ("decode", "infer")  # modes in which `context` says how many tokens are cached


@dataclass(frozen=True)
class Sizes:
    """The sizes as given; None is filled in from the spec or by a default."""

    batch: int | None = option(
        "Batch size: sequences computed together.",
        size,
        metavar="SIZE",
        also=("batch_size", "micro_batch_size"),
        first=True,
    )
    seq: int | None = option(
        "Sequence length (source and target).",
        size,
        metavar="SIZE",
        also=("sequence_length", "seq_length", "seq_len"),
        first=True,
    )
    src_seq: int | None = option(
        "Sequence length of the encoder.", size, metavar="SIZE", also=("encoder_seq_length", "max_source_length")
    )
    tgt_seq: int | None = option(
        "Sequence length of the decoder.", size, metavar="SIZE", also=("decoder_seq_length", "max_target_length")
    )
    context: int | None = option(
        "Context length: tokens in the KV cache. Decode: before the new token.",
        size,
        metavar="SIZE",
        modes=WITH_CACHE,
        also=("context_length", "max_model_len", "ctx_size"),
        first=True,
    )

    def given(self) -> dict[str, Any]:
        """By name, without those that were left out."""
        return {name: number for name, number in vars(self).items() if number is not None}
