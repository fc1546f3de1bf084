"""The glossary of dim names and their meanings.

Some names are composed: `kv_seq` is made of `seq`, `input+hidden` of two widths side by side, `2·input` of two equal
ones, `seq_of_window` of `seq`, `frames_1` of `frames` and a number. `meaning` takes them apart.
"""

from __future__ import annotations

import re

DIMS = {
    # sequences and batches
    "batch": "sequences computed together",
    "seq": "positions of the sequence, in a model with one stack",
    "src_seq": "positions of the encoder's sequence, in an encoder-decoder",
    "tgt_seq": "positions of the decoder's sequence, in an encoder-decoder",
    "memory_seq": "positions that cross-attention attends to, when another model or part provides them",
    "part_seq": "positions of a part of a larger model that no option chooses, such as an image's patches",
    "text_seq": "tokens or vectors of an input, beside which other parts' positions may stand in one sequence",
    "samples": "images of all sequences, where each has several",
    "others": "samples of the batch, as what each sample of another tower is compared with",
    "padded_positions": "positions of a sequence, with zeros at both ends",
    "windows": "windows of all samples, numbered by layer: attention looks at one of them at a time",
    "vocab": "tokens in the vocabulary",
    "positions": "rows of a position table; numbered, the positions of a sequence in a network",
    "types": "rows of a segment table",
    "sides": "rows and columns of an image, with a position table each",
    "layers": "layers whose outputs or last states are stacked",
    "one": "a single number",
    "two": "two numbers, such as the seed and the offset of a random generator",
    # widths of the model
    "d_model": "width of the residual stream",
    "embedding_width": "width of the embedding tables, if it is not d_model",
    "memory": "width of the states that cross-attention attends to, when another model provides them",
    "ffn": "inner width of a feed-forward layer",
    "blocks": "blocks that have vectors of their own for each token (per-layer embeddings)",
    "per_layer": "width of such a vector",
    "joined": "width of all concatenated embedding tables",
    "joined_rows": "rows of a table that is concatenated with the token embedding",
    "joined_width": "width of a table that is concatenated with the token embedding",
    # attention
    "heads": "attention heads, or heads of a state-space layer",
    "kv_heads": "heads of keys and values (KV heads)",
    "head_dim": "width of one head's query and key",
    "v_dim": "width of one head's value, if it is not head_dim",
    "v_heads": "value heads of Gated DeltaNet",
    "query_and_gate": "a query and its gate, from one projection",
    "rotated": "numbers of a head that RoPE rotates",
    "buckets": "buckets of a relative position bias",
    "distances": "relative positions with an embedding each (DeBERTa, Shaw, Transformer-XL)",
    "padded_distances": "the same and a zero in front, which shifts rows to their places (Transformer-XL)",
    "segment_memory": "positions of earlier segments that are kept for the next one (Transformer-XL)",
    "kv_seq_and_sink": "positions that attention attends to, plus the attention sink",
    "norm_width": "weights of a QK norm whose size does not fit the query or key",
    "score": "a number for each earlier sum that is attended to (attention to residuals)",
    "features": "width of a kernel's feature map; numbered, the width of a vector, or of each position, in a network",
    "expert_heads": "width of all heads of one expert together",
    # latent attention
    "q_rank": "width of the latent vector of queries (q_lora_rank)",
    "kv_rank": "width of the latent vector of keys and values, which is cached (kv_lora_rank)",
    "nope_dim": "width of a head's key without position",
    "rope_dim": "width of the rotated key that all heads share",
    "query_dim": "width of a query: nope_dim and rope_dim",
    "key_and_value": "width of a head's key without position and of its value, concatenated",
    "latent_and_rope": "width of the latent vector and of the rotated key, concatenated",
    "index_heads": "heads of an indexer",
    "index_dim": "width of an indexer's head",
    "chosen": "positions that an indexer selects",
    "key_blocks": "blocks of keys, of which an indexer selects some",
    # compressed attention
    "entries": "compressed entries that attention looks at, behind its window",
    "made": "entries that the positions at hand become",
    "series": "vectors that a position has for entries: two where entries overlap",
    "rate": "positions that one compressed entry is made of",
    "entry_dim": "width of a compressed entry",
    "kv_seq_and_entries": "positions of the window, and the compressed entries behind them",
    "group_dim": "width of the outputs of one group of heads",
    "out_rank": "width that the outputs of a group of heads are projected to",
    # hyper-connections
    "streams": "residual streams",
    "other_streams": "residual streams, as columns of the matrix that mixes them",
    "all_streams": "width of all residual streams, concatenated",
    "mixing": "weights that read, write and mix the streams of one position",
    "mixed": "the same, as rows of the matrix that they are computed with",
    "scales": "learned factors of such weights: one for reading, one for writing, one for mixing",
    "rounds": "times that the rows and columns of a mixing matrix are divided by their sums",
    # mixtures of experts
    "experts": "experts of a mixture",
    "top": "experts that a token is routed to",
    "latent": "width that experts work at, if it is not d_model",
    # states along the sequence
    "inner": "channels of a state-space layer",
    "x_and_gate": "the inner channels and their gate, from one projection",
    "state": "state size of each channel; in a recurrent cell the width of h",
    "states": "chunks whose state is stored, and the state before the first",
    "dt_rank": "rank of the step size projection (dt_rank)",
    "dt_b_c": "step size, B and C of a Mamba layer, concatenated",
    "groups": "groups: of heads that share B and C, of channels in a convolution",
    "inner_b_c": "channels, B and C of a Mamba-2 layer, concatenated",
    "gate_inner_b_c_dt": "output width of a Mamba-2 layer's input projection",
    "norm_groups": "groups of inner channels that are normalised separately",
    "in_group": "channels of one such group",
    "conv": "positions that a causal convolution reads",
    "conv_state": "positions before the current one that a causal convolution caches",
    "q_k_v": "queries, keys and values of Gated DeltaNet, concatenated",
    "q_k_v_gate": "the same and their gate",
    "decay_and_rate": "projection to the decay and learning rate of Gated DeltaNet",
    "squeezed": "rank of the decay and gate projections of Kimi Delta Attention",
    "b_c_v": "both gates and the values of a gated convolution, concatenated",
    "block": "output channels of one head of a recurrent unit's gate",
    "block_in": "input channels of one head of a recurrent unit's gate",
    "chunk": "positions of one chunk",
    "chunks": "chunks in the sequence",
    "chunk_sees": "positions that a chunk attends to: its own, and some before and behind it",
    "other": "key positions within the chunk",
    "rest": "positions of the last, shorter chunk",
    "rests": "number of such shorter chunks: one",
    "earlier": "chunks that pass a state on",
    "later": "chunks that receive a state",
    # images and sound
    "channels": "channels of an image or a map, numbered layer by layer; channels of a depthwise gated convolution",
    "height": "rows of an image's pixels or of a map",
    "width": "columns of an image's pixels or of a map; channels of a recurrent unit; width of additive attention",
    "patch_height": "rows of a patch's pixels",
    "patch_width": "columns of a patch's pixels",
    "patches": "patches of an image",
    "tokens": "learned vectors in front of the patches",
    "placed": "class token and patches, which have positions, unlike registers",
    "frames": "frames of a spectrogram; numbered after each convolution",
    "mels": "mel bands of a spectrogram",
    "waveform": "samples of a recording",
    "padded_seq": "positions of a convolution with one more than it reads, which is dropped",
    "gate_terms": "numbers that a gate of a relative position bias is the sum of",
    "share": "a head's part of the width that attention reads",
    "kernel": "positions that a convolution reads",
    "depth": "planes of a three-dimensional map",
    "length": "places of a one-dimensional map",
    "kernel_depth": "planes of a filter or a pooling window",
    "kernel_height": "rows of a filter or a pooling window",
    "kernel_width": "columns of a filter or a pooling window",
    "kernel_length": "places of a filter or a pooling window",
    "slopes": "learned slopes of a PReLU",
    "channels_in": "input channels of one group of a convolution",
    "channels_out": "output channels of one group of a convolution",
    # heads of the model
    "classes": "answers of a classifier",
    "hidden": "width between a head's two layers; of a recurrent state, an autoencoder's code, a parent in a tree",
    "pooled": "width of a pooler's output",
    "projected": "width that a classifier's input is projected to",
    "transformed": "width of the dense layer before a head",
    "class_and_mean": "the class token and the mean of all patches, concatenated",
    "hidden_and_token": "a hidden state and the next token's embedding, concatenated for multi-token prediction",
    # recurrent nets and autoencoders
    "input": "input width of an autoencoder or a recurrent layer",
    "embedding": "width of a token's vector in a recurrent net",
    "gates": "gates of a recurrent cell, stacked",
    "directions": "directions that a recurrent layer reads in: one or two",
    "projection": "width of an LSTM's projected state",
    "peepholes": "gates with a peephole connection to an LSTM's cell",
    "biases": "biases of each gate that Keras stacks",
    "handed_over": "width of the encoder's last states, if the decoder starts from them",
    "query": "width of the decoder's state, in attention between recurrent nets",
    "key": "width of the encoder's states, in attention between recurrent nets",
    "context": "width of the context vector of such attention",
    "fed": "width of the attention output that is fed back into the next step",
    "words_around": "words around the one that is predicted, in CBOW",
    "candidates": "words that are scored in negative sampling: the true one and the drawn ones",
    "pool_heads": "heads of attention pooling, each with a vector v",
    "gain": "the learned length of a normed score vector: one number",
    "offset": "the bias of a score: one number",
    # tensors of a file, whose axes have no names
    "rows": "first axis of a stored matrix",
    "columns": "second axis of a stored matrix",
    "axis": "an axis of a stored tensor that no layer uses; numbered",
}


OF_WINDOW = "_of_window"


def meaning(name: str) -> str | None:
    """The meaning of a dim name, composed names included; None for a name that is not in the glossary."""
    if name in DIMS:
        return DIMS[name]
    if "+" in name:
        parts = [meaning(part) or "" for part in name.split("+")]
        return f"side by side: {'; '.join(parts)}" if all(parts) else None
    for start, about in (("2·", "two side by side: "), ("kv_", "looked at by attention: ")):
        if name.startswith(start):
            inner = meaning(name.removeprefix(start))
            return f"{about}{inner}" if inner else None
    without_number = re.sub(r"_\d+", "", name)
    if without_number.endswith(OF_WINDOW):
        inner = meaning(without_number.removesuffix(OF_WINDOW))
        return f"in one window: {inner}" if inner else None
    return DIMS.get(without_number)
