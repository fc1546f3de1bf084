"""DeepSeek-V3.2's indexer in plain PyTorch: selects the top-k positions that attention attends to."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.positions import rotate

Keep = Callable[[Tensor], Tensor]


class Indexer(nn.Module):
    """score = Σ over heads of weight · relu(query · key); the selection has no gradient."""

    def __init__(self, settings: Config, d_model: int, q_rank: int) -> None:
        super().__init__()
        self.heads, self.width, self.top = settings["heads"], settings["head_dim"], settings["top"]
        self.q = nn.Linear(q_rank, self.heads * self.width, bias=False)
        self.k = nn.Linear(d_model, self.width, bias=False)
        self.k_norm = nn.LayerNorm(self.width)
        self.weights = nn.Linear(d_model, self.heads, bias=False)

    def forward(
        self, x: Tensor, squeezed: Tensor, keep: Keep, rotation: tuple[Tensor, ...] | None, hidden: Tensor | None
    ) -> Tensor:
        """The places of those positions that each one may look at: (batch, seq, top). One key is for all heads; `keep`
        puts keys behind those of earlier calls."""
        q = self.q(squeezed).unflatten(-1, (self.heads, self.width))
        k = self.k_norm(self.k(x))
        if rotation:
            q, k = rotate(q, *(table[:, None] for table in rotation)), rotate(k, *rotation)
        k = keep(k)
        scores = torch.relu(q.transpose(1, 2) @ k[:, None].mT / math.sqrt(self.width))
        weights = self.weights(x) / math.sqrt(self.heads)
        summed = (weights[:, :, None] @ scores.transpose(1, 2)).squeeze(2)
        if hidden is not None and hidden.dim() == 4:
            hidden = hidden[:, 0]
        if hidden is not None:
            summed = summed.masked_fill(hidden, -math.inf)
        places = torch.arange(k.shape[1], device=k.device, dtype=k.dtype)
        summed = summed - 1e-9 * places  # relu makes equal scores: of those the first are chosen
        return summed.topk(min(self.top, k.shape[1])).indices


def unchosen(chosen: Tensor, past: int) -> Tensor:
    """True where a position was not selected: (batch, 1, seq, past)."""
    marks = torch.ones(*chosen.shape[:2], past, dtype=torch.bool, device=chosen.device)
    return marks.scatter(-1, chosen, False)[:, None]
