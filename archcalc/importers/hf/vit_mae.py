"""ViT MAE: the encoder of a masked autoencoder; its pretraining decoder is left out."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.blocks import Fields, biased
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.vit_like import image_encoder, patches, plain_ffn

TYPES = ("vit_mae",)
USUAL = "image"
INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads",
    inert.FEATURES: "stage_names out_features",
}


def translate(c: Config, task: str) -> Fields:
    heads.only(c, task, "base")
    c.skip(*(key for key in c.defaults if key.startswith("decoder_")), "norm_pix_loss", "mask_ratio")
    c.notes.append("mask_ratio removes a share of the patches in pretraining: counted with all patches")
    bias = biased(qkv=c.flag("qkv_bias"), o=True)
    return image_encoder(c, bias=bias, ffn=plain_ffn(c), embedding=patches(c), head="none")
