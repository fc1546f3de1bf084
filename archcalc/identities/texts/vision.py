"""Vision Transformers: what is said about their identities."""

from __future__ import annotations

from archcalc.identities.description import About
from archcalc.identities.sources import VIT

ABOUT = {
    "patches": About(
        "a larger image has more patches of the same size",
        ("vit", "patch", "image", "resolution", "sequence length", "size"),
        (
            "The projection is a matrix of P²·C × d_model. It takes patches of P × P pixels and no others.",
            "So P is fixed with the weights; an image of H × W has N = (H/P)·(W/P) = HW/P² patches.",
            "A larger image therefore means a longer sequence: 224² has 196 patches of 16², 384² has 576.",
            "Only learned position embeddings have to be fitted to the new N, by interpolation.",
        ),
        (f"{VIT}, sections 3.1 and 3.2",),
    ),
}
