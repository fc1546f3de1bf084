"""ViT MAE: the encoder of a masked autoencoder; its pretraining decoder is left out."""

from archcalc.importers.hf._helpers import Config, Fields, heads, inert, vit_like

USUAL = "image"
INERT = {inert.FEATURES: "out_features"}


def translate(c: Config) -> Fields:
    heads.only(c, "base")
    c.skip(*(key for key in c.defaults if key.startswith("decoder_")), "norm_pix_loss", "mask_ratio")
    c.notes.append("mask_ratio removes a share of the patches in pretraining: counted with all patches")
    return vit_like.vit(c, embedding=vit_like.patches(c), head="none")
