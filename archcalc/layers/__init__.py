"""Layers, as functions of a Module and its input tensors.

The names of dims, used everywhere with one meaning:

    batch             sequences computed together
    seq               positions of the only sequence there is
    src_seq, tgt_seq  positions of the encoder's and the decoder's sequence, where there are both
    kv_seq            positions that attention looks at (kv_src_seq, kv_tgt_seq likewise)
    d_model           width of the residual stream
    vocab             tokens in the vocabulary
    heads, kv_heads   attention heads; heads that keep keys and values
    head_dim          width of one head
    ffn               inner width of a feed-forward layer
    positions, types  rows of a position or segment table
    buckets           distances that a relative bias tells apart
    hidden            width between a head's two layers; of a recurrent state, an autoencoder's code, a parent in a tree
    input, 2·input    width of what an autoencoder or a recurrent layer reads; of two children side by side
    embedding         width of a token's vector in a recurrent net; projection that of an LSTM's projected state
    gates, directions of a recurrent layer: how many are stacked; forwards, and backwards too
    query, key        widths of the decoder's and the encoder's states in attention between recurrent nets
    context, width    of what such attention finds, and inside its tanh
    classes           answers of a classifier
    channels          colours of an image; height and width are its sides, patch_height and patch_width a patch's
    patches           patches of an image
    tokens            learned vectors in front of the patches
    placed            tokens and patches: what has a position, where registers follow that have none
    features          width of a kernel's feature map
"""
