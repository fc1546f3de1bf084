"""The audio tower of Gemma 4: two convolutions over a spectrogram, then blocks of a Conformer.

A block is half a feed-forward layer, attention in chunks, a gated depthwise convolution, another half, and a norm.
"""

from archcalc.importers.hf._helpers import Config, Fields, Value, Weights, activation, divided, heads, inert
from archcalc.importers.hf._helpers.audio import FRAMES
from archcalc.importers.hf._helpers.weights import Shape, Shapes

USUAL = "base"
INERT = {inert.RUNNING: "use_clipped_linears attention_logit_cap attention_invalid_logits_value residual_weight"}
NORM: Fields = {"norm": "rms"}
SECONDS = 30  # of the longest recording that the processor takes: 750 tokens of 40 ms (Gemma4Processor)


def translate(c: Config) -> Fields:
    """The matrix of the gated convolution is two here, one for the values and one for their gates."""
    heads.only(c, "base")
    d_model, (first, second) = c.size("hidden_size"), _channels(c)
    front: list[Value] = [
        {"reshape": [1, "channels", "length"]},
        *(_halved(channels) for channels in (first, second)),
        {"sequence": "width"},
        _linear(d_model),
    ]
    blocks: Value = {"block": "conformer", "repeat": c.size("num_hidden_layers")}
    return {
        "family": "network",
        "input": [4 * (first // 4), SECONDS * FRAMES],
        "loss": "none",
        "blocks": {"conformer": {"layers": _block(c, d_model)}},
        "layers": [*front, blocks, {"linear": c.size("output_proj_dims")}],
    }


def _channels(c: Config) -> tuple[int, int]:
    """Of both convolutions; the projection behind them is made for as many bands as the first has channels."""
    said = c.get("subsampling_conv_channels")
    if not isinstance(said, list) or len(said) != 2 or not all(isinstance(each, int) and each > 0 for each in said):
        raise c.wrong("subsampling_conv_channels", "two numbers of channels")
    if said[0] < 4:
        raise c.refused("subsampling_conv_channels", "less than 4 bands of a spectrogram leave nothing to project")
    return said[0], said[1]


def _halved(channels: int) -> Fields:
    """Half as many frames, and half as many bands."""
    norm = {"kind": "layer", "bias": False}
    return {"conv": channels, "kernel": 3, "stride": 2, "padding": 1, "bias": False, "norm": norm, "act": "relu"}


def _linear(width: int, **more: Value) -> Fields:
    return {"linear": width, "bias": False, **more}


def _block(c: Config, d_model: int) -> list[Value]:
    act = activation(c)
    half: Fields = {"residual": [NORM, _linear(4 * d_model, act=act), _linear(d_model), NORM]}
    attention: Fields = {"residual": [NORM, _attention(c, d_model), NORM]}
    gated: Fields = {"multiply": [[_linear(d_model)], [_linear(d_model, act="sigmoid")]]}
    kernel = c.size("conv_kernel_size")
    along: Fields = {"conv": d_model, "kernel": kernel, "padding": "causal", "groups": "depthwise", "bias": False}
    mixed: Fields = {"residual": [NORM, gated, {**along, "norm": "rms", "act": act}, _linear(d_model)]}
    return [half, attention, mixed, half, NORM]


def _attention(c: Config, d_model: int) -> Fields:
    number = c.size("num_attention_heads")
    divided(c, d_model, number)
    return {
        "local_attention": number,
        "chunk": c.size("attention_chunk_size"),
        "back": c.size("attention_context_left") - 1,
        "ahead": c.count("attention_context_right"),
        "softcap": True,
    }


def _gate(name: str, shape: Shape, shapes: Shapes) -> list[Shape] | None:
    """One matrix for the values and their gates."""
    if not name.endswith("linear_start.linear.weight"):
        return None
    return [(shape[0] // 2, *shape[1:])] * 2


WEIGHTS = Weights(split=_gate)
TYPES = ("gemma4_audio",)
