"""Models whose vision tower stands before a projector of their own, and then a language model."""

from typing import Any

from archcalc.importers.hf._helpers import Config, Fields, activation, heads, inert, vision, when, whole

USUAL = "multimodal"
_PATCHES = {inert.NOT_HERE: "image_token_index image_seq_length"}
INERT = {
    "mistral3": _PATCHES,
    "internvl": _PATCHES,
    "llama4": {inert.TOKENS: "boi_token_index eoi_token_index"},
}


def _parts(c: Config) -> tuple[Fields, Fields]:
    heads.only(c, "multimodal", "base")
    return whole.inner(c, "vision_config"), whole.language(c)


def _two(c: Config, inner: int, out: int, *, bias: bool = True) -> list[Any]:
    """Two linear layers with the file's activation between them."""
    biased = when(not bias, bias=False)
    return [{"linear": inner, "act": activation(c, "projector_hidden_act"), **biased}, {"linear": out, **biased}]


def mistral3(c: Config) -> Fields:
    """Mistral Small 3: Pixtral, a norm, neighbouring patches merged by a matrix, and two linear layers."""
    seen, text = _parts(c)
    side, wide = c.size("spatial_merge_size"), text["d_model"]
    merges: list[Any] = [{"norm": "rms"}, {"merge": side**2}, {"linear": seen["d_model"], "bias": False}]
    layers = [*merges, *_of_layers(c), *_two(c, wide, wide, bias=c.flag("multimodal_projector_bias"))]
    embedding = seen["embedding"]  # whose image is the largest that the tower takes
    image = vision.usual_side(embedding["patch"] * side)
    return whole.reading_images({**seen, "embedding": {**embedding, "image": image}}, layers, text)


def _of_layers(c: Config) -> list[Any]:
    """The first linear layer is as wide as the features of all layers that the file names; the norm is not."""
    layers = c.get("vision_feature_layer")
    if not isinstance(layers, list) or len(layers) < 2:
        return []
    c.notes.append(
        f"features of {len(layers)} layers do not fit the norm in front of them, so that this model can be built but"
        " not run: its linear layer is counted as wide as they are"
    )
    return [{"concat": ["input"] * len(layers)}]


def internvl(c: Config) -> Fields:
    """InternVL 3: pixel shuffle, a norm and two linear layers."""
    seen, text = _parts(c)
    for key, one in (("vision_feature_layer", int), ("vision_feature_select_strategy", str)):
        if not isinstance(c.get(key), one) or c.get(key) == "full":
            c.notes.append(f"the class cannot run with this {key}: counted with the patches of one layer")
    side, wide = int(1 / c.get("downsample_ratio")), text["d_model"]
    seen = whole.features(seen, patches_alone=True)
    layers = [{"merge": side**2}, {"norm": "layer"}, *_two(c, wide, wide)]
    return whole.reading_images(vision.mergeable(c, seen, side), layers, text)


def idefics3(c: Config) -> Fields:
    """Idefics 3 and SmolVLM: pixel shuffle and one matrix."""
    seen, text = _parts(c)
    side = c.size("scale_factor")
    layers = [{"merge": side**2}, {"linear": text["d_model"], "bias": False}]
    return whole.reading_images(vision.mergeable(c, seen, side), layers, text)


def lfm2_vl(c: Config) -> Fields:
    """LFM2-VL: pixel unshuffle, perhaps a norm, and two linear layers."""
    seen, text = _parts(c)
    c.skip("tie_embedding")
    side = c.size("downsample_factor")
    normed = c.choose("projector_use_layernorm", [{"norm": "layer"}], [])
    two = _two(c, c.size("projector_hidden_size"), text["d_model"], bias=c.flag("projector_bias"))
    seen = whole.features(seen, patches_alone=False)
    return whole.reading_images(vision.mergeable(c, seen, side), [{"merge": side**2}, *normed, *two], text)


def llama4(c: Config) -> Fields:
    """Llama 4: behind the tower's own adapter one matrix. The tower that the class has where a file describes none
    cannot be run, and is no checkpoint's."""
    heads.only(c, "multimodal", "base")
    if c.given("vision_config") is None:
        c.notes.append("the file has no vision_config, and the class's own default cannot be run")
        c.left_out.append({"part": "vision encoder and projector", "needed": "images"})
        return whole.language(c)
    seen, text = _parts(c)
    projector = {"linear": text["d_model"], "bias": False}
    return whole.reading({**seen, "parts": {**seen["parts"], "projector": projector}}, text)


def kimi_k25(c: Config) -> Fields:
    """Kimi K2.5: MoonViT, and Qwen's merger behind it."""
    seen, text = _parts(c)
    width, sides = seen["d_model"], whole.said_inside(c, "vision_config", "merge_kernel_size")
    if sides[0] != sides[1]:
        raise c.refused("vision_config", f"its merge_kernel_size is {sides}, and images are cut for squares")
    if c.get("projection_hidden_size") != width:
        raise c.refused("projection_hidden_size", f"the vectors that are normed are {width} wide")
    return whole.reading_images(seen, vision.merger(width, sides[0] * sides[1], text["d_model"]), text)


def paddleocr_vl(c: Config) -> Fields:
    """PaddleOCR-VL: SigLIP's blocks with RoPE, and Qwen's merger."""
    seen, text = _parts(c)
    side = whole.said_inside(c, "vision_config", "spatial_merge_size")
    layers = vision.merger(seen["d_model"], side**2, text["d_model"])
    return whole.reading_images(vision.mergeable(c, seen, side), layers, text)


TYPES = {"smolvlm": idefics3}
