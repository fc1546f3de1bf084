"""DeBERTa's disentangled attention in plain PyTorch: content scores plus relative-position scores."""

import math
from functools import reduce

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import Attention, said_of, split_heads
from archcalc.reference.layers import Dropout, run


class Distances(nn.Module):
    """A vector for every distance to either side, for all blocks of a stack."""

    def __init__(self, settings: Config, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2 * settings["buckets"], width))
        if settings["norm"]:
            self.norm = nn.LayerNorm(width)

    def forward(self) -> Tensor:
        return run(self, "norm", self.weight)


def distance_rows(settings: Config, length: int, device: torch.device) -> Tensor:
    """The row of a query's distance to a key: near ones each their own, far ones by their logarithm."""
    places = torch.arange(length, device=device)
    distance, buckets, longest = places[:, None] - places[None, :], settings["buckets"], settings["length"] or 0
    if longest > buckets:
        near = buckets // 2
        steps = torch.log(distance.abs().clamp(min=1) / near) / math.log((longest - 1) / near) * (near - 1)
        far = (torch.ceil(steps).long() + near) * distance.sign()
        distance = torch.where(distance.abs() <= near, distance, far)
    return (distance + buckets).clamp(0, 2 * buckets - 1)


class DisentangledAttention(Attention):
    """score(i, j) = q_i·k_j + q_i·key(distance) + k_j·query(distance), over √((1 + terms) · head_dim)."""

    def __init__(self, part: Config, d_model: int, memory_width: int, options: dict[str, str]) -> None:
        super().__init__(part, d_model, memory_width, options)
        settings = said_of(part, "disentangled")
        self.terms = settings["terms"]
        self.scale = math.sqrt((1 + len(self.terms)) * self.head_dim)
        self.table_dropout = Dropout(part["dropout"])
        for name in settings["project"]:
            width, biased = self.heads * self.head_dim, name in part["bias"]
            self.add_module(f"position_{name}", nn.Linear(d_model, width, bias=biased))

    def _core(self, q: Tensor, k: Tensor, v: Tensor, given: dict[str, Tensor]) -> Tensor:
        """Queries and keys are read twice: laid out once, so that they are kept once."""
        return super()._core(q.contiguous(), k.contiguous(), v, given)

    def _bias(self, given: dict[str, Tensor], q: Tensor, k: Tensor) -> Tensor | None:
        """Both are looked up among the products with every distance: distances from key to query are those from query
        to key, transposed."""
        if not self.terms:
            return None
        table = self.table_dropout(given[f"table {self.part['name']}"])
        rows = given[f"distances {self.part['name']}"]
        found = {
            "c2p": lambda: self._picked(q, table, "k", rows),
            "p2c": lambda: self._picked(k, table, "q", rows.mT).mT,
        }
        return reduce(torch.add, [found[term]() / self.scale for term in self.terms])

    def _picked(self, content: Tensor, table: Tensor, name: str, rows: Tensor) -> Tensor:
        """Distances are projected on their own, or by what projects words."""
        batch, heads = content.shape[:2]
        projection = self._modules.get(f"position_{name}") or self.get_submodule(name).forward
        projected = projection(table)
        vectors = split_heads(projected[None], self.head_dim).transpose(1, 2).repeat(batch, 1, 1, 1)
        return (content @ vectors.mT).gather(-1, rows.expand(batch, heads, *rows.shape))
