"""I-JEPA: ViT without a class token; its patches are mean-pooled."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.blocks import Fields, biased
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.vit_like import classes_of_image, image_encoder, patches, plain_ffn

TYPES = ("ijepa",)
USUAL = "image"
INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads",
    inert.NOT_HERE: "pooler_output_size",
    inert.SUMMARY: "pooler_act",
    inert.FEATURES: "stage_names out_features",
}


def translate(c: Config, task: str) -> Fields:
    table: heads.Table = {"base": heads.none, "image": lambda: classes_of_image(c, "mean")}
    bias = biased(qkv=c.flag("qkv_bias"), o=True)
    head = heads.for_task(c, task, table)
    return image_encoder(c, bias=bias, ffn=plain_ffn(c), embedding=patches(c, tokens=0), head=head)
