"""Multi-head and grouped-query attention: eager, or by a flash kernel."""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference.fused import SOFTCAP, FusedAttention, Scores, is_written_out
from archcalc.reference.layers import add, attended, dropped, make_norm, masked, plus, run, weight_if
from archcalc.reference.positions import differences, rotate
from archcalc.reference.scan import Cache, known
from archcalc.reference.sight import hidden_from
from archcalc.reference.windows import in_windows

ON_SCORES = ("relative", "disentangled", "shaw", "transformer-xl")  # what they add is learned


def is_flash(part: dict[str, Any], options: dict[str, str]) -> bool:
    """No flash kernel adds a learned table to the scores: relative positions are computed eagerly."""
    table = any(settings["kind"] in ON_SCORES for settings in part["positions"])
    return options["attention"] == "flash" and part["feature"] == "softmax" and not table


def said_of(part: dict[str, Any], kind: str) -> dict[str, Any]:
    """The settings of a kind of positions that an attention has."""
    return next(settings for settings in part["positions"] if settings["kind"] == kind)


def softmax(scores: Tensor, part: dict[str, Any]) -> Tensor:
    """In the scores' own numbers, or in fp32 and cast back, as many classes of transformers compute it."""
    if part["softmax"] == "fp32":
        return scores.softmax(dim=-1, dtype=torch.promote_types(scores.dtype, torch.float32)).to(scores.dtype)
    return scores.softmax(dim=-1)


class RelativePositions(nn.Embedding):
    """A number for each head and bucket of distances: (heads, queries, keys)."""

    def forward(self, distances: Tensor) -> Tensor:
        return super().forward(distances).permute(2, 0, 1)


def relative_table(part: dict[str, Any], settings: dict[str, Any]) -> RelativePositions:
    """A row for each bucket, or for each difference of rows and columns of an image's patches."""
    return RelativePositions(settings["buckets"] or differences(part["patches"]), part["heads"])


def normed_width(settings: dict[str, Any], heads: int, head_dim: int) -> int:
    """Of what is normed at once: a head, or all of them."""
    if settings["over"] == "all":
        return heads * head_dim
    return head_dim


def misfit(part: dict[str, Any]) -> str:
    """Norms of queries or keys that cannot be computed, or nothing."""
    settings = part["qk_norm"]
    if not settings["width"] or not settings["affine"] or settings["over"] == "heads":
        return ""
    for heads, weights in ((part["heads"], settings["width"][0]), (part["kv_heads"], settings["width"][-1])):
        numbers = normed_width(settings, heads, part["head_dim"])
        if weights != numbers:
            return f"PyTorch builds a norm of {weights} weights on {numbers} numbers, and cannot run it"
    return ""


