"""Softmax: what is said about its identities."""

from __future__ import annotations

from archcalc.identities.description import About
from archcalc.identities.sources import BRIDLE, SPARSEMAX, VASWANI

ABOUT = {
    "softmax-zeros": About(
        "softmax makes entries small, never zero",
        ("sparse", "mask", "attention", "weights", "underflow", "float64"),
        (
            "a_n = e^{s_n}/Σ_m e^{s_m}: numerator and denominator are positive for all finite scores.",
            "a_n/a_m = e^(s_n − s_m): an entry 25 below another has 1e-11 of its weight, and a gradient.",
            "Exact zeros come from e^−∞ = 0, which is how masks work, or from numbers too small for the format.",
        ),
        (BRIDLE, f"{SPARSEMAX}, section 2"),
    ),
    "softmax-elementwise": About(
        "softmax works on a row, not element by element",
        ("elementwise", "element by element", "row", "jacobian", "attention", "weights", "sum to 1"),
        (
            "a_n = e^{s_n}/Σ_m e^{s_m}: the denominator holds every score of the row.",
            "∂a_n/∂s_m = a_n([n = m] − a_m): also for n ≠ m it is not 0.",
            "As a matrix: diag(a) − a·aᵀ. Its rows sum to 0, since the weights always sum to 1.",
        ),
        (BRIDLE, f"{SPARSEMAX}, section 2"),
    ),
    "softmax-jacobian": About(
        "without 1/√D the softmax saturates",
        ("sqrt", "scale", "scaled dot product", "gradient", "vanishing", "attention", "transformer"),
        (
            "J = diag(a) − a·aᵀ, with trace Σ_n a_n(1−a_n) = 1 − Σ_n a_n². It is 0 where one weight is 1.",
            "Scores q·k of independent normals have variance D: the largest of N leads by the more, the larger D is.",
            "So without 1/√D the weights become one-hot as D grows, J goes to 0, and nothing is learned through them.",
            "q·k/√D has variance 1 at every D: weights and Jacobian stay as they are.",
        ),
        (f"{VASWANI}, section 3.2.1",),
    ),
}
