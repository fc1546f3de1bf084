"""Which part of a model a module belongs to, and which stretches of it analyses treat as a unit."""

from __future__ import annotations

from enum import StrEnum


class Region(StrEnum):
    """Regions of a forward pass that analyses treat as a unit."""

    BLOCK = "block"  # one layer of a stack: what activation checkpointing recomputes and FSDP gathers
    CORE = "core"  # attention between its projections: scores, softmax, weighted values
    INDEXER = "indexer"  # what chooses the positions that attention looks at
    KERNEL = "kernel"  # ops that one fused kernel computes, storing nothing in between
    MIXTURE = "mixture"  # a mixture of experts: router, experts and the expert that every token visits
    EXPERTS = "experts"  # of it, what only the chosen experts compute, from sorting tokens to adding up
    PRODUCT = "product"  # two tensors of a sample, neither a weight, multiplied as matrices
    LOSS = "loss"
    STEP = "step"  # one position of a recurrent net, called for each


class ModuleGroup(StrEnum):
    """The part of the model that a module belongs to, by which parameter counts are broken down."""

    EMBEDDING = "embedding"
    BLOCKS = "blocks"
    HEAD = "head"
