"""Models whose vision tower merges its patches itself, to vectors that their language model reads beside tokens."""

from functools import partial

from archcalc.importers.hf._helpers import Config, Fields, heads, whole

USUAL = "multimodal"


def translate(c: Config, key: str = "out_hidden_size") -> Fields:
    """`key` is what the tower's config calls the width of its merged vectors."""
    heads.only(c, "multimodal", "base")
    seen, text = whole.inner(c, "vision_config"), whole.language(c)
    if (out := whole.said_inside(c, "vision_config", key)) != text["d_model"]:
        why = f"its {key} is {out} and the hidden_size of text_config {text['d_model']}, so that it cannot run"
        raise c.refused("vision_config", why)
    return whole.reading(seen, text)


TYPES = {
    "qwen2_vl": partial(translate, key="hidden_size"),
    **dict.fromkeys(("qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"), translate),
    **dict.fromkeys(("glm4v", "glm4v_moe", "glm46v", "glm_ocr"), translate),
}
