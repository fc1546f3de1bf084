"""ConvNeXt: stages of blocks with a depthwise convolution of 7 × 7, layer norms, a learned factor for each channel.

V2 has a global response norm in each block in the place of that factor.
"""

from functools import partial

from archcalc.importers.hf._helpers import Config, Fields, conv_like, heads, sides

USUAL = "image"
INERT = conv_like.FEATURES
NORM = {"norm": "layer"}
WIDER = 4  # how much wider a block is inside


def translate(c: Config, *, response_norm: bool = False) -> Fields:
    found = conv_like.stages(c)
    if c.size("num_stages") != len(found):
        raise c.refused("num_stages", f"hidden_sizes has {len(found)} stages: give both one length")
    branch: conv_like.Items = [
        {"conv": "channels", "kernel": 7, "padding": 3, "groups": "depthwise", "norm": "layer"},
        {"conv": f"{WIDER} * channels", "kernel": 1, "act": conv_like.act(c)},
        *["response_norm"] * response_norm,
        {"conv": f"channels / {WIDER}", "kernel": 1},
        *["scale"] * (not response_norm and _is_scaled(c)),
    ]
    layers = [*_stages(c, found), *_end(c, len(found))]
    return conv_like.network(c, layers, blocks={"mixed": {"layers": [{"residual": branch}]}})


def _is_scaled(c: Config) -> bool:
    scaled = c.get("layer_scale_init_value")
    if isinstance(scaled, bool) or not isinstance(scaled, int | float):
        raise c.wrong("layer_scale_init_value", "a number")
    return scaled > 0


def _stages(c: Config, found: list[tuple[int, int]]) -> conv_like.Items:
    patch = sides(c, "patch_size", c.get("patch_size"))
    items: conv_like.Items = []
    for index, (out, depth) in enumerate(found):
        if index:
            items += [NORM, {"conv": out, "kernel": 2, "stride": 2}]
        else:
            items += [{"conv": out, "kernel": patch, "stride": patch, **NORM}]
        if depth:
            items.append({"block": "mixed", "repeat": depth})
    return items


def _end(c: Config, number_of_stages: int) -> conv_like.Items:
    if c.task == "backbone" and not conv_like.last_stage_alone(c, number_of_stages):
        why = "its backbone has a norm for each stage that it gives out, and only the last one can be counted"
        raise c.refused("out_features", why)
    pooled = [*conv_like.POOLED, "flatten", NORM]
    table: heads.Table = {
        "base": lambda: pooled,
        "image": lambda: [*pooled, *conv_like.classifier(c)],
        "backbone": lambda: [NORM],  # for each map that it gives out
    }
    end: conv_like.Items = heads.for_task(c, table)
    return end


TYPES = {
    "convnext": translate,
    "convnextv2": partial(translate, response_norm=True),
}
