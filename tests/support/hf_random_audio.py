"""Random sizes of models that hear: convolutions over samples or frames, which hang together."""

from __future__ import annotations

import random
from typing import Any

Fields = dict[str, Any]


def _speech(drawn: Fields, rng: random.Random) -> Fields:
    """Groups that divide the width; as many kernels, strides and channels as there are convolutions."""
    number, width = rng.randint(1, 4), drawn["hidden_size"]
    chosen: Fields = {
        "conv_dim": [rng.choice([8, 12, 24, width]) for _ in range(number)],
        "conv_kernel": [rng.randint(2, 10) for _ in range(number)],
        "conv_stride": [rng.randint(1, 3) for _ in range(number)],
        "num_conv_pos_embedding_groups": rng.choice([1, 2, 4]),
        "add_adapter": False,
        "mask_time_prob": rng.choice([0.0, 0.05]),
    }
    return {**chosen, "num_conv_pos_embeddings": rng.choice([3, 8, 16])}


def _with(**choices: list[Any]) -> Any:
    """The same, and fields that one type has besides."""
    return lambda drawn, rng: _speech(drawn, rng) | {name: rng.choice(values) for name, values in choices.items()}


_PRETRAINING: dict[str, list[Any]] = {
    "feat_extract_norm": ["group", "layer"],
    "num_codevectors_per_group": [5, 9],
    "codevector_dim": [8, 12],
    "proj_codevector_dim": [6, 10],
}
AUDIO: dict[str, Any] = {
    "wav2vec2": _with(**_PRETRAINING, adapter_attn_dim=[None, 6]),
    "hubert": _with(feat_extract_norm=["group", "layer"], conv_pos_batch_norm=[False]),
    "wavlm": _with(feat_extract_norm=["group", "layer"], num_buckets=[8, 20]),
    "data2vec-audio": _with(conv_pos_kernel_size=[3, 6, 19], num_conv_pos_embeddings=[1, 3]),
    "unispeech": _with(feat_extract_norm=["group", "layer"]),
    "unispeech-sat": _with(feat_extract_norm=["group", "layer"]),
}
