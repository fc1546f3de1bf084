"""Step 3.7 whole: a vision tower, two convolutions that halve its map each, one matrix, and the text model."""

from typing import Any

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    activation,
    divided,
    heads,
    inert,
    vision,
    vit_like,
    when,
    whole,
)

USUAL = {"step3p5_vision": "base", "step3p7": "multimodal"}
INERT = {
    "step3p5_vision": {
        inert.STARTING: "layer_scale_init_value",
        inert.NO_SUCH_SIZE: "intermediate_size max_position_embeddings",
    },
    "step3p7": {inert.TOKENS: "image_token_id"},
}
_OLDER = {"hidden_size": "width", "num_hidden_layers": "layers", "num_attention_heads": "heads"}
HALVED = {"kernel": 3, "stride": 2, "padding": 1}


def _tower(c: Config) -> Fields:
    """Layer scale, a norm before the blocks and none behind them, RoPE by row and column beside a learned table."""
    sizes = {key: c.spelled.get(older) or c.size(key) for key, older in _OLDER.items()}
    c.skip(*_OLDER, *_OLDER.values())
    d_model, number = int(sizes["hidden_size"]), int(sizes["num_attention_heads"])
    table = {"kind": "learned", "interpolated": c.size("image_size") // c.size("patch_size")}
    return {
        "d_model": d_model,
        "heads": number,
        "ffn": {"width": int(d_model * c.get("mlp_ratio")), "act": activation(c)},
        "layer_scale": True,
        "norm": {"kind": "layer", "final": False},
        "position": [table, vision.axial_rope(c, divided(c, d_model, number))],
        "embedding": vit_like.patches(c, tokens=0, bias=False, norm=True),
        "encoder": int(sizes["num_hidden_layers"]),
        "head": "none",
    }


def _text_alone(c: Config) -> Fields:
    """Files with the fields of the text model alone, for other code than transformers, whose names are others."""
    blocks, dense = c.spelled.get("num_hidden_layers", 0), c.spelled.get("first_k_dense_replace")
    said = {key: value for key, value in c.spelled.items() if key != "architectures"}
    if "num_experts" in said:
        said["n_routed_experts"] = said.pop("num_experts")
    if isinstance(dense, int) and isinstance(blocks, int):
        said["mlp_layer_types"] = ["dense" if block < dense else "sparse" for block in range(blocks)]
    if not said.keys() & {"attention_other_setting", "num_sliding_attention_heads"}:
        c.doubts.append("the file does not say how many heads blocks with windows have: taken as many as the others")
    c.left_out.append({"part": "vision encoder and projector", "needed": "images"})
    c.skip(*c.spelled)
    return whole.text_alone(c, {**said, "model_type": "step3p5"})


def _halved(seen: Fields) -> list[Any]:
    """Images have one size, so that the patches of one make the map of a known size."""
    embedding, d_model = seen["embedding"], seen["d_model"]
    side = embedding["image"] // embedding["patch"]
    return [{"map": [side, side]}, {"conv": 2 * d_model, **HALVED}, {"conv": 4 * d_model, **HALVED}, "sequence"]


def step3p5_vision(c: Config) -> Fields:
    """With the convolutions, which are a part of it."""
    heads.only(c, "base")
    seen = _tower(c)
    if c.inside:
        return seen
    return vision.tower(*vision.image_of(seen), adapter=_halved(seen))


def step3p7(c: Config) -> Fields:
    """An image is seen as a whole, in one size; crops of large ones are further images."""
    heads.only(c, "multimodal", "base", "causal")
    if c.task == "causal":
        return _text_alone(c)
    seen, text = whole.inner(c, "vision_config"), whole.language(c)
    c.notes.append(
        "crops that the processor makes of a large image are not counted: each is one more of 504 × 504 pixels"
    )
    biased = when(not c.flag("projector_bias"), bias=False)
    return whole.reading_images(seen, [*_halved(seen), {"linear": text["d_model"], **biased}], text)
