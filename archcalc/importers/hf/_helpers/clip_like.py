"""CLIP and SigLIP towers: pre-norm vision or text encoders."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, heads


def tower(c: Config) -> Fields:
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    return {
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "ffn": {"width": c.size("intermediate_size"), "act": activation(c)},
    }


def image_tower(c: Config, embedding: Fields) -> Fields:
    """SigLIP's vision encoder: learned positions and a final norm."""
    return {**tower(c), "embedding": embedding, "position": "learned", "encoder": c.size("num_hidden_layers")}


def of_images(c: Config) -> Value:
    """SigLIP's attention pooling head with one learned query, unless it is switched off."""
    heads.only(c, "base")
    if c.given("vision_use_head") is False:
        return "none"
    return {"kind": "none", "pool": "probe"}
