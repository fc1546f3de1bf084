"""ViT and DeiT: a vision encoder over image patches with a class token; DeiT has a distillation token beside it."""

from archcalc.importers.hf._helpers import Config, Fields, Weights, heads, vit_like, when

TYPES: dict[str, Fields] = {"deit": {"tokens": 2}, "vit": {}}
USUAL = "image"
INERT = vit_like.VIT_INERT
WEIGHTS = Weights(together=("cls_token", "distillation_token"))


def translate(c: Config, **tokens: int) -> Fields:
    hides = when(c.task == "masked_image", mask=True)
    table: heads.Table = {
        "base": lambda: vit_like.pooled(c),
        "image": lambda: vit_like.classes_of_image(c, "class"),
        "teacher": lambda: vit_like.classes_of_image(c, "class", beside=vit_like.classes_of_image(c, "second")),
        "masked_image": lambda: vit_like.hidden_pixels(c),
    }
    return vit_like.vit(c, embedding=vit_like.patches(c, **tokens, **hides), head=heads.for_task(c, table))
