"""A network with every value filled in: sizes worked out, blocks opened, shapes followed from layer to layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from archcalc.archs.network.kinds.linear import Linear
from archcalc.archs.network.kinds.norm import Norm
from archcalc.archs.network.layer import Place, Sequence, Shape
from archcalc.archs.network.names import refuse_unnamable
from archcalc.archs.network.reader import Reader
from archcalc.archs.network.spec import Spec
from archcalc.core.errors import InputError
from archcalc.spec.defaults import Default
from archcalc.spec.resolved import every_part
from archcalc.spec.workload import Longest

BIASED = {"conv": "convolutions", "transposed_conv": "transposed convolutions", "linear": "linear layers"}


@dataclass(frozen=True)
class Network:
    """`heads` are the layers of each output behind `body`; none where the body gives the output itself."""

    input: tuple[int, ...]
    body: Sequence
    heads: dict[str, Sequence]
    loss: str
    kind: str = ""

    @property
    def smallest_batch(self) -> int:
        """That PyTorch can train on."""
        return 2 if any(isinstance(part, Norm) and part.needs_two for part in every_part(self)) else 1

    @property
    def lengths(self) -> dict[str, Longest]:
        """A sample has one size, which the spec gives as `input`."""
        return {}


def resolve(spec: Spec) -> Network:
    if spec.input is None:
        hint = "give the size of one sample, such as `input: 3 × 224 × 224`, or `input: 784` for vectors"
        raise InputError("input is missing", hint, fields=[("input",), ("family",)])
    if not spec.layers:
        hint = "list them, such as `layers: [{linear: 100, act: relu}, {linear: 10}]`"
        raise InputError("a network needs layers", hint, fields=[("layers",), ("family",)])
    if spec.seq:
        fact = "a network reads samples of one size, not sequences"
        raise InputError(fact, "take it out; `input` gives the size of a sample", fields=[("seq",)])
    reader = Reader(spec)
    body, shape = reader.steps(spec.layers, _sample(spec), Place(("layers",), reader))
    heads, shapes = {}, []
    for name, items in spec.heads.items():
        refuse_unnamable(name, ("heads", name))
        if any(step.name == name for step in body.steps):
            raise InputError(f"{name} is a layer already", "give the head another name", fields=[("heads", name)])
        heads[name], behind = reader.steps(items, shape, Place(("heads", name), reader))
        shapes.append(behind)
    reader.refuse_mistakes()
    return _with_loss(spec, body, heads, shapes or [shape])


def _with_loss(spec: Spec, body: Sequence, heads: dict[str, Sequence], outputs: list[Shape]) -> Network:
    is_vector = all(not shape.sides for shape in outputs)
    loss = spec.loss or ("cross_entropy" if is_vector else "none")
    if loss == "cross_entropy":
        heads = {name: _as_classifier(head) for name, head in heads.items()}
        body = body if heads else _as_classifier(body)
    if loss == "squared_error" and any(shape != _sample(spec) for shape in outputs):
        fact = f"squared error compares the output, {outputs[0]}, with the input, {_sample(spec)}"
        raise InputError(fact, "give both one shape, or write `loss: none`", fields=[("loss",)])
    return Network(tuple(spec.input or ()), body, heads, loss)


def _sample(spec: Spec) -> Shape:
    channels, *sides = spec.input or (1,)
    return Shape(channels, tuple(sides))


def _as_classifier(sequence: Sequence) -> Sequence:
    """The last layer gives the scores, if it is a linear one."""
    if not sequence.steps:
        return sequence
    *before, last = sequence.steps
    layer: Any = last.layer
    if not isinstance(layer, Linear):
        return sequence
    return replace(sequence, steps=(*before, replace(last, layer=replace(layer, is_classifier=True))))


def defaults(spec: Spec, net: Network) -> Iterator[Default]:
    """What it takes for fields that its spec leaves out."""
    words = "no training loss" if net.loss == "none" else f"{net.loss.replace('_', ' ')} as the training loss"
    yield Default(("loss",), net.loss, words)
    written = [spec.layers, *(block.layers for block in spec.blocks.values()), *spec.heads.values()]
    for kind, called in BIASED.items():
        silent = "bias" not in spec.defaults.get(kind, {})  # about the bias of a layer of that kind
        if silent and any(kind in item and "bias" not in item for item in _inside(written)):
            yield Default(("defaults", kind, "bias"), True, f"{called} with bias")
    yield Default(("precision",), "fp32")


def _inside(value: Any) -> Iterator[dict[str, Any]]:
    """Every layer as written, in blocks, branches and heads too."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _inside(inner)
