"""Vision encoders built like ViT: patches, a class token, pre-norm blocks. Families set only what differs."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, biased, heads, inert, sides, when

VIT_INERT = {inert.NOT_HERE: "encoder_stride pooler_output_size", inert.FEATURES: "out_features"}


def image_encoder(c: Config, *, bias: Value, **more: Value) -> Fields:
    """`bias` is that of attention; `more` are the fields that a family adds or changes."""
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    if "head_dim" not in more:
        more["head_dim"] = c.size_or("head_dim", d_model // number)  # no class declares it, and most of them read it
    usual = {
        "d_model": d_model,
        "heads": number,
        "attention": when(bias is not True, bias=bias),
        "position": "learned",
        "encoder": c.size("num_hidden_layers"),
    }
    return {**usual, **more}


def vit(c: Config, **more: Value) -> Fields:
    """ViT's own blocks: biases on queries, keys and values by a switch, a non-gated FFN."""
    return image_encoder(c, bias=biased(qkv=c.flag("qkv_bias"), o=True), ffn=plain_ffn(c), **more)


def plain_ffn(c: Config) -> Fields:
    return {"width": c.size("intermediate_size"), "act": activation(c)}


def patches(c: Config, **more: Value) -> Fields:
    """The patch embedding; if the image is not a multiple of the patch size, the classes ignore the rest."""
    patch, said = sides(c, "patch_size", c.get("patch_size")), sides(c, "image_size", c.get("image_size"))
    image = [side // step * step for side, step in zip(said, patch, strict=True)]
    if not all(image):
        raise c.refused("image_size", f"an image is smaller than a patch of {patch[0]} × {patch[1]} pixels")
    if image != said:
        c.notes.append(
            "the image size is not a multiple of the patch size: the pixels left over at its edges are ignored"
        )
    sizes = {"image": _square(image), "patch": _square(patch), "channels": c.size("num_channels")}
    return {"kind": "patches", **sizes, **more}


def _square(sides: list[int]) -> int | list[int]:
    if sides[0] == sides[1]:
        return sides[0]
    return sides


def pooled(c: Config) -> Fields:
    """The bare model, with a pooler on its class token."""
    c.skip("pooler_output_size")
    width = c.given("pooler_output_size")
    if width in (None, 0, c.size("hidden_size")):
        width = True
    return {"kind": "none", "pooler": width}


def classes_of_image(c: Config, pool: str, **more: Value) -> Value:
    """A linear classifier, omitted if there are no classes."""
    number = heads.labels(c)
    if not number:
        return "none"
    return heads.classifier(number, pool=pool, **more)


def backbone(c: Config) -> Value:
    """The backbone's output: patch features as a feature map or as a sequence."""
    return c.choose("reshape_hidden_states", {"kind": "none", "pool": "patches"}, "none")


def hidden_pixels(c: Config) -> Fields:
    """The masked-image head: the pixels of each patch."""
    return heads.classifier(c.size("encoder_stride") ** 2 * c.size("num_channels"), pool="patches")
