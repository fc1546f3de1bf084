"""LLaVA: a vision tower, two linear layers, and a language model that reads the patches as tokens."""

from archcalc.importers.hf._helpers import Config, Fields, activation, heads, inert, whole

USUAL = "multimodal"
INERT = {inert.NOT_HERE: "image_token_index image_seq_length"}


def translate(c: Config) -> Fields:
    heads.only(c, "multimodal")
    vision = whole.inner(c, "vision_config")
    text = whole.language(c)
    if isinstance(c.get("vision_feature_layer"), list):
        raise c.refused("vision_feature_layer", "features of several layers, side by side, are not counted")
    vision = whole.features(vision, patches_alone=c.text("vision_feature_select_strategy") == "default")
    biased = {"bias": c.flag("multimodal_projector_bias")}
    first = {"linear": text["d_model"], "act": activation(c, "projector_hidden_act"), **biased}
    return whole.reading_images(vision, [first, {"linear": text["d_model"], **biased}], text)
