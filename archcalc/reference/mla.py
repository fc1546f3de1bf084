"""Multi-head latent attention in plain PyTorch: keys and values of all heads from one latent vector.

DeepSeek-V3.2's indexer selects the top-k positions that it attends to.
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import softmax
from archcalc.reference.fused import FusedAttention, Scores, is_written_out
from archcalc.reference.layers import attended, dropped, masked, run
from archcalc.reference.positions import rotate
from archcalc.reference.scan import Cache
from archcalc.reference.sight import hidden_from, unchosen


def as_attention(part: Config) -> Config:
    """Latent attention has the fields that attention has, under names of its own."""
    if part["type"] != "mla":
        return part
    rope = [settings for settings in (part["rope"],) if settings]
    widths = part["widths"]
    sizes = {
        "heads": 0,
        "rotated": widths["rope"],
        "head_dim": widths["nope"] + widths["rope"],
        "v_dim": widths["value"],
    }
    return {**part, **sizes, "positions": rope, "softcap": False, "sinks": False, "feature": "softmax"}


class LatentAttention(nn.Module):
    """A sequence is expanded to full keys and values; a single token attends to the latent vectors (absorbed)."""

    def __init__(self, part: Config, d_model: int, memory_width: int, options: dict[str, str]) -> None:
        super().__init__()
        self.part, self.options, self.path = part, options, ""
        widths = self.widths = part["widths"]
        self.heads, self.nope, self.rope, self.value = (widths[name] for name in ("heads", "nope", "rope", "value"))
        queries, rank, bias = self.heads * (self.nope + self.rope), widths["kv_rank"], part["bias"]
        if widths["q_rank"]:
            self.q_down = nn.Linear(d_model, widths["q_rank"], bias=bias)
            self.q_norm = nn.RMSNorm(widths["q_rank"])
            self.q_up = nn.Linear(widths["q_rank"], queries, bias=False)
        else:
            self.q = nn.Linear(d_model, queries, bias=False)
        self.kv_down = nn.Linear(d_model, rank + self.rope, bias=bias)
        self.kv_norm = nn.RMSNorm(rank)
        self.kv_up = nn.Linear(rank, self.heads * (self.nope + self.value), bias=False)
        self.out = nn.Linear(self.heads * self.value, d_model, bias=bias)
        if part["indexer"]:
            self.indexer = Indexer(part["indexer"], d_model, widths["q_rank"])
        if part["gate"]:
            self.gate = nn.Linear(d_model, self.heads * {"own": self.value}.get(part["gate"], 1), bias=False)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Cache | None = None) -> Tensor:
        batch, seq, _ = x.shape
        squeezed = run(self, "q_norm", run(self, "q_down", x))
        q = run(self, "q", run(self, "q_up", squeezed))
        q = self._rotated(q.view(batch, seq, self.heads, -1), given, self.nope).transpose(1, 2)
        down = self.kv_down(x)
        latent = self.kv_norm(down[..., : self.widths["kv_rank"]])
        shared_key = self._rotated(down[..., self.widths["kv_rank"] :][:, :, None], given, 0)[:, :, 0]
        known = cache is not None and cache.get(f"{self.path}.latent") is not None
        latent = self._appended(f"{self.path}.latent", cache, latent)
        shared_key = self._appended(f"{self.path}.shared_key", cache, shared_key)
        if known:
            found = self._absorbed(q, latent, shared_key, self._chosen(x, squeezed, given, cache))
        else:
            key, value = self._expanded(latent, shared_key)
            found = self._core(q, key, value, given, self._chosen(x, squeezed, given, cache))
        found = found.transpose(1, 2).reshape(batch, seq, -1)
        if self.part["gate"]:
            gate = torch.sigmoid(self.gate(x)).unflatten(-1, (self.heads, -1))  # a number for each value, or each head
            found = (found.unflatten(-1, (self.heads, -1)) * gate).flatten(2)
        return self.out(found)

    @torch.no_grad()
    def _chosen(self, x: Tensor, squeezed: Tensor, given: dict[str, Tensor], cache: Cache | None) -> Tensor | None:
        """Where an indexer points, if there is one; its keys are cached too."""
        if not hasattr(self, "indexer"):
            return None
        tables = tuple(given[f"{name} {self.part['name']}"] for name in ("cosines", "sines") if self.part["rope"])
        keep = partial(self._appended, f"{self.path}.index_keys", cache)
        return self.indexer(x, squeezed, keep, tables, hidden_from(self.part, given))

    def _appended(self, name: str, cache: Cache | None, new: Tensor) -> Tensor:
        """Behind what is cached."""
        if cache is None:
            return new
        before = cache.get(name)
        whole = torch.cat([kept for kept in (before, new) if kept is not None], dim=1)
        cache.keep(name, whole)
        return whole

    def _rotated(self, x: Tensor, given: dict[str, Tensor], start: int) -> Tensor:
        cosines, sines = (given.get(f"{name} {self.part['name']}") for name in ("cosines", "sines"))
        if cosines is None or sines is None:
            return x
        turned = rotate(x[..., start:], cosines[:, None], sines[:, None])
        if not start:
            return turned
        return torch.cat((x[..., :start], turned), dim=-1)

    def _expanded(self, latent: Tensor, shared_key: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of all heads."""
        batch, past, _ = latent.shape
        both = self.kv_up(latent).view(batch, past, self.heads, self.nope + self.value)
        value = both[..., self.nope :].clone().transpose(1, 2)
        shared = shared_key[:, :, None].expand(-1, -1, self.heads, -1)
        return torch.cat((both[..., : self.nope], shared), dim=-1).transpose(1, 2), value

    def _core(self, q: Tensor, key: Tensor, value: Tensor, given: dict[str, Tensor], chosen: Tensor | None) -> Tensor:
        if self.options["attention"] == "flash":
            return attended(self.options, self._flash, q, key, value, chosen)
        hidden = hidden_from(self.part, given)
        if chosen is not None:
            others = unchosen(chosen, key.shape[2])
            hidden = others if hidden is None else others | hidden
        return attended(self.options, self._eager, q, key, value, hidden)

    def _eager(self, q: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> Tensor:
        scores = q @ key.transpose(-2, -1) / math.sqrt(self.nope + self.rope)
        weights = softmax(masked(scores, hidden), self.part)
        return dropped(weights, self.part["weights_dropout"], self.training) @ value

    def _flash(self, q: Tensor, key: Tensor, value: Tensor, chosen: Tensor | None) -> Tensor:
        rate, causal = self.part["weights_dropout"] * self.training, self.part["sight"]["causal"]
        part = as_attention(self.part)
        if is_written_out(part):
            return FusedAttention.apply(q, key, value, None, chosen, Scores(part, rate))
        found: Tensor = torch.ops.aten._scaled_dot_product_flash_attention(q, key, value, rate, causal)[0]
        return found

    def _absorbed(self, q: Tensor, latent: Tensor, shared_key: Tensor, chosen: Tensor | None) -> Tensor:
        """The up-projection is absorbed into the query and the output, instead of expanding every cached position."""
        up = self.kv_up.weight.view(self.heads, self.nope + self.value, -1)
        on_latent = q[..., : self.nope] @ up[:, : self.nope]
        scores = on_latent @ latent[:, None].mT + q[..., self.nope :] @ shared_key[:, None].mT
        scores = scores / math.sqrt(self.nope + self.rope)
        if chosen is not None:
            scores = scores.masked_fill(unchosen(chosen, latent.shape[1]), -math.inf)
        weights = softmax(scores, self.part)
        return weights @ latent[:, None] @ up[:, self.nope :].mT


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
