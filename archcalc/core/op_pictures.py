"""How diagrams draw the kinds of op, one line each: what it is called, the sign that stands for it, its kind of part.

Kinds that only move or keep numbers are left out of a picture unless their output has a name. A kind without a line
of its own is drawn under its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from archcalc.core.ops import KINDS


@dataclass(frozen=True)
class Picture:
    """How a kind of op is drawn."""

    word: str = ""  # nothing: the name of the kind
    sign: str = ""  # in a circle, instead of a box with a word
    part: Literal["", "norm", "activation", "pooling"] = ""  # what it makes of its module
    unseen: bool = False  # moves or keeps numbers


_NORMS = {
    "layer_norm": "layer norm",
    "rms_norm": "RMS norm",
    "batch_norm": "batch norm",
    "running_norm": "batch norm",
    "group_norm": "group norm",
    "instance_norm": "instance norm",
    "scaled_instance_norm": "instance norm",
}
_ACTIVATIONS = {
    "relu": "ReLU",
    "relu2": "ReLU²",
    "leaky_relu": "leaky ReLU",
    "elu": "ELU",
    "selu": "SELU",
    "prelu": "PReLU",
    "relu6": "ReLU6",
    "hardswish": "hard swish",
    "hardsigmoid": "hard sigmoid",
    "mish": "Mish",
    "xielu": "xIELU",
    "gelu": "GELU",
    "gelu_tanh": "GELU",
    "silu": "SiLU",
    "unknown": "unknown activation",
    **dict.fromkeys(("tanh", "sigmoid", "softplus", "exp"), ""),
}
_UNSEEN = (
    *("dropout", "append", "append_values", "shift", "order", "hide", "repeat", "copy", "all_gather"),
    *("reduce_scatter", "identity", "view", "constant", "zeros", "show"),
)
PICTURES = dict.fromkeys(KINDS, Picture()) | {
    "contract": Picture("product"),
    **dict.fromkeys(("flash", "bent_flash"), Picture("attention")),
    "add": Picture(sign="+"),
    "subtract": Picture(sign="−"),
    "multiply": Picture(sign="×"),
    "divide": Picture(sign="÷"),
    **{kind: Picture(word, part="norm") for kind, word in _NORMS.items()},
    **{kind: Picture(word, part="activation") for kind, word in _ACTIVATIONS.items()},
    "softmax_fp32": Picture("softmax"),
    "log_softmax": Picture("log softmax"),
    **dict.fromkeys(("max_pool", "largest"), Picture("max", part="pooling")),
    "average_pool": Picture("average", part="pooling"),
    "enlarge": Picture("upsampling"),
    "pad": Picture("zeros around"),
    "rotate": Picture("rotary positions"),
    "lookup": Picture("rows of a table"),
    "choose": Picture("top few"),
    "gather": Picture("rows sorted"),
    "concat": Picture("concatenate"),
    **dict.fromkeys(_UNSEEN, Picture(unseen=True)),
}
