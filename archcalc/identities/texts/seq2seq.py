"""Attention of seq2seq models: what is said about its identities."""

from __future__ import annotations

from archcalc.identities.description import About
from archcalc.identities.sources import BAHDANAU, LUONG

ABOUT = {
    "tanh-range": About(
        "tanh lies between −1 and 1, not 0 and 1",
        ("sigmoid", "activation", "additive", "concat", "score", "bahdanau", "range"),
        (
            "tanh(x) = (e^x − e^−x)/(e^x + e^−x): the numerator is the smaller in size, so |tanh| < 1.",
            "It is odd, tanh(−x) = −tanh(x): it takes negative values, down to −1.",
            "σ(x) = 1/(1 + e^−x) is the one between 0 and 1; tanh(x) = 2σ(2x) − 1.",
            "A score Σ_i v_i·tanh(…)_i therefore lies between −Σ|v_i| and Σ|v_i|. Softmax makes weights of it.",
        ),
        (f"{BAHDANAU}, appendix A.1.2",),
    ),
    "location-score": About(
        "Luong's location score needs a fixed source length",
        ("luong", "fixed length", "score", "global attention", "alignment"),
        (
            "The other scores compare h_t with a source state h_s: h_tᵀh_s, h_tᵀW·h_s, vᵀtanh(W·[h_t;h_s]).",
            "Location is a_t = softmax(W·h_t): no source state stands in it.",
            "W has a row for each weight, so it gives as many weights as it has rows, however long the source is.",
            "Longer sources lose their end, shorter ones leave weights over: the length is fixed with W.",
        ),
        (f"{LUONG}, section 3.1",),
    ),
}
