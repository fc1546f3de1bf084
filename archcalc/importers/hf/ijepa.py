"""I-JEPA: ViT without a class token; its patches are mean-pooled."""

from archcalc.importers.hf._helpers import Config, Fields, heads, inert, vit_like

USUAL = "image"
INERT = {inert.NOT_HERE: "pooler_output_size", inert.FEATURES: "out_features"}


def translate(c: Config) -> Fields:
    table: heads.Table = {"base": heads.none, "image": lambda: vit_like.classes_of_image(c, "mean")}
    return vit_like.vit(c, embedding=vit_like.patches(c, tokens=0), head=heads.for_task(c, table))
