"""ViT MAE: the encoder of a masked autoencoder; its pretraining decoder is left out."""

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.vit_like import patches, vit

USUAL = "image"
INERT = {inert.FEATURES: "out_features"}


def translate(c: Config, task: str) -> Fields:
    heads.only(c, task, "base")
    c.skip(*(key for key in c.defaults if key.startswith("decoder_")), "norm_pix_loss", "mask_ratio")
    c.notes.append("mask_ratio removes a share of the patches in pretraining: counted with all patches")
    return vit(c, embedding=patches(c), head="none")
