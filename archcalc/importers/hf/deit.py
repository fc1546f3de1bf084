"""DeiT: ViT with a distillation token beside the class token."""

from archcalc.importers.hf._helpers import Config, Fields, Value, Weights, heads, vit_like, when

USUAL = "image"
INERT = vit_like.VIT_INERT
WEIGHTS = Weights(together=("cls_token", "distillation_token"))


def translate(c: Config) -> Fields:
    hides = when(c.task == "masked_image", mask=True)
    return vit_like.vit(c, embedding=vit_like.patches(c, tokens=2, **hides), head=_head(c))


def _head(c: Config) -> Value:
    table: heads.Table = {
        "base": lambda: vit_like.pooled(c),
        "image": lambda: vit_like.classes_of_image(c, "class"),
        "teacher": lambda: vit_like.classes_of_image(c, "class", beside=vit_like.classes_of_image(c, "second")),
        "masked_image": lambda: vit_like.hidden_pixels(c),
    }
    return heads.for_task(c, table)
