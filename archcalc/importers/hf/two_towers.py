"""Whole models of two towers in one space: CLIP, SigLIP and their kin."""

from archcalc.importers.hf._helpers import Config, Fields, heads, inert, when, whole
from archcalc.importers.hf._helpers.vision import IMAGES, image_of

USUAL = "base"
INERT = {inert.STARTING: "logit_scale_init_value"}


def clip(c: Config) -> Fields:
    """CLIP: a projection without bias behind each tower, of the class token and of the last token."""
    return _projected(c, pool="last")


def chinese_clip(c: Config) -> Fields:
    """Chinese CLIP: CLIP's vision tower, and BERT's encoder, whose first token is projected."""
    return _projected(c, pool="class")


def siglip(c: Config) -> Fields:
    """SigLIP and SigLIP 2: the towers pool and project by themselves, and scores have a bias."""
    heads.only(c, "base")
    vision, text = whole.inner(c, "vision_config"), whole.inner(c, "text_config")
    if vision.get("head", "none") == "none":
        raise c.refused("vision_config", "without its vision_use_head nothing of an image can be compared with a text")
    if (out := text["head"]["classes"]) != vision["d_model"]:
        why = f"its projection_size is {out}, which must be the hidden_size of vision_config, {vision['d_model']}"
        raise c.refused("text_config", why)
    return _compared(vision, text, bias=True)


def _projected(c: Config, pool: str) -> Fields:
    heads.only(c, "base")
    _prefer_full(c)
    vision, text, width = whole.inner(c, "vision_config"), whole.inner(c, "text_config"), c.size("projection_dim")
    vision["head"] = heads.classifier(width, bias=False, pool="class", norm=True)
    text["head"] = heads.classifier(width, bias=False, pool=pool)
    return _compared(vision, text)


def _prefer_full(c: Config) -> None:
    """Older files have a tower a second time under `…_config_dict`, which wins."""
    for key in ("text_config", "vision_config"):
        if isinstance(full := c.given(f"{key}_dict"), dict):
            c.said[key] = full


def _compared(vision: Fields, text: Fields, *, bias: bool = False) -> Fields:
    tower, image = image_of(vision)
    return {
        "family": "parts",
        "inputs": {IMAGES: image, whole.TOKENS: "tokens"},
        "parts": {"vision": {"reads": IMAGES, **tower}, "text": {"reads": whole.TOKENS, **text}},
        "similarity": {"of": ["text", "vision"], **when(bias, bias=True)},
    }


TYPES = {"siglip2": siglip}
