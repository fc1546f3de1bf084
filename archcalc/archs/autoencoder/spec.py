"""The fields of autoencoders as written in a spec.

kind: linear        x̂ = W2·W1·x; biases only if asked for
kind: deep          several layers down to a code, and as many back: x → h1 → … → code → … → x̂
kind: variational   the layers end in a mean and a log-variance, from which the code z = μ + σ·ε is drawn
kind: recursive     p = tanh(W1·[left; right] + b1), rebuilt by W2 and b2; `classes` adds a classifier, W3 and b3
"""

from __future__ import annotations

from typing import ClassVar, Literal

from archcalc.spec.model_spec import ModelSpec
from archcalc.spec.node import Size, Widths, field
from archcalc.styles.activations import ACTIVATIONS

_EVERY = frozenset(ModelSpec.model_fields)
_LAYERED = frozenset({"input", "hidden", "decoder", "bias", "act", "output_act", "loss"})

Activation = Literal[*ACTIVATIONS]  # type: ignore[valid-type]


class Spec(ModelSpec):
    """An autoencoder's fields as written in a spec."""

    fields_of: ClassVar[dict[str, frozenset[str]]] = {
        "linear": _EVERY - {"seq"} | {"input", "hidden", "bias"},
        "deep": _EVERY - {"seq"} | _LAYERED | {"code_act", "tied"},
        "variational": _EVERY - {"seq"} | _LAYERED,
        "recursive": _EVERY | {"input", "hidden", "bias", "classes"},
    }
    family: Literal["autoencoder"] = field("autoencoder", "The family of autoencoders.", example="autoencoder")
    kind: Literal["linear", "deep", "variational", "recursive"] | None = field(
        None,
        "A linear autoencoder, a deep one of several layers, a variational one whose code is drawn, or a recursive one "
        "that folds a sentence up a tree.",
        example="recursive",
        unset="needed",
    )
    input: Size | None = field(None, "The width of a sample, or of a word's vector.", example=784, unset="needed")
    hidden: Widths | None = field(
        None,
        "The width of the code, or of a parent in the tree; of deep and variational ones the widths of the encoder's "
        "layers, of which the last is the code's.",
        example=32,
        unset="needed",
    )
    decoder: Widths | None = field(
        None,
        "Deep and variational: the widths of the layers between the code and the output.",
        example=[250, 500],
        unset="the encoder's, mirrored",
    )
    bias: bool | None = field(None, "Its layers have biases.", example=True, unset="true, but false for linear")
    act: Activation = field(
        "relu", "Deep and variational: the activation of all layers but those of code and output.", example="sigmoid"
    )
    code_act: Activation = field("identity", "Deep: the activation on the code.", example="tanh")
    output_act: Activation = field("identity", "Deep and variational: the activation on the output.", example="sigmoid")
    tied: bool = field(False, "Deep: the decoder's matrices are the encoder's, transposed.", example=True)
    loss: Literal["squared", "bernoulli"] | None = field(
        None,
        "Deep and variational: how the output is compared with the input, squared error or binary cross-entropy.",
        example="squared",
        unset="bernoulli where the output is a sigmoid, else squared",
    )
    classes: Size | None = field(
        None, "Recursive: classes of a classifier at every parent.", example=2, unset="no classifier"
    )


OWN_FIELDS = tuple(name for name in Spec.model_fields if name not in _EVERY)
