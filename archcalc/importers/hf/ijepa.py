"""I-JEPA: ViT without a class token; its patches are mean-pooled."""

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.vit_like import classes_of_image, patches, vit

USUAL = "image"
INERT = {inert.NOT_HERE: "pooler_output_size", inert.FEATURES: "out_features"}


def translate(c: Config, task: str) -> Fields:
    table: heads.Table = {"base": heads.none, "image": lambda: classes_of_image(c, "mean")}
    return vit(c, embedding=patches(c, tokens=0), head=heads.for_task(c, task, table))
