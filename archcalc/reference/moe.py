"""A mixture of experts in plain PyTorch: tokens sorted by expert, each expert in turn, then sorted back.

Attention may have expert projections of queries and outputs too (JetMoE), eager or by a flash kernel.
"""

from collections.abc import Callable
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import Attention
from archcalc.reference.layers import ACTIVATIONS, FFN_NAMES, FeedForward, add, make_norm, plus, run, weight_if
from archcalc.reference.scan import Cache
from archcalc.reference.selective import as_one_op


class Mixture(nn.Module):
    """A router, routed experts, and a shared expert."""

    def __init__(self, layer: Config, d_model: int) -> None:
        super().__init__()
        self.layer = layer
        width = layer["latent"] or d_model
        self.router = Router(layer, d_model)
        if layer["latent"]:
            self.latent_in = nn.Linear(d_model, width, bias=layer["latent_bias"])
            self.latent_out = nn.Linear(width, d_model, bias=layer["latent_bias"])
        if layer["latent_norm"]:
            self.latent_norm = nn.RMSNorm(width)
        self.experts = Experts(layer, width)
        self.bias = weight_if(layer["out_bias"], d_model)
        if layer["shared"]:
            self.shared = FeedForward(layer["shared"], d_model)
        if layer["shared_gate"]:
            self.shared_gate = nn.Linear(d_model, 1, bias=False)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        weights, chosen = self.router(given["residual"] if self.layer["router_norm"] else x)
        found = self.experts(run(self, "latent_in", x), weights, chosen)
        answer = run(self, "latent_out", run(self, "latent_norm", found))
        answer = plus(answer, self.bias)
        if not self.layer["shared"]:
            return answer
        shared = self.shared(x, given)
        if self.layer["shared_gate"]:
            shared = shared * torch.sigmoid(self.shared_gate(x))
        return answer + shared