class HeadNorm(nn.Module):
    """A norm of queries or keys: each head alone, (batch, seq, heads, head_dim), or all as one vector."""

    def __init__(self, settings: dict[str, Any], heads: int, head_dim: int, width: int | None) -> None:
        super().__init__()
        self.over, self.kind = settings["over"], settings["kind"]
        shape: tuple[int, ...] = (width or normed_width(settings, heads, head_dim),)
        if self.over == "heads":
            shape = (heads, head_dim)
        biased = settings["affine"] and settings["bias"] and self.kind == "layer"
        self.weight = weight_if(settings["affine"], *shape, start=torch.ones)
        self.bias = weight_if(biased, *shape)

    def forward(self, x: Tensor) -> Tensor:
        if self.over != "heads" or self.weight is None:
            return self._normed(x, self.weight, self.bias)
        biases: Any = self.bias
        if self.bias is None:
            biases = [None] * x.shape[2]
        each = zip(x.unbind(2), self.weight, biases, strict=True)
        return torch.stack([self._normed(head, weight, bias) for head, weight, bias in each], dim=2)

    def _normed(self, x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
        if self.kind == "layer":
            return nn.functional.layer_norm(x, x.shape[-1:], weight, bias)
        return nn.functional.rms_norm(x, x.shape[-1:], weight)


class Attention(nn.Module):
    """q, k, v and out; `path` tells its keys and values in a cache from those of other layers."""

    def __init__(self, part: dict[str, Any], d_model: int, memory_width: int, options: dict[str, str]) -> None:
        super().__init__()
        self.part, self.options, self.path = part, options, ""
        self.is_read = False  # by a later block, which reads its keys and values
        self.heads, self.kv_heads, self.head_dim = part["heads"], part["kv_heads"], part["head_dim"]
        self.value_dim, bias = part["v_dim"] or self.head_dim, part["bias"]
        looked_at = d_model
        if part["cross"]:
            looked_at = part["memory"] or memory_width
        inner = self.heads * self.value_dim
        self.scale = math.sqrt(self.head_dim)
        if not part["kv_of"]:
            self.k = nn.Linear(looked_at, self.kv_heads * self.head_dim, bias="k" in bias)
        if not part["kv_of"] and part["makes"] != "qk":
            self.v = nn.Linear(looked_at, self.kv_heads * self.value_dim, bias="v" in bias)
        self._add_queries_and_output(d_model)
        gates = {"own": inner, "head": self.heads}
        if part["gate"] in gates:
            self.gate = nn.Linear(d_model, gates[part["gate"]], bias=False)
        add(self, "out_norm", make_norm({"kind": part["out_norm"], "affine": True, "bias": True}, inner))
        self._add_options(part, d_model)

    def _add_options(self, part: dict[str, Any], d_model: int) -> None:
        """What few attentions have: norms of queries and keys, second projections, sinks, a table of distances."""
        if part["qk_norm"]:
            widths = part["qk_norm"]["width"] or [None]  # one for both, or of each
            self.q_norm = HeadNorm(part["qk_norm"], self.heads, self.head_dim, widths[0])
            if not part["kv_of"]:
                self.k_norm = HeadNorm(part["qk_norm"], self.kv_heads, self.head_dim, widths[-1])
        if part["v_norm"] and not part["kv_of"]:
            self.v_norm = HeadNorm(part["v_norm"], self.kv_heads, self.value_dim, None)
        if part["global_qkv"]:
            keys, values = self.kv_heads * self.head_dim, self.kv_heads * self.value_dim
            widths = {"q": self.heads * self.head_dim, "k": keys, "v": values}  # queries without a gate
            for name in part["makes"]:
                self.add_module(f"{name}_global", nn.Linear(d_model, widths[name], bias=name in part["bias"]))
        if part["sinks"]:
            self.sinks = nn.Parameter(torch.zeros(self.heads))
        for settings in part["positions"]:
            if settings["kind"] == "relative" and settings["per"] == "block":
                self.position = relative_table(part, settings)

    def _add_queries_and_output(self, d_model: int) -> None:
        """The projections around the heads."""
        bias, queries = self.part["bias"], self.heads * self.head_dim
        if self.part["gate"] == "query":
            queries *= 2
        self.q = nn.Linear(d_model, queries, bias="q" in bias)
        self.out = nn.Linear(self.heads * self.value_dim, d_model, bias="o" in bias)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Cache | None = None) -> Tensor:
        q, gate = self.q(x), None
        if self.part["gate"] == "query":  # copied apart, or what is kept would depend on sizes
            halves = q.unflatten(-1, (self.heads, 2 * self.head_dim)).chunk(2, dim=-1)
            q, gate = (half.clone().flatten(2) for half in halves)
        q = self._rotated(self._normed("q_norm", q), given).transpose(1, 2)
        k, v = self._keys_and_values(x, given, cache)
        if hasattr(self, "gate"):
            gate = self.gate(x)
        found = self._core(q, k, v, given).transpose(1, 2).reshape(x.shape[0], x.shape[1], -1)
        if gate is not None and self.part["gate"] == "head":  # a number for each head, or for each of its values
            found = (split_heads(found, self.value_dim) * torch.sigmoid(gate)[..., None]).flatten(2)
        elif gate is not None:
            found = found * torch.sigmoid(gate)
        return self.out(run(self, "out_norm", found))

    def _normed(self, name: str, x: Tensor, width: int | None = None) -> Tensor:
        """Split into heads, and normed before or after that."""
        norm, width = self._modules.get(name), width or self.head_dim
        if norm is None:
            return split_heads(x, width)
        if norm.over == "all":
            return split_heads(norm(x), width)
        normed: Tensor = norm(split_heads(x, width))
        return normed

    def _core(self, q: Tensor, k: Tensor, v: Tensor, given: dict[str, Tensor]) -> Tensor:
        core: Any = self._eager
        more: tuple[Tensor | None, ...] = (hidden_from(self.part, given), self._bias(given, q, k))
        if is_flash(self.part, self.options):
            core, more = self._flash, ()
        if self.part["windows"]:
            core = partial(in_windows, core, self.part)
        return attended(self.options, core, q, k, v, *more)

    def _rotated(self, x: Tensor, given: dict[str, Tensor]) -> Tensor:
        cosines, sines = (given.get(f"{name} {self.part['name']}") for name in ("cosines", "sines"))
        if cosines is None or sines is None:
            return x
        return rotate(x, cosines[:, None], sines[:, None])

    def _keys_and_values(self, x: Tensor, given: dict[str, Tensor], cache: Cache | None) -> tuple[Tensor, Tensor]:
        """Of this sequence behind what is cached: of a first call all, of later ones what was kept. Of the encoder's
        output once for all tokens; those that an earlier block handed on."""
        if self.part["kv_of"]:
            return given[f"keys {self.part['kv_of']}"], given[f"values {self.part['kv_of']}"]
        both = self._own_keys_and_values(x, given, cache)
        if self.is_read:
            given |= {f"keys {self.part['name']}": both[0], f"values {self.part['name']}": both[1]}
        return both

    def _own_keys_and_values(self, x: Tensor, given: dict[str, Tensor], cache: Cache | None) -> tuple[Tensor, Tensor]:
        names = f"{self.path}.keys", f"{self.path}.values"
        before = [one for one in (known(cache, name) for name in names) if one is not None]
        if self.part["cross"] and before:
            return before[0], before[1]
        if self.part["cross"]:
            x = given["memory"]
        made = self.k(x)
        k = self._rotated(self._normed("k_norm", made), given).transpose(1, 2)
        if self.part["makes"] != "qk":
            made = self.v(x)
        v = self._normed("v_norm", made, self.value_dim).transpose(1, 2)
        if cache is None:
            return k, v
        whole = (k, v)
        if before:
            whole = torch.cat((before[0], k), dim=2), torch.cat((before[1], v), dim=2)
        kept = self._in_window(whole[0]), self._in_window(whole[1])
        for name, tensor in zip(names, kept, strict=True):
            cache.keep(name, tensor)
        return kept if before else (k, v)

    def _in_window(self, whole: Tensor) -> Tensor:
        """A sliding-window layer caches only its window."""
        widest = self.part["sight"]["window"] or self.part["sight"]["chunk"]
        if not widest or whole.shape[2] <= widest:
            return whole
        return whole[:, :, -widest:].clone()

    def _bias(self, given: dict[str, Tensor], q: Tensor, k: Tensor) -> Tensor | None:
        """The bias that relative positions and ALiBi add to the scores: the stack's table, the block's, or both."""
        of_stack, distances = (given.get(f"{what} {self.part['name']}") for what in ("bias", "distances"))
        if distances is None:
            return of_stack
        return plus(self.position(distances), of_stack)

    def _eager(
        self, q: Tensor, k: Tensor, v: Tensor, hidden: Tensor | None, bias: Tensor | None, values: Tensor | None = None
    ) -> Tensor:
        if self.kv_heads != self.heads:
            k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (k, v))
        scores = q @ k.transpose(-2, -1) / self.scale
        if self.part["softcap"]:
            scores = SOFTCAP * torch.tanh(scores / SOFTCAP)
        if bias is not None:
            scores = scores + bias[..., -k.shape[2] :]
        scores = masked(scores, hidden)  # one name each: what another name holds stays in memory
        weights = self._weights(scores)
        weights = dropped(weights, self.part["weights_dropout"], self.training)
        return self._mixed(weights, v, values)

    def _mixed(self, weights: Tensor, v: Tensor, values: Tensor | None = None) -> Tensor:
        return weights @ v

    def _weights(self, scores: Tensor) -> Tensor:
        """Softmax; attention sinks add one more score per head, whose weight is dropped."""
        if not self.part["sinks"]:
            return softmax(scores, self.part)
        sinks = self.sinks.view(1, -1, 1, 1).expand(*scores.shape[:3], 1)
        return softmax(torch.cat((scores, sinks), dim=-1), self.part)[..., :-1]

    def _flash(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        rate = self.part["weights_dropout"] * self.training
        if is_written_out(self.part):
            return FusedAttention.apply(q, k, v, getattr(self, "sinks", None), None, Scores(self.part, rate))
        causal = self.part["sight"]["causal"] and q.shape[2] == k.shape[2]
        found: Tensor = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, rate, causal)[0]
        return found


def split_heads(x: Tensor, width: int) -> Tensor:
    """Into heads of that width."""
    return x.view(x.shape[0], x.shape[1], -1, width)
