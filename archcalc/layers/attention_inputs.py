"""What attention reads besides x: masks, rotations, an encoder's output, an earlier block's keys and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from archcalc.core.ir import Dim, Module, Tensor
from archcalc.layers.windowed import Windows
from archcalc.spec.workload import Workload

ScoreBias = Callable[[Module, Tensor, Tensor], Tensor]  # what is added to the scores, given the module, q and k
Queries = Callable[[Module, Tensor], Tensor]  # what keys are compared with, given the module and q
ValueVectors = Callable[[Module, Dim], Tensor]  # what is added to the values of each pair, given their width
Rotation = tuple[Tensor, Tensor]  # cosines and sines, one row for each position
KeysAndValues = tuple[Tensor, Tensor]


class Inputs(NamedTuple):
    work: Workload
    memory: Tensor | None = None  # the encoder's output, where attention looks at that and not at x
    rotation: Rotation | None = None
    mask: Tensor | None = None
    score_bias: ScoreBias | None = None
    value_vectors: ValueVectors | None = None
    content_queries: Queries | None = None
    windows: tuple[Windows, ...] = ()  # of an image's patches, where each looks at those of its own window alone
    alibi: bool = False  # for a kernel, which computes that bias itself; eagerly it comes as a score bias
    reads_projections: bool = False  # a position encoding multiplies with q's and k's matrices, so each is its own
    earlier: KeysAndValues | None = None  # an earlier block's, which are read in the place of its own
    hand_on: Callable[[KeysAndValues], None] | None = None  # takes them, for later blocks to read
