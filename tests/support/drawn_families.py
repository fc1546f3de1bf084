"""Random valid specs of every family, and how many of each are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings

from support.drawn_networks import networks
from support.drawn_parts import models_of_parts
from support.drawn_recent import listeners, recent_decoders, towers_of_patches
from support.drawn_recurrent import autoencoders, recurrent_nets, seq2seqs, words
from support.drawn_sequences import sequences
from support.drawn_specs import sparse_transformers, transformers, vision_transformers
from support.drawn_states import decoders_with_states

FAMILIES = {
    "encoders": (transformers("encoder"), 25),
    "decoders": (transformers("decoder"), 25),
    "decoders with states": (decoders_with_states(), 45),
    "models with experts": (sparse_transformers(), 20),
    "encoder-decoders": (transformers("encoder-decoder"), 25),
    "vision Transformers": (vision_transformers(), 15),
    "recurrent nets": (recurrent_nets(), 20),
    "seq2seq nets": (seq2seqs(), 15),
    "autoencoders": (autoencoders(), 10),
    "word2vec": (words(), 6),
    "networks": (networks(), 40),
    "networks of sequences": (sequences(), 40),
    "recent decoders": (recent_decoders(), 30),
    "towers of patches": (towers_of_patches(), 30),
    "encoders of recordings": (listeners(), 30),
    "models of parts": (models_of_parts(), 60),
}


def for_all(number: int, **strategies: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """So many examples of them."""
    return lambda test: settings(max_examples=number)(given(**strategies)(test))
