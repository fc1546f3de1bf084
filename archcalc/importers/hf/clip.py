"""Towers of CLIP, SigLIP and TIPS: pre-norm encoders of images or texts."""

from math import isqrt

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, heads, inert, vit_like

USUAL = "base"
INERT = {
    "clip_text_model": {inert.NOT_HERE: "projection_dim"},
    "clip_vision_model": {inert.NOT_HERE: "projection_dim"},
    "siglip_text_model": {inert.NOT_HERE: "projection_size"},
    "tipsv2_text_model": {inert.STARTING: "scale_sqrt_depth"},
}


def _tower(c: Config) -> Fields:
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    return {
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "ffn": {"width": c.size("intermediate_size"), "act": activation(c)},
    }


def _text_tower(c: Config, head: Value, stack: str = "encoder") -> Fields:
    """An encoder of texts with learned positions, or a decoder where its mask is causal."""
    position = {"kind": "learned", "length": c.size("max_position_embeddings")}
    blocks = c.size("num_hidden_layers")
    return {**_tower(c), "vocab": c.size("vocab_size"), "position": position, stack: blocks, "head": head}


def _image_tower(c: Config, embedding: Fields) -> Fields:
    """SigLIP's vision encoder: learned positions and a final norm."""
    return {**_tower(c), "embedding": embedding, "position": "learned", "encoder": c.size("num_hidden_layers")}


def _of_images(c: Config) -> Value:
    """SigLIP's attention pooling head with one learned query, unless it is switched off."""
    heads.only(c, "base")
    if c.given("vision_use_head") is False:
        return "none"
    return {"kind": "none", "pool": "probe"}


def clip_text_model(c: Config) -> Fields:
    """Text encoder of CLIP: a transformer with a causal mask."""
    table: heads.Table = {
        "base": heads.none,
        "projection": lambda: heads.classifier(c.size("projection_dim"), bias=False, pool="last"),
    }
    return _text_tower(c, heads.for_task(c, table), "decoder")


def clip_vision_model(c: Config) -> Fields:
    """Vision encoder of CLIP: a ViT with a norm before the blocks and a final norm on the class token only."""
    normed = {"pool": "class", "norm": True}
    table: heads.Table = {
        "base": lambda: {"kind": "none", **normed},
        "projection": lambda: heads.classifier(c.size("projection_dim"), bias=False, **normed),
    }
    return {
        **_tower(c),
        "embedding": vit_like.patches(c, bias=False, norm=True),
        "position": "learned",
        "encoder": c.size("num_hidden_layers"),
        "norm": {"final": False},
        "head": heads.for_task(c, table),
    }


def siglip_text_model(c: Config) -> Fields:
    """Text encoder of SigLIP: bidirectional attention; the last token is pooled and projected."""
    heads.only(c, "base")
    width = c.size_or("projection_size", c.size("hidden_size"))
    return _text_tower(c, heads.classifier(width, pool="last"))


def siglip_vision_model(c: Config) -> Fields:
    """Vision encoder of SigLIP: a ViT without a class token, with attention pooling from one learned query."""
    return {**_image_tower(c, vit_like.patches(c, tokens=0)), "head": _of_images(c)}


def siglip2_vision_model(c: Config) -> Fields:
    """Vision encoder of SigLIP 2 (NaFlex): takes patches of images of any shape, to which its table is interpolated.

    Counts a square image of num_patches patches."""
    number, side = c.size("num_patches"), c.size("patch_size")
    rows = isqrt(number)
    if rows * rows != number:
        raise c.refused("num_patches", "positions of so many patches make no square")
    patches = {"kind": "patches", "image": rows * side, "patch": side, "channels": c.size("num_channels"), "tokens": 0}
    position = {"kind": "learned", "interpolated": rows}
    return {**_image_tower(c, patches), "position": position, "head": _of_images(c)}


def idefics3_vision(c: Config) -> Fields:
    """Vision encoder of Idefics 3 and SmolVLM: SigLIP's vision encoder without the pooling head."""
    heads.only(c, "base")
    return {**_image_tower(c, vit_like.patches(c, tokens=0)), "head": "none"}


def tipsv2_text_model(c: Config) -> Fields:
    """Text encoder of TIPS v2: sinusoidal positions."""
    heads.only(c, "base")
    return {
        **_text_tower(c, "none"),
        "position": {"kind": "sinusoidal"},
    }  # of any length, though the file must have one


TYPES = {
    "chinese_clip_vision_model": clip_vision_model,
    "siglip2_text_model": siglip_text_model,
    "smolvlm_vision": idefics3_vision,
}
