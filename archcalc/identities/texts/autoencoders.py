"""Autoencoders: what is said about their identities."""

from __future__ import annotations

from archcalc.identities.description import About
from archcalc.identities.sources import BALDI, KUNIN, SOCHER

ABOUT = {
    "linear-autoencoder": About(
        "the optimum of a linear autoencoder with weight decay",
        ("pca", "regularized", "weight decay", "lambda", "λ", "W2 = W1ᵀ", "transpose", "principal"),
        (
            "Loss: ‖X − W2·W1·X‖² + λ(‖W1‖² + ‖W2‖²). Multiplying W1 by r and W2 by 1/r changes the penalty only.",
            "The gradients by W1 and W2 together give W1·W1ᵀ = W2ᵀ·W2 at every optimum, and there W2 = W1ᵀ.",
            "In a direction of variance σ², shrunk to s² in all, it is σ²(1−s²)² + 2λs²: least at s² = 1 − λ/σ².",
            "The k strongest directions are kept: W1 = √(1−λ/σ²)·U_kᵀ, up to a rotation of the code.",
        ),
        (KUNIN, BALDI),
    ),
    "pseudo-inverse": About(
        "the decoder is the encoder's transpose, not inverse",
        ("W1⁺", "pinv", "W2", "transpose", "lambda", "λ", "moore-penrose"),
        (
            "At the optimum W1 = s·U_kᵀ and W2 = U_k·s with s = √(1−λ/σ²) < 1.",
            "W1's pseudo-inverse is U_k/s: it grows where W2 shrinks. They differ by 1/s − s, about λ/σ².",
            "Only as λ → 0 does s → 1, and W2 = W1ᵀ = W1⁺.",
        ),
        (KUNIN,),
    ),
    "bottleneck": About(
        "W2·W1 of a bottleneck is a projection, not I",
        ("W2W1", "W2·W1 ≈ I", "identity", "projection", "rank", "pca", "singular values", "undercomplete"),
        (
            "W2·W1 is an m × m matrix of rank k at most, and I has rank m: for k < m they cannot be equal.",
            "Without λ the optimum is W2·W1 = U_k·U_kᵀ, which projects onto the k strongest directions.",
            "I − U_k·U_kᵀ projects onto the other m−k directions: its norm is √(m−k), 1.73 for k = 3 of m = 6.",
            "With λ > 0 each kept direction is shrunk: singular values 1 − λ/σ², all below 1.",
        ),
        (BALDI, KUNIN),
    ),
    "recursive-autoencoder": About(
        "its parameters, and when its tree ends",
        ("tree", "merge", "socher", "parameters", "words", "D_p = D_x"),
        (
            "W1 is D_p × 2D_x, W2 is 2D_x × D_p, W3 is D_c × D_p; biases D_p, 2D_x and D_c.",
            "Together 4·D_p·D_x + D_p + 2·D_x + D_c·D_p + D_c.",
            "A merge replaces two vectors by one: n words become one vector after n−1 merges.",
            "A parent takes a word's place in the next merge, so it must be as wide: D_p = D_x.",
        ),
        (SOCHER,),
    ),
}
