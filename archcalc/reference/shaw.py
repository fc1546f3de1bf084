"""Shaw's relative positions in plain PyTorch: a vector for each clipped distance, added to keys and to values."""

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import Attention, said_of
from archcalc.reference.layers import attended
from archcalc.reference.sight import hidden_from


class ShawAttention(Attention):
    """Scores q_i·(k_j + a_K)/√d and outputs Σ α·(v_j + a_V), with vectors a of the clipped distance j − i."""

    def __init__(self, part: Config, d_model: int, memory_width: int, options: dict[str, str]) -> None:
        super().__init__(part, d_model, memory_width, options)
        settings = said_of(part, "shaw")
        rows = 2 * settings["distance"] + 1
        self.relative_keys = nn.Embedding(rows, self.head_dim)
        if settings["values"]:
            self.relative_values = nn.Embedding(rows, self.value_dim)

    def _core(self, q: Tensor, k: Tensor, v: Tensor, given: dict[str, Tensor]) -> Tensor:
        distances = given[f"distances {self.part['name']}"][:, -k.shape[2] :]
        scores = by_position(q, self.relative_keys(distances).mT) / self.scale
        values = None
        if hasattr(self, "relative_values"):
            values = self.relative_values(distances)
        return attended(self.options, self._eager, q, k, v, hidden_from(self.part, given), scores, values)

    def _mixed(self, weights: Tensor, v: Tensor, values: Tensor | None = None) -> Tensor:
        found = super()._mixed(weights, v)
        if values is None:
            return found
        return found + by_position(weights, values)


def by_position(x: Tensor, vectors: Tensor) -> Tensor:
    """x of (batch, heads, queries, n) with (queries, n, m): a matrix product for each query, of all batches and heads.

    Copied in any case, or what is kept would depend on whether the batch is 1."""
    batch, heads, queries, _ = x.shape
    rows = x.permute(2, 0, 1, 3).clone(memory_format=torch.contiguous_format).view(queries, batch * heads, -1)
    return (rows @ vectors).view(queries, batch, heads, -1).permute(1, 2, 0, 3)
