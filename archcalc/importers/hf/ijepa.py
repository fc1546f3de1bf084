"""I-JEPA: ViT without a class token; its patches are mean-pooled."""

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.blocks import biased
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.vit_like import classes_of_image, image_encoder, patches, plain_ffn

USUAL = "image"
INERT = {inert.NOT_HERE: "pooler_output_size", inert.FEATURES: "out_features"}


def translate(c: Config, task: str) -> Fields:
    table: heads.Table = {"base": heads.none, "image": lambda: classes_of_image(c, "mean")}
    bias = biased(qkv=c.flag("qkv_bias"), o=True)
    head = heads.for_task(c, task, table)
    return image_encoder(c, bias=bias, ffn=plain_ffn(c), embedding=patches(c, tokens=0), head=head)
