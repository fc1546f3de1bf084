"""Gemma 3 and PaliGemma: a SigLIP tower, and a language model that reads its patches as tokens."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, heads, inert, whole

USUAL = "multimodal"
INERT = {
    "gemma3": {inert.TOKENS: "image_token_index boi_token_index eoi_token_index"},
    "paligemma": {inert.TOKENS: "image_token_index", inert.NOT_HERE: "hidden_size vocab_size"},
}


def gemma3(c: Config) -> Fields:
    """The mean of a square of patches is a token: RMS norm, then a projection without bias."""
    heads.only(c, "multimodal", "base")
    vision = whole.features(whole.inner(c, "vision_config"), patches_alone=True)
    text, side = whole.language(c), _patches_on_a_side(vision)
    tokens = int(c.size("mm_tokens_per_image") ** 0.5)
    if not 0 < tokens <= side:
        raise c.refused("mm_tokens_per_image", f"{side} × {side} patches do not become so many tokens")
    projector = [
        {"map": [side, side]},
        {"pool": "average", "kernel": side // tokens},
        "sequence",
        {"norm": "rms"},
        {"linear": text["d_model"], "bias": False},
    ]
    return whole.reading_images(vision, projector, text)


def _patches_on_a_side(vision: Fields) -> int:
    """Of a square image."""
    embedding = vision["embedding"]
    return int(embedding["image"]) // int(embedding["patch"])


def paligemma(c: Config) -> Fields:
    """Every patch is a token, by one linear layer."""
    heads.only(c, "multimodal", "base")
    vision = whole.features(whole.inner(c, "vision_config"), patches_alone=True)
    text, width = whole.language(c), c.size("projection_dim")
    if width != text["d_model"]:
        raise c.refused("projection_dim", f"the text model reads {text['d_model']} numbers of each position")
    return whole.reading_images(vision, [{"linear": width}], text)
