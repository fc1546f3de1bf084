"""RegNet: residual blocks with grouped convolutions; type y has squeeze and excitation."""

from archcalc.importers.hf._helpers import Config, Fields, conv_like, residual_like

USUAL = "image"
SQUEEZED = 4  # how much narrower than a block's input the gate is


def translate(c: Config) -> Fields:
    word, width = conv_like.act(c), c.size("groups_width")
    stem: conv_like.Items = [{"conv": c.size("embedding_size"), "kernel": 3, "stride": 2, "padding": 1, "act": word}]
    before: conv_like.Items = [
        {"conv": "out", "kernel": 1, "act": word},
        {"conv": "out", "kernel": 3, "stride": "stride", "padding": 1, "groups": "groups", "act": word},
    ]
    last = {"conv": "out", "kernel": 1}
    if c.text("layer_type") not in ("x", "y"):
        raise c.wrong("layer_type", "x or y")
    if c.text("layer_type") == "x":
        return residual_like.residual_network(c, stem, [*before, last], groups=lambda _, out: max(1, out // width))
    return residual_like.residual_network(
        c,
        stem,
        [*before, _gate(), last],
        groups=lambda _, out: max(1, out // width),
        squeezed=lambda into, _: round(into / SQUEEZED),
    )


def _gate() -> Fields:
    """Squeeze and excitation: a factor for each channel, from the mean of the whole map."""
    plain = {"kernel": 1, "bias": True, "norm": "none"}
    factors = [
        {"pool": "average", "to": 1},
        {"conv": "squeezed", **plain, "act": "relu"},
        {"conv": "out", **plain, "act": "sigmoid"},
    ]
    return {"multiply": ["input", factors]}
