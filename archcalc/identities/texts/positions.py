"""Position encodings: what is said about their identities."""

from __future__ import annotations

from archcalc.identities.description import About
from archcalc.identities.sources import ALIBI, GEHRING, ROPE, SHAW, VASWANI

ABOUT = {
    "sinusoidal": About(
        "one rotation T(k) moves an encoding on by k",
        ("sine", "cosine", "positional encoding", "relative", "shift", "transformer"),
        (
            "E_t holds the pairs (sin tθ_i, cos tθ_i), θ_i = 10000^(−2i/d).",
            "sin (t+k)θ = cos kθ·sin tθ + sin kθ·cos tθ, and cos (t+k)θ = −sin kθ·sin tθ + cos kθ·cos tθ.",
            "Both are linear in the pair, with the matrix ((cos kθ, sin kθ), (−sin kθ, cos kθ)): no t stands in it.",
            "T(k) has these blocks along its diagonal. Each is a rotation, so T(k)ᵀT(k) = I and T(j)T(k) = T(j+k).",
        ),
        (f"{VASWANI}, section 3.5",),
    ),
    "shift-matrix": About(
        "T(k) written out: its signs and its frequencies",
        (
            "sinusoidal",
            "transpose",
            "sign",
            "exponent",
            "rotation",
            "lambda",
            "λ_m",
            "Φ",
            "10000",
            "positional encoding",
        ),
        (
            "E_t = (sin tθ_0, cos tθ_0, …): the sine comes first in each pair.",
            "Row 1 of a block gives sin (t+k)θ = cos kθ·sin tθ + sin kθ·cos tθ: (cos kθ, sin kθ).",
            "Row 2 gives cos (t+k)θ = −sin kθ·sin tθ + cos kθ·cos tθ: (−sin kθ, cos kθ), with the minus below.",
            "The transpose has the minus above it. That is T(−k), and moves back by k.",
            "T(k) has E_t's own frequencies, θ_i = 10000^(−2i/d): they fall from 1, and no other T moves E_t on.",
        ),
        (f"{VASWANI}, section 3.5",),
    ),
    "sinusoid-wavelengths": About(
        "after how many positions each sinusoid comes back",
        ("sinusoidal", "wavelength", "period", "repeat", "10000", "2π", "frequency", "positional encoding"),
        (
            "Pair i is (sin tθ_i, cos tθ_i), θ_i = 10000^(−2i/d): it repeats after 2π/θ_i = 2π·10000^(2i/d) positions.",
            "i = 0: 2π, so the first pair is back after little more than 6 positions.",
            "The last pair is i = d/2 − 1: 2π·10000^(1−2/d), 60,611 at d = 512. It tends to 2π·10000 = 62,832.",
        ),
        (f"{VASWANI}, section 3.5",),
    ),
    "sinusoid-similarity": About(
        "how alike positions look, near and far",
        ("sinusoidal", "cosine", "distance", "far", "look alike", "repeat", "wavelength", "positional encoding"),
        (
            "sin tθ·sin (t+k)θ + cos tθ·cos (t+k)θ = cos kθ, and ‖E_t‖² = d/2: the cosine is (2/d)·Σ_i cos(kθ_i).",
            "It is 1 at k = 0, and falls while few pairs have turned; no sum of cosines falls for ever.",
            "d = 8 has θ = 1, 0.1, 0.01, 0.001: after 2π·1000 positions all four pairs are back at once.",
            "With more pairs few of them are back at the same time: the largest similarity beyond 1,000 falls with d.",
        ),
        (f"{VASWANI}, section 3.5",),
    ),
    "learned-positions": About(
        "learned positions are a table of max_len rows",
        ("embedding", "absolute", "max_len", "parameters", "positional"),
        (
            "Position t has a row of its own, d_model numbers: max_len·d_model parameters.",
            "The gradient of a row is that of the places where it was added: none for a place that never occurred.",
        ),
        (f"{GEHRING}, section 3.1", f"{VASWANI}, section 3.5"),
    ),
    "relative-positions": About(
        "learned rows for distances instead of places",
        ("shaw", "distance", "embedding", "parameters", "bias"),
        (
            "The score of query i with key j is q_iᵀ(k_j + r_{j−i}): positions enter by their difference only.",
            "Distances beyond K share the last row, which leaves 2K+1 rows of d_head numbers.",
        ),
        (f"{SHAW}, section 3",),
    ),
    "rope": About(
        "RoPE keeps norms, and scores see distances only",
        ("rotary", "rotation", "relative", "roformer", "norm"),
        (
            "R_m turns each pair of coordinates by mθ_i. A rotation keeps the norm.",
            "(R_m·q)ᵀ(R_n·k) = qᵀR_mᵀR_n·k, and R_mᵀR_n turns by (n−m)θ_i: R_{n−m}.",
            "There is nothing to learn in it: no parameters.",
        ),
        (f"{ROPE}, section 3.2",),
    ),
    "rope-linear-attention": About(
        "RoPE works with linear attention",
        ("rotary", "rotation", "linear attention", "kernel", "roformer"),
        (
            "Linear attention never forms the N × N scores, so a bias on them has no place to go.",
            "RoPE turns φ(q) and φ(k) themselves: Σ_n (R_n·φ(k_n))·v_nᵀ is a running sum like any other.",
            "The normaliser is taken without rotation, since turned features can have negative products.",
        ),
        (f"{ROPE}, section 3.3",),
    ),
    "rope-decay": About(
        "RoPE's envelope decays with distance, not its score",
        ("rotary", "decay", "long-term", "envelope", "distance", "roformer"),
        (
            "The score at distance s is the real part of Σ_i h_i·e^{isθ_i}, h_i from the i-th pairs of q and k.",
            "Summation by parts: with S_j = Σ_{i<j} e^{isθ_i}, |score| ≤ max|h_{i+1} − h_i|·Σ_j|S_j|.",
            "Σ_j|S_j| falls on the whole as s grows, since more and more pairs point in different directions.",
            "The score itself is a sum of cosines: it rises and falls beneath that envelope.",
        ),
        (f"{ROPE}, section 3.4.3",),
    ),
    "alibi-slopes": About(
        "ALiBi's slopes, also if n is no power of two",
        ("slope", "heads", "press", "linear bias", "m_h"),
        (
            "For n heads they are a geometric series that starts at 2^(−8/n), its ratio too: m_h = 2^(−8h/n).",
            "For n = 8 this is ½, ¼, … 1/256.",
            "For another n: those of the power of two below it, then every other one of twice that power.",
        ),
        (f"{ALIBI}, section 3, and get_slopes in its published code",),
    ),
    "alibi-bias": About(
        "ALiBi's bias is a constant factor for each place",
        ("press", "linear bias", "bias vector", "distance", "extrapolation", "slope"),
        (
            "The score of query i with key j ≤ i gets −m_h(i−j), which depends on the distance only.",
            "Over the keys j = 1 … i that is the vector m_h·[−(i−1), …, −2, −1, 0]: nothing for the query's own place.",
            "e^(s − m_h(i−j)): one place further off divides the weight, before normalising, by e^m_h.",
            "−m_h·i is the same for a whole row and cancels in its softmax: m_h·j alone gives the same weights.",
        ),
        (f"{ALIBI}, section 3",),
    ),
}
