"""ViT MSN: ViT without a pooler."""

from archcalc.importers.hf._helpers import Config, Fields, heads, inert, vit_like

USUAL = "image"
INERT = {inert.FEATURES: "out_features"}


def translate(c: Config) -> Fields:
    table: heads.Table = {"base": heads.none, "image": lambda: vit_like.classes_of_image(c, "class")}
    return vit_like.vit(c, embedding=vit_like.patches(c), head=heads.for_task(c, table))
