"""The glossary of dim names: what each of them counts, wherever it stands.

Some names are composed: `kv_seq` is made of `seq`, `input+hidden` of two widths side by side, `2·input` of two equal
ones, `frames_1` of `frames` and a number. `meaning` takes them apart.
"""

from __future__ import annotations

import re

DIMS = {
    # sequences and batches
    "batch": "sequences computed together",
    "seq": "positions of the only sequence there is",
    "src_seq": "positions of the encoder's sequence, where there is a decoder too",
    "tgt_seq": "positions of the decoder's sequence, where there is an encoder too",
    "memory_seq": "positions of what cross-attention reads, where another model gives it",
    "vocab": "tokens in the vocabulary",
    "positions": "rows of a position table",
    "types": "rows of a segment table",
    "layers": "layers whose outputs or last states are stacked",
    "one": "a single number",
    "two": "two numbers, such as the seed and the offset of a random generator",
    # widths of the model
    "d_model": "width of the residual stream",
    "embedding_width": "width of the embedding tables, where that is not d_model",
    "memory": "width of what cross-attention reads, where another model gives it",
    "ffn": "inner width of a feed-forward layer",
    "joined": "width of all embedding tables whose rows are put side by side",
    "joined_rows": "rows of a table that is joined with the token table",
    "joined_width": "width of a table that is joined with the token table",
    # attention
    "heads": "attention heads, or heads of a state-space layer",
    "kv_heads": "heads that keep keys and values",
    "head_dim": "width of one head's query and key",
    "v_dim": "width of one head's value, where that is not head_dim",
    "v_heads": "heads of values in a delta net",
    "query_and_gate": "a query and its gate, made by one projection",
    "rotated": "numbers of a head that RoPE turns",
    "buckets": "distances that a relative bias tells apart",
    "distances": "distances to both sides that have a vector each (DeBERTa)",
    "kv_seq_and_sink": "positions that attention looks at, and the sink",
    "norm_width": "weights of a query or key norm that does not fit what it norms",
    "features": "width of a kernel's feature map",
    "expert_heads": "width of one expert's heads together",
    # latent attention
    "q_rank": "width of the narrow vector that queries are made of",
    "kv_rank": "width of the narrow vector that keys and values are made of, which is cached",
    "nope_dim": "width of a head's key without position",
    "rope_dim": "width of the rotated key that all heads share",
    "query_dim": "width of a query: nope_dim and rope_dim",
    "key_and_value": "width of a head's key without position and of its value, side by side",
    "latent_and_rope": "width of the latent vector and of the rotated key, side by side",
    "index_heads": "heads of an indexer",
    "index_dim": "width of an indexer's head",
    "chosen": "positions that an indexer chooses",
    # mixtures of experts
    "experts": "experts of a mixture",
    "top": "experts that a token visits",
    "latent": "width that experts work at, where that is not d_model",
    # states along the sequence
    "inner": "channels of a state-space layer",
    "x_and_gate": "the inner channels and their gate, made by one projection",
    "state": "numbers that each channel keeps; in a recurrent cell the width of h",
    "states": "chunks whose state is kept, and the state before the first",
    "dt_rank": "width of the narrow vector that step sizes are made of",
    "dt_b_c": "step size, B and C of a Mamba layer, side by side",
    "groups": "bundles: of heads that share B and C, of channels in a convolution",
    "inner_b_c": "channels, B and C of a Mamba-2 layer, side by side",
    "gate_inner_b_c_dt": "all that a Mamba-2 layer projects its input to",
    "norm_groups": "shares of the inner channels that are normalised by themselves",
    "in_group": "channels of one such share",
    "conv": "positions that a causal convolution reads",
    "conv_state": "positions before the current one that a causal convolution keeps",
    "q_k_v": "queries, keys and values of a delta net, side by side",
    "q_k_v_gate": "the same and their gate",
    "decay_and_rate": "what a delta net's decay and learning rate are made of",
    "squeezed": "width of the narrow vector that a Kimi delta net's decays and gate are made of",
    "b_c_v": "both gates and the values of a gated convolution, side by side",
    "block": "channels that one head of a recurrent unit's gate makes",
    "block_in": "channels that one head of a recurrent unit's gate reads",
    "chunk": "positions of one chunk that is computed at once",
    "chunks": "chunks in the sequence",
    "other": "positions of the chunk that are looked back at",
    "rest": "positions of the last, shorter chunk",
    "rests": "how many such chunks there are: one",
    "earlier": "chunks that hand a state on",
    "later": "chunks that a state is handed to",
    # images and sound
    "channels": "colours of an image; of a gated convolution, each convolved by itself",
    "height": "rows of an image's pixels",
    "width": "columns of an image's pixels; channels of a recurrent unit; inside the tanh of additive attention",
    "patch_height": "rows of a patch's pixels",
    "patch_width": "columns of a patch's pixels",
    "patches": "patches of an image",
    "tokens": "learned vectors in front of the patches",
    "placed": "tokens and patches: what has a position, where registers follow that have none",
    "frames": "frames of a spectrogram; numbered behind a convolution",
    "mels": "mel bands of a spectrogram",
    "kernel": "positions that a convolution reads",
    "channels_in": "channels of one group that a convolution reads",
    "channels_out": "channels of one group that a convolution makes",
    # heads of the model
    "classes": "answers of a classifier",
    "hidden": "width between a head's two layers; of a recurrent state, an autoencoder's code, a parent in a tree",
    "pooled": "width of a pooler's output",
    "projected": "width that a classifier's input is projected to",
    "transformed": "width of the dense layer in front of a head",
    "class_and_mean": "the class token and the mean of all patches, side by side",
    "hidden_and_token": "what multi-token prediction joins: the block before and the next token",
    # recurrent nets and autoencoders
    "input": "width of what an autoencoder or a recurrent layer reads",
    "embedding": "width of a token's vector in a recurrent net",
    "gates": "gates of a recurrent cell, stacked",
    "directions": "directions that a recurrent layer reads in: one or two",
    "projection": "width of an LSTM's projected state",
    "peepholes": "gates that see an LSTM's cell",
    "biases": "biases of each gate that Keras stacks",
    "handed_over": "width of the encoder's last states, where a decoder starts from them",
    "query": "width of the decoder's state, in attention between recurrent nets",
    "key": "width of the encoder's states, in attention between recurrent nets",
    "context": "width of what such attention finds",
    "fed": "width of the attention output that is fed back into the next step",
    "gain": "the learned length of a normed score vector: one number",
    "offset": "the bias of a score: one number",
    # tensors of a file, whose axes have no names
    "rows": "first axis of a stored matrix",
    "columns": "second axis of a stored matrix",
    "axis": "an axis of a stored tensor that no layer reads; numbered",
}


def meaning(name: str) -> str | None:
    """What a dim of this name counts, composed names included; None for a name that is not in the glossary."""
    if name in DIMS:
        return DIMS[name]
    if "+" in name:
        return _together(name.split("+"))
    if name.startswith("2·"):
        return _prefixed("two side by side: ", meaning(name.removeprefix("2·")))
    if name.startswith("kv_"):
        return _prefixed("looked at by attention: ", meaning(name.removeprefix("kv_")))
    without_number = re.sub(r"_\d+", "", name)
    return DIMS.get(without_number)


def _together(names: list[str]) -> str | None:
    parts = [meaning(name) for name in names]
    known = [part for part in parts if part]
    return f"side by side: {'; '.join(known)}" if len(known) == len(names) else None


def _prefixed(prefix: str, text: str | None) -> str | None:
    return f"{prefix}{text}" if text else None
