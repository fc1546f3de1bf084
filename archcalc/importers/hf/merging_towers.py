"""Models whose vision tower merges its patches itself, to vectors that their language model reads beside tokens."""

from archcalc.importers.hf._helpers import Config, Fields, heads, whole

USUAL = "multimodal"
TYPES = (
    *("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"),
    *("glm4v", "glm4v_moe", "glm46v", "glm_ocr"),
)


def translate(c: Config) -> Fields:
    heads.only(c, "multimodal", "base")
    seen, text = whole.inner(c, "vision_config"), whole.language(c)
    key = "hidden_size" if c.type == "qwen2_vl" else "out_hidden_size"
    if (out := whole.said_inside(c, "vision_config", key)) != text["d_model"]:
        why = f"its {key} is {out} and the hidden_size of text_config {text['d_model']}, so that it cannot run"
        raise c.refused("vision_config", why)
    return whole.reading(seen, text)
