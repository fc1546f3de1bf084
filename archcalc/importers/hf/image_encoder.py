"""Vision encoders over image patches that are built like ViT."""

from functools import partial

from archcalc.importers.hf._helpers import Config, Fields, Weights, activation, biased, heads, inert, vit_like, when

USUAL = "image"
WEIGHTS = {"vit": Weights(together=("cls_token", "distillation_token"))}
_OF_BACKBONES = {
    inert.NOT_HERE: "reshape_hidden_states",
    inert.FEATURES: "_out_features _out_indices out_features apply_layernorm",
}
INERT = {
    "dinov2": {inert.STARTING: "layerscale_value", **_OF_BACKBONES},
    "ijepa": {inert.NOT_HERE: "pooler_output_size", inert.FEATURES: "out_features"},
    "pixio": _OF_BACKBONES,
    "vit": vit_like.VIT_INERT,
    "vit_mae": {inert.FEATURES: "out_features"},
    "vit_msn": {inert.FEATURES: "out_features"},
}


def dinov2(c: Config, *, registers: bool = False) -> Fields:
    """DINOv2, and the vision encoder of TIPS v2: a ViT with layer scale, perhaps a gated FFN, and registers.

    Its classifier takes the class token and the mean of the patches; register tokens are dropped from the output."""
    extra = when(c.flag("use_mask_token"), mask=True)
    if registers:
        extra = {"registers": c.count("num_register_tokens"), "mask": True}
    table: heads.Table = {
        "base": heads.none,
        "image": lambda: vit_like.classes_of_image(c, "both"),
        "backbone": lambda: vit_like.backbone(c),
    }
    return vit_like.image_encoder(
        c,
        bias=biased(qkv=c.flag("qkv_bias"), o=True),
        ffn=_ffn(c),
        layer_scale=True,
        embedding=vit_like.patches(c, **extra),
        head=heads.for_task(c, table),
    )


def _ffn(c: Config) -> Fields:
    """A gated FFN has two thirds of the width, rounded up to a multiple of eight."""
    width, act = int(c.size("hidden_size") * c.get("mlp_ratio")), activation(c)
    if not c.flag("use_swiglu_ffn"):
        return {"width": width, "act": act}
    return {"width": (int(width * 2 / 3) + 7) // 8 * 8, "act": "silu", "gated": True}


def ijepa(c: Config) -> Fields:
    """I-JEPA: ViT without a class token; its patches are mean-pooled."""
    table: heads.Table = {"base": heads.none, "image": lambda: vit_like.classes_of_image(c, "mean")}
    return vit_like.vit(c, embedding=vit_like.patches(c, tokens=0), head=heads.for_task(c, table))


def pixio(c: Config) -> Fields:
    """Pixio: ViT with several class tokens, and an FFN width given as a multiple of hidden_size."""
    tokens, d_model = c.count("n_cls_tokens"), c.size("hidden_size")
    return vit_like.image_encoder(
        c,
        bias=biased(qkv=c.flag("qkv_bias"), o=True),
        ffn={"width": int(d_model * c.get("mlp_ratio")), "act": activation(c)},
        embedding=vit_like.patches(c, **when(tokens != 1, tokens=tokens)),
        head=heads.for_task(c, {"base": heads.none, "backbone": lambda: vit_like.backbone(c)}),
        spare=when(c.task == "backbone", norm_weight=[d_model], norm_bias=[d_model]),  # behind the model's final norm
    )


def vit(c: Config, **tokens: int) -> Fields:
    """ViT and DeiT: a vision encoder over image patches with a class token; DeiT has a distillation token beside it."""
    hides = when(c.task == "masked_image", mask=True)
    table: heads.Table = {
        "base": lambda: vit_like.pooled(c),
        "image": lambda: vit_like.classes_of_image(c, "class"),
        "teacher": lambda: vit_like.classes_of_image(c, "class", beside=vit_like.classes_of_image(c, "second")),
        "masked_image": lambda: vit_like.hidden_pixels(c),
    }
    return vit_like.vit(c, embedding=vit_like.patches(c, **tokens, **hides), head=heads.for_task(c, table))


def vit_mae(c: Config) -> Fields:
    """ViT MAE: the encoder of a masked autoencoder; its pretraining decoder is left out."""
    heads.only(c, "base")
    c.skip(*(key for key in c.defaults if key.startswith("decoder_")), "norm_pix_loss", "mask_ratio")
    c.notes.append("mask_ratio removes a share of the patches in pretraining: counted with all patches")
    return vit_like.vit(c, embedding=vit_like.patches(c), head="none")


def vit_msn(c: Config) -> Fields:
    """ViT MSN: ViT without a pooler."""
    table: heads.Table = {"base": heads.none, "image": lambda: vit_like.classes_of_image(c, "class")}
    return vit_like.vit(c, embedding=vit_like.patches(c), head=heads.for_task(c, table))


TYPES = {
    "dinov2_with_registers": partial(dinov2, registers=True),
    "tipsv2_vision_model": partial(dinov2, registers=True),
    "deit": partial(vit, tokens=2),
}
