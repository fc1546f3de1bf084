"""The kinds of op that forward code may record, one line each."""

from __future__ import annotations

KINDS = {
    "contract": "multiply, and sum over named dims: linear layers and attention's two products",
    "add": "sum of two tensors: biases, residuals, position encodings",
    "multiply": "elementwise product: gates, scales",
    "norm": "layer or RMS normalisation over the last dim",
    "activation": "elementwise nonlinearity",
    "softmax": "softmax over one dim",
    "dropout": "random mask while training",
    "rotate": "rotary position encoding of queries or keys",
    "lookup": "rows of a table, chosen by index",
    "repeat": "copies along a dim: keys and values shown to every head of their group",
    "input": "what enters the model",
    "view": "the same storage seen along other axes",
    "show": "a shape to look at, not a tensor",
}
