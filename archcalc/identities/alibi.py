"""ALiBi: a penalty on each attention score that grows linearly with distance, with a slope for each head."""

from __future__ import annotations

import torch
from torch import Tensor, softmax

from archcalc.identities.finding import Findings, Value, corrected, measured_at, right, wrong
from archcalc.identities.measure import gap, gaussian

N, D = 12, 8
SHOWN = 5  # the query whose bias is printed


def geometric(heads: int) -> Tensor:
    """m_h = 2^(−8h/n) for h = 1 … n."""
    return 2.0 ** (-8 * torch.arange(1, heads + 1, dtype=torch.float64) / heads)


def slopes(heads: int) -> Tensor:
    """As Press et al. (2022) define them for every n.

    Between two powers of two the lower one's slopes come first; every other slope of the upper one, which lie
    between those, makes up the number.
    """
    power = 2 ** (heads.bit_length() - 1)
    return torch.cat([geometric(power), geometric(2 * power)[0::2][: heads - power]])


def alibi_slopes() -> Findings:
    """A geometric series where n is a power of two, and two interleaved ones where it is not."""
    eight = torch.tensor([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256], dtype=torch.float64)
    twelve = 2.0 ** -torch.tensor([1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5], dtype=torch.float64)
    heads = (1, 2, 4, 8, 16, 32)
    powers = max(gap(slopes(n), geometric(n)) for n in heads)
    return measured_at(
        "n = 12 heads",
        right("m_h = 2^(−8h/n)", powers).only_if("n is a power of two").at(f"n = {', '.join(map(str, heads))} heads"),
        right("slopes ½, ¼, … 1/256", gap(slopes(8), eight)).at("n = 8 heads"),
        wrong("m_h = 2^(−8h/n) for every n", gap(geometric(12), twelve)),
        corrected("slopes 2^−1 … 2^−8, then 2^−½ … 2^−3½", gap(slopes(12), twelve)),
    )


def alibi_bias() -> Findings:
    """The bias −m_h·(i−j) on the score of query i with key j ≤ i."""
    i = torch.arange(N, dtype=torch.float64)
    bias = -slopes(8)[:, None, None] * (i[:, None] - i[None, :])
    normal = gaussian(seed=14)
    scores = normal(N, D) @ normal(N, D).T
    later = torch.ones(N, N).triu(1).bool()

    def weights(added: Tensor) -> Tensor:
        return softmax((scores + added).masked_fill(later, -torch.inf), dim=-1)

    by_key = (slopes(8)[:, None, None] * i).expand_as(bias)  # a row's constant −m_h·i cancels in its softmax
    vectors = [slopes(8)[:, None] * torch.arange(1 - query, 1, dtype=torch.float64) for query in range(1, N + 1)]
    written = max(gap(bias[:, query, : query + 1], vector) for query, vector in enumerate(vectors))
    fade = weights(bias)[:, 1:, :-1] / weights(torch.zeros_like(bias))[:, 1:, :-1]
    step = (fade.diff(dim=-1) / fade[..., :-1]).tril()  # along j < i: e^m − 1 a place, in every row
    per_place = (slopes(8).exp() - 1)[:, None, None].expand_as(step).tril()
    shown = Value(f"i = {SHOWN}, m_1 = ½", (tuple(vectors[SHOWN - 1][0].tolist()),))
    return measured_at(
        f"{N} positions, 8 heads",
        right("query i gets m_h·[−(i−1), …, −2, −1, 0]", written).showing(shown),
        right("−m_h(i−j) is the same for all pairs i−j apart", gap(bias[:, 1:, 1:], bias[:, :-1, :-1])),
        right("a place further off divides a weight by e^m_h", gap(step, per_place)),
        right("m_h·j alone gives the same weights (softmax)", gap(weights(bias), weights(by_key))),
    )
