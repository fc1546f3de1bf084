"""Attention in one kernel that knows ALiBi, sinks, softcaps and values of another width than keys, as FlashAttention's
does and PyTorch's own does not.

What such a kernel keeps is kept here: queries, keys, values, what was looked up, and the logarithm of each query's sum
in the softmax. Scores are recomputed in the backward pass.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from archcalc.reference import Config
from archcalc.reference.positions import alibi
from archcalc.reference.selective import as_one_op
from archcalc.reference.sight import hidden_from_sight, needs_mask, unchosen

SOFTCAP = 50.0


def is_written_out(part: Config) -> bool:
    """Whether PyTorch's own kernel cannot compute it: bent scores, two widths, or chosen positions."""
    bent = part["softcap"] or part["sinks"] or _has_alibi(part)
    return bool(bent or part.get("indexer") or part["v_dim"] not in (None, part["head_dim"]))


def _has_alibi(part: Config) -> bool:
    return any(settings["kind"] == "alibi" for settings in part["positions"])


@dataclass(frozen=True)
class Scores:
    """How an attention's scores are made of queries and keys, and which of their weights are dropped."""

    part: Config
    dropout: float = 0.0
    seed: int = field(default_factory=lambda: int(torch.randint(2**31, (), device="cpu")))

    def of(self, q: Tensor, k: Tensor, chosen: Tensor | None) -> tuple[Tensor, Tensor]:
        """Scores, and what the gradient of each is multiplied by on its way to q·k."""
        scale = 1 / math.sqrt(q.shape[-1])
        raw = scale * (q @ k.mT)
        slope = torch.full_like(raw, scale)
        if self.part["softcap"]:
            raw = SOFTCAP * torch.tanh(raw / SOFTCAP)
            slope = scale * (1 - (raw / SOFTCAP).square())
        if _has_alibi(self.part):
            raw = raw + alibi(q.shape[1], 0, k.shape[2], q)
        if needs_mask(self.part):
            raw = raw.masked_fill(hidden_from_sight(self.part["sight"], k.shape[2], q.device), -math.inf)
        if chosen is not None:
            raw = raw.masked_fill(unchosen(chosen, k.shape[2]), -math.inf)
        return raw, slope

    def dropped(self, weights: Tensor) -> Tensor:
        """Some of them left out: the same ones whenever it is asked."""
        if not self.dropout:
            return weights
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            stays = torch.rand_like(weights) >= self.dropout
        return weights * stays / (1 - self.dropout)


class FusedAttention(torch.autograd.Function):
    """`sinks` are one more score for each head, whose weight is left out; `chosen` are the places of the only keys that
    each query may look at."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, sinks: Tensor | None, chosen: Tensor | None, scores: Scores
    ) -> Tensor:
        with as_one_op():
            made, _ = scores.of(q, _shown(k, q), chosen)
            wider = made
            if sinks is not None:
                wider = torch.cat((made, _beside(sinks, made)), dim=-1)
            logsumexp = wider.to(torch.promote_types(q.dtype, torch.float32)).logsumexp(dim=-1)
            found = scores.dropped(_weights(made, logsumexp)) @ _shown(v, q)  # (batch, heads, seq, head_dim)
            found = found.transpose(1, 2).contiguous().transpose(1, 2)  # a token's heads are one vector, as in kernels
        ctx.save_for_backward(q, k, v, sinks, chosen, found, logsumexp)
        ctx.scores = scores
        return found

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (q, k, v, sinks, chosen, found, logsumexp), (gradient,) = ctx.saved_tensors, gradients
        keys, values = _shown(k, q), _shown(v, q)
        made, slope = ctx.scores.of(q, keys, chosen)
        weights = _weights(made, logsumexp)
        of_values = ctx.scores.dropped(weights).mT @ gradient
        of_weights = ctx.scores.dropped(gradient @ values.mT)
        level = (gradient * found).sum(dim=-1, keepdim=True)
        of_raw = weights * (of_weights - level) * slope
        of_sinks = None
        if sinks is not None:
            of_sinks = -(_weights(_beside(sinks, made), logsumexp) * level).sum(dim=(0, 2, 3))
        return of_raw @ keys, _gathered(of_raw.mT @ q, k), _gathered(of_values, v), of_sinks, None, None


def _weights(scores: Tensor, logsumexp: Tensor) -> Tensor:
    return torch.exp(scores - logsumexp[..., None]).to(scores.dtype)


def _shown(x: Tensor, q: Tensor) -> Tensor:
    """Keys or values to all heads of their group."""
    return x.repeat_interleave(q.shape[1] // x.shape[1], dim=1)


def _gathered(gradient: Tensor, like: Tensor) -> Tensor:
    """The sum over all heads that looked at the same keys or values."""
    return gradient.unflatten(1, (like.shape[1], -1)).sum(dim=2)


def _beside(sinks: Tensor, scores: Tensor) -> Tensor:
    return sinks.view(1, -1, 1, 1).expand(*scores.shape[:3], 1)
