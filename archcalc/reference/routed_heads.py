"""Attention with expert query and output projections (JetMoE), eager or by a flash kernel."""

from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import Attention
from archcalc.reference.cache import Cache
from archcalc.reference.layers import plus, weight_if
from archcalc.reference.moe import ExpertLinear, Router, tokens_by_expert


class Queries(nn.Module):
    """A projection for each expert, on the tokens that chose it: (batch, seq, top, heads of one expert)."""

    def __init__(self, mixture: Config, d_model: int, width: int) -> None:
        super().__init__()
        self.experts = mixture["experts"]
        self.q = ExpertLinear(mixture, d_model, width)

    def forward(self, x: Tensor, chosen: Tensor) -> Tensor:
        order = chosen.flatten().argsort(stable=True)
        routed = x.flatten(0, 1)[order // chosen.shape[-1]].view(*chosen.shape, -1)
        made = self.q(routed, tokens_by_expert(chosen, self.experts))
        return made.flatten(0, 2)[order.argsort()].view(*chosen.shape, -1)


class Answers(nn.Module):
    """The output projection of the selected experts, weighted and summed."""

    def __init__(self, mixture: Config, d_model: int, width: int, bias: bool) -> None:
        super().__init__()
        self.experts = mixture["experts"]
        self.out = ExpertLinear(mixture, width, d_model)
        self.bias = weight_if(bias, d_model)

    def forward(self, found: Tensor, weights: Tensor, chosen: Tensor) -> Tensor:
        order = chosen.flatten().argsort(stable=True)
        apart = found.reshape(order.numel(), -1)[order].view(*chosen.shape, -1)
        answers = self.out(apart, tokens_by_expert(chosen, self.experts))
        back = answers.flatten(0, 2)[order.argsort()].view(*chosen.shape, -1)
        return plus((back * weights[..., None]).sum(dim=-2), self.bias)


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
