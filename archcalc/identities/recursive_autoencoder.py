"""The recursive autoencoder: two vectors become one, again and again, until a sentence is one vector."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from archcalc.identities.finding import WHOLE, Findings, corrected, measured_at, right, wrong
from archcalc.identities.measure import filled, gaussian, weights


class RecursiveAutoencoder(nn.Module):
    """p = tanh(W1·[x;x'] + b1), rebuilt as W2·p + b2 and classified as W3·p + b3."""

    def __init__(self, d_p: int, d_x: int, d_c: int) -> None:
        """Children of d_x, parents of d_p, d_c classes."""
        super().__init__()
        self.merge = nn.Linear(2 * d_x, d_p, dtype=torch.float64)
        self.rebuild = nn.Linear(d_p, 2 * d_x, dtype=torch.float64)
        self.classify = nn.Linear(d_p, d_c, dtype=torch.float64)

    def error(self, pair: Tensor) -> float:
        """The reconstruction error of the children from the parent."""
        return float(((self.rebuild(torch.tanh(self.merge(pair))) - pair) ** 2).sum())


def merges(autoencoder: RecursiveAutoencoder, words: list[Tensor]) -> tuple[int, int]:
    """Merges the neighbours that are best rebuilt while any two can be: how often, and how many are left."""
    count = 0
    while len(words) > 1:
        pairs = [torch.cat(two) for two in pairwise(words)]
        if any(len(pair) != autoencoder.merge.in_features for pair in pairs):
            break
        best = min(range(len(pairs)), key=lambda i: autoencoder.error(pairs[i]))
        words = [*words[:best], torch.tanh(autoencoder.merge(pairs[best])), *words[best + 2 :]]
        count += 1
    return count, len(words)


def model(d_p: int, d_x: int, d_c: int) -> RecursiveAutoencoder:
    """One with random weights: how often it merges does not depend on what it has learned."""
    return filled(lambda: RecursiveAutoencoder(d_p, d_x, d_c), gaussian(seed=19))


def recursive_autoencoder() -> Findings:
    """A parent goes where a child went before, so it must be as wide as one."""
    words, d_x = 9, 6
    sentence = list(gaussian(seed=20)(words, d_x))
    count, left = merges(model(d_x, d_x, 2), sentence)
    stuck, _ = merges(model(5, d_x, 2), sentence)
    sizes = [(6, 6, 2), (5, 7, 3), (100, 100, 5)]
    off = [weights(model(p, x, c)) - (4 * p * x + p + 2 * x + c * p + c) for p, x, c in sizes]
    shapes, here = "; ".join(f"{p}, {x}, {c}" for p, x, c in sizes), f"n = {words} words, D_x = {d_x}"
    formula = right("weights: 4·D_p·D_x + D_p + 2·D_x + D_c(D_p+1)", max(map(abs, off)), WHOLE)
    return measured_at(
        here,
        formula.at(f"D_p, D_x, D_c = {shapes}"),
        wrong("n words take n−1 merges for any D_p", abs(stuck - (words - 1)), WHOLE).at(f"{here}, D_p = 5"),
        corrected("n words take n−1 merges", abs(count - (words - 1)), WHOLE).only_if("D_p = D_x"),
        right("n−1 merges leave one vector", abs(left - 1), WHOLE),
    )
