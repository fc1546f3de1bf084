"""PoolFormer: blocks that mix places by average pooling, and channels by two convolutions of 1 × 1."""

from archcalc.importers.hf._helpers import Config, Fields, conv_like, heads, inert

USUAL = "image"
INERT = {inert.STARTING: "layer_scale_init_value", inert.UNREAD: "patch_size stride"}
NORM = {"norm": "group", "groups": 1}


def translate(c: Config) -> Fields:
    scores = [NORM, *conv_like.POOLED, "flatten", *conv_like.classifier(c)]
    end = heads.for_task(c, {"base": list, "image": lambda: scores})
    return conv_like.network(c, [*_stages(c), *end], blocks={"pooling": _block(c)})


def _block(c: Config) -> Fields:
    """What pooling gives is the difference from what comes in, which the block adds back."""
    size = c.size("pool_size")
    if size % 2 == 0:
        raise c.refused("pool_size", "an even one gives a larger map: it can be built but not run")
    pool = {"pool": "average", "kernel": size, "stride": 1, "padding": size // 2}
    scale: conv_like.Items = c.choose("use_layer_scale", ["scale"], [])
    convs = [{"conv": "inner", "kernel": 1, "act": conv_like.act(c)}, {"conv": "out", "kernel": 1}]
    places: Fields = {"residual": [NORM, {"subtract": [[pool], "input"]}, *scale]}
    channels: Fields = {"residual": [NORM, *convs, *scale]}
    return {"parameters": {"inner": "required", "out": "channels"}, "layers": [places, channels]}


def _stages(c: Config) -> conv_like.Items:
    found, ratio = conv_like.stages(c), conv_like.number(c, "mlp_ratio")
    windows = [conv_like.sizes(c, "patch_sizes"), conv_like.sizes(c, "strides"), conv_like.sizes(c, "padding", 0)]
    if {c.size("num_encoder_blocks"), *map(len, windows)} != {len(found)}:
        why = "hidden_sizes, depths, patch_sizes, strides and padding must have one entry for each of them"
        raise c.refused("num_encoder_blocks", why)
    items: conv_like.Items = []
    for (out, depth), kernel, stride, padding in zip(found, *windows, strict=True):
        items.append({"conv": out, "kernel": kernel, "stride": stride, "padding": padding})
        if depth:
            items.append({"block": "pooling", "inner": int(out * ratio), "repeat": depth})
    return items