class Router(nn.Module):
    """The largest few of all shares, and which experts they are of."""

    def __init__(self, layer: Config, d_model: int) -> None:
        super().__init__()
        self.top, self.experts = layer["top"], layer["experts"]
        scored = layer["experts"] + layer.get("zero", 0)  # those without weights behind the others
        self.weight = nn.Parameter(torch.empty(scored, d_model).normal_(std=d_model**-0.5))
        self.bias = weight_if(layer["router_bias"], scored)
        add(self, "norm", make_norm({"kind": layer.get("router_norm"), "affine": True, "bias": True}, d_model))
        self.scale = weight_if(layer.get("expert_scale"), layer["experts"], start=torch.ones)
        if layer["correction"] == "parameter":  # shifts which experts are chosen; nothing while it is zero
            self.correction = nn.Parameter(torch.zeros(scored), requires_grad=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        shares = nn.functional.linear(run(self, "norm", x), self.weight, self.bias).softmax(dim=-1)
        weights, chosen = shares[..., : self.experts].topk(self.top)  # none of those without weights is chosen
        if self.scale is not None:
            weights = weights * self.scale[chosen]
        return weights, chosen


class Experts(nn.Module):
    """Every expert on the tokens routed to it."""

    def __init__(self, layer: Config, width: int) -> None:
        super().__init__()
        each = layer["each"]
        self.layer, self.act, inner = layer, ACTIVATIONS[each["act"]], each["width"]
        *into, out = FFN_NAMES[bool(each["gated"])]
        for name in into:
            self.add_module(name, ExpertLinear(layer, width, inner))
        self.add_module(out, ExpertLinear(layer, inner, width))

    def forward(self, x: Tensor, weights: Tensor, chosen: Tensor) -> Tensor:
        answers = in_turn(x.flatten(0, 1), chosen, self.layer["experts"], self._answers)
        return (answers * weights[..., None]).sum(dim=-2)

    def _answers(self, routed: Tensor, sizes: list[int]) -> Tensor:
        if not self.layer["each"]["gated"]:
            return self.get_submodule("out")(self.act(self.get_submodule("in")(routed, sizes)), sizes)
        hidden = self.act(self.get_submodule("gate")(routed, sizes)) * self.get_submodule("up")(routed, sizes)
        return self.get_submodule("down")(hidden, sizes)


def in_turn(rows: Tensor, chosen: Tensor, experts: int, answer: Callable[[Tensor, list[int]], Tensor]) -> Tensor:
    """Answers to every choice of every token, (batch, seq, top, width): rows of tokens or of their choices, sorted by
    expert, answered, and sorted back."""
    order = chosen.flatten().argsort(stable=True)
    routed = rows[order // (chosen.numel() // len(rows))].view(*chosen.shape, -1)
    whole, rest = divmod(chosen.numel(), experts)
    sizes = [whole + (expert < rest) for expert in range(experts)]  # on the meta device, where nobody knows, all alike
    if chosen.device.type != "meta":
        sizes = chosen.flatten().bincount(minlength=experts).tolist()
    return answer(routed, sizes).flatten(0, 2)[order.argsort()].view(*chosen.shape, -1)


class ExpertLinear(nn.Module):
    """A linear layer for each expert, their weights in one tensor; those of equally many tokens are one product."""

    def __init__(self, layer: Config, into: int, out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(layer["experts"], out, into).normal_(std=into**-0.5))
        self.bias = weight_if(layer["each"]["bias"], layer["experts"], out)

    def forward(self, x: Tensor, sizes: list[int]) -> Tensor:
        runs = [(size, len(list(alike))) for size, alike in groupby(sizes)]
        experts, rows = [number for _, number in runs], [size * number for size, number in runs]
        biases: Any = [None] * len(runs)
        if self.bias is not None:
            biases = self.bias[:, None].split(experts)
        given = zip(runs, x.flatten(0, 2).split(rows), self.weight.split(experts), biases, strict=True)
        found = [_linear(some.view(number, size, -1), *weights) for (size, number), some, *weights in given if size]
        return torch.cat(found).view(*x.shape[:-1], -1)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Several experts beside each other: (experts, tokens, width)."""
    with as_one_op():
        answers = x @ weight.mT
    return plus(answers, bias).flatten(0, 1)


class Queries(nn.Module):
    """A projection for each expert, on the tokens that chose it: (batch, seq, top, heads of one expert)."""

    def __init__(self, mixture: Config, d_model: int, width: int) -> None:
        super().__init__()
        self.experts = mixture["experts"]
        self.q = ExpertLinear(mixture, d_model, width)

    def forward(self, x: Tensor, chosen: Tensor) -> Tensor:
        return in_turn(x.flatten(0, 1), chosen, self.experts, self.q)


class Answers(nn.Module):
    """The output projection of the selected experts, weighted and summed."""

    def __init__(self, mixture: Config, d_model: int, width: int, bias: bool) -> None:
        super().__init__()
        self.experts = mixture["experts"]
        self.out = ExpertLinear(mixture, width, d_model)
        self.bias = weight_if(bias, d_model)

    def forward(self, found: Tensor, weights: Tensor, chosen: Tensor) -> Tensor:
        answers = in_turn(found.reshape(chosen.numel(), -1), chosen, self.experts, self.out)
        return plus((answers * weights[..., None]).sum(dim=-2), self.bias)


class RoutedAttention(Attention):
    """Keys and values are shared by all experts."""

    def _add_queries_and_output(self, d_model: int) -> None:
        """Those of the experts, in the place of one each."""
        mixture = {**self.part["routed"], "router_bias": False, "correction": "", "each": {"bias": False}}
        width = self.heads // mixture["top"] * self.head_dim
        self.router, self.experts = Router(mixture, d_model), Queries(mixture, d_model, width)
        self.experts_out = Answers(mixture, d_model, width, "o" in self.part["bias"])

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Cache | None = None) -> Tensor:
        weights, chosen = self.router(x)
        q = self._normed("q_norm", self.experts(x, chosen).flatten(2))
        q = self._rotated(q, given).transpose(1, 2)
        k, v = self._keys_and_values(x, given, cache)
        found = self._core(q, k, v, given).transpose(1, 2).reshape(x.shape[0], x.shape[1], -1)
        answers: Tensor = self.experts_out(found, weights, chosen)
        return answers
