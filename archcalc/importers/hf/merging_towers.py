"""Models whose vision tower merges its patches itself, to vectors that their language model reads beside tokens."""

from archcalc.importers.hf._helpers import Config, Fields, heads, whole

USUAL = "multimodal"
TYPES = (
    *("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"),
    *("glm4v", "glm4v_moe", "glm46v", "glm_ocr"),
)


def translate(c: Config) -> Fields:
    heads.only(c, "multimodal", "base")
    return whole.reading(whole.inner(c, "vision_config"), whole.language(c))
