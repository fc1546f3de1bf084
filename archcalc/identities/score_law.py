"""The law of a score q·k of D independent normals: its variance is D, but it is not normal."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from archcalc.identities.finding import Bound, Findings, Value, corrected, measured_at, right, wrong

WIDTHS = (1, 2, 4, 16, 64, 128)
HEAD, SHOWN = 64, (1, 16, 64)
# The product of two three-point Gauss-Hermite rules (nodes ±√3 and 0): it is −3, 0 or 3. A term q_i·k_i has the same
# moments up to the fifth, so the sum of D such terms has the second and fourth moments of q·k to the last digit.
STEP, ASIDE, MIDDLE = 3.0, 1 / 18, 8 / 9
CLOSE = Bound(0.1, "close to normal is taken to mean: a kurtosis of 3 to a tenth")


def law(d: int) -> tuple[Tensor, Tensor]:
    """The places of the sum of d terms and their probabilities: the law of one term convolved d times."""
    probability = torch.ones(1, dtype=torch.float64)
    for _ in range(d):
        lower, same, upper = (pad(probability, sides) for sides in ((0, 2), (1, 1), (2, 0)))
        probability = ASIDE * lower + MIDDLE * same + ASIDE * upper
    return STEP * torch.arange(-d, d + 1, dtype=torch.float64), probability


def variance_and_kurtosis(d: int) -> tuple[float, float]:
    """E[s²] and E[s⁴]/E[s²]² of s = q·k. The kurtosis of every normal variable is 3."""
    place, probability = law(d)
    second, fourth = float(probability @ place**2), float(probability @ place**4)
    return second, fourth / second**2


def score_law() -> Findings:
    """Given q, the score is normal with variance ‖q‖²; over all q it is a mixture, with longer tails."""
    known = {d: variance_and_kurtosis(d) for d in WIDTHS}
    variance = max(abs(second / d - 1) for d, (second, _) in known.items())
    off = max(abs(kurtosis - (3 + 6 / d)) for d, (_, kurtosis) in known.items())
    too_large = abs(known[HEAD][1] - 3)
    return measured_at(
        f"D = {', '.join(map(str, WIDTHS))}",
        wrong("q·k is normal: its kurtosis is 3", too_large).at(f"D = {HEAD}"),
        corrected("its kurtosis is 3 + 6/D", off).showing(*(Value(f"D = {d}", known[d][1]) for d in SHOWN)),
        right("its variance is D all the same", variance),
        right("q·k is close to normal", too_large, CLOSE).only_if("D ≫ 6").at(f"D = {HEAD}"),
    )
