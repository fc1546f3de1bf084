"""How diagrams draw the kinds of op, one line each: what it is called, the sign that stands for it, its kind of part.

Kinds that only move or keep numbers are left out of a picture unless their output has a name. A kind without a line
here is drawn under its own name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Picture:
    """How a kind of op is drawn."""

    word: str = ""  # nothing: the name of the kind
    sign: str = ""  # in a circle, instead of a box with a word
    part: Literal["", "norm", "activation", "pooling"] = ""  # what it makes of its module
    unseen: bool = False  # moves or keeps numbers


def _norm(word: str) -> Picture:
    return Picture(word, part="norm")


def _activation(word: str = "") -> Picture:
    return Picture(word, part="activation")


_UNSEEN = Picture(unseen=True)

PICTURES = {
    "contract": Picture("product"),
    "flash": Picture("attention"),
    "bent_flash": Picture("attention"),
    "add": Picture(sign="+"),
    "subtract": Picture(sign="−"),
    "multiply": Picture(sign="×"),
    "divide": Picture(sign="÷"),
    "layer_norm": _norm("layer norm"),
    "rms_norm": _norm("RMS norm"),
    "batch_norm": _norm("batch norm"),
    "running_norm": _norm("batch norm"),
    "group_norm": _norm("group norm"),
    "instance_norm": _norm("instance norm"),
    "scaled_instance_norm": _norm("instance norm"),
    "relu": _activation("ReLU"),
    "relu2": _activation("ReLU²"),
    "leaky_relu": _activation("leaky ReLU"),
    "elu": _activation("ELU"),
    "selu": _activation("SELU"),
    "prelu": _activation("PReLU"),
    "relu6": _activation("ReLU6"),
    "hardswish": _activation("hard swish"),
    "hardsigmoid": _activation("hard sigmoid"),
    "mish": _activation("Mish"),
    "xielu": _activation("xIELU"),
    "gelu": _activation("GELU"),
    "gelu_tanh": _activation("GELU"),
    "silu": _activation("SiLU"),
    "tanh": _activation(),
    "sigmoid": _activation(),
    "softplus": _activation(),
    "exp": _activation(),
    "softmax_fp32": Picture("softmax"),
    "log_softmax": Picture("log softmax"),
    "max_pool": Picture("max", part="pooling"),
    "largest": Picture("max", part="pooling"),
    "average_pool": Picture("average", part="pooling"),
    "enlarge": Picture("upsampling"),
    "pad": Picture("zeros around"),
    "rotate": Picture("rotary positions"),
    "lookup": Picture("rows of a table"),
    "choose": Picture("top few"),
    "gather": Picture("rows sorted"),
    "concat": Picture("concatenate"),
    "dropout": _UNSEEN,
    "append": _UNSEEN,
    "append_values": _UNSEEN,
    "shift": _UNSEEN,
    "order": _UNSEEN,
    "hide": _UNSEEN,
    "repeat": _UNSEEN,
    "copy": _UNSEEN,
    "all_gather": _UNSEEN,
    "reduce_scatter": _UNSEEN,
    "identity": _UNSEEN,
    "view": _UNSEEN,
    "constant": _UNSEEN,
    "zeros": _UNSEEN,
    "show": _UNSEEN,
}
_BY_NAME = Picture()


def picture(kind: str) -> Picture:
    return PICTURES.get(kind, _BY_NAME)
