"""A network with every value filled in: sizes worked out, blocks opened, shapes followed from layer to layer.

Where the number of positions is open, the layers are read again for another one: `net.at(sample)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from archcalc.archs.network.build import build
from archcalc.archs.network.kinds.linear import Linear
from archcalc.archs.network.kinds.norm import Norm
from archcalc.archs.network.layer import Place, Sequence, Shape, Signal
from archcalc.archs.network.names import refuse_unnamable
from archcalc.archs.network.reader import Reader
from archcalc.archs.network.sample import OPEN, is_open, sample_of, usual_length
from archcalc.archs.network.spec import Spec
from archcalc.core.errors import InputError
from archcalc.core.ir import walk
from archcalc.core.worked_out import WorkedOut
from archcalc.spec.defaults import Default
from archcalc.spec.resolved import every_part
from archcalc.spec.workload import USUAL_LENGTH, Longest, Workload

FIXED = "its weights or its layers are made for that: write another number of positions at `input` or `seq`"
BIASED = {"conv": "convolutions", "transposed_conv": "transposed convolutions", "linear": "linear layers"}


@dataclass(frozen=True)
class Network(WorkedOut):
    """`heads` are the layers of each output behind `body`; none where the body gives the output itself. `beside` are
    what other parts of a larger model give, which layers may name."""

    spec: Spec
    sample: Shape
    beside: dict[str, Shape]
    body: Sequence
    heads: dict[str, Sequence]
    outputs: tuple[Shape, ...]
    loss: str
    kind: str = ""

    def made_small(self, original: Network) -> Network:
        """What one layer gives has to fit the next: all sizes stay."""
        return original

    @property
    def smallest_batch(self) -> int:
        """That PyTorch can train on."""
        return 2 if any(isinstance(part, Norm) and part.needs_two for part in every_part(self)) else 1

    @cached_property
    def lengths(self) -> dict[str, Longest]:
        """A vector or a map has one size, which the spec gives as `input`; a sequence may have any length with which
        the layers have the same weights."""
        if self.spec.input is None or not is_open(self.spec.input):
            return {}
        length = self.sample.sides[0]
        longer = [self._readable(length + 1), self._readable(2 * length)]
        if any(net is None or _weights(net) != _weights(self) for net in longer):
            return {OPEN: Longest(length, fixed=FIXED)}
        least = next(size for size in (*_doubling(length), length) if self._readable(size))
        return {OPEN: Longest(least=least, usual=self.spec.seq or usual_length(self.spec.input))}

    def _readable(self, length: int) -> Network | None:
        """With so many positions, if the layers can read them."""
        try:
            return self.of_lengths({OPEN: length})
        except InputError:
            return None

    def at(self, sample: Shape, beside: dict[str, Shape] | None = None) -> Network:
        """The same layers, read for samples of these shapes."""
        beside = beside or {}
        return self if (sample, beside) == (self.sample, self.beside) else read(self.spec, sample, beside)

    def of_lengths(self, lengths: Mapping[str, int]) -> Network:
        """For as many positions as a workload has."""
        if OPEN not in lengths or self.spec.input is None:
            return self
        return self.at(sample_of(self.spec.input, lengths[OPEN]))


def _doubling(most: int) -> Iterator[int]:
    size = 1
    while size < most:
        yield size
        size *= 2


def _weights(net: Network) -> list[tuple[str, tuple[int, ...]]]:
    """The path and the shape of every parameter."""
    lengths = {OPEN: net.sample.sides[0]}
    root = build(net, Workload(1, lengths, mode="forward"))
    return [
        (f"{module.path}.{param.name}", param.shape) for module, _ in walk(root) for param in module.params.values()
    ]


def resolve(spec: Spec) -> Network:
    if spec.input is None:
        hint = "give the size of one sample, such as `input: 3 × 224 × 224`, or `input: 784` for vectors"
        raise InputError("input is missing", hint, fields=[("input",), ("family",)])
    if spec.seq and not is_open(spec.input):
        fact = "a network with that input reads samples of one size"
        hint = "take it out, or leave the number of positions open, such as `input: tokens` or `input: 80 × seq`"
        raise InputError(fact, hint, fields=[("seq",)])
    return read(spec, sample_of(spec.input, spec.seq or usual_length(spec.input) or USUAL_LENGTH))


def read(spec: Spec, sample: Shape, beside: dict[str, Shape] | None = None) -> Network:
    """The layers of a spec behind what comes in, whatever its own `input` says."""
    if not spec.layers:
        hint = "list them, such as `layers: [{linear: 100, act: relu}, {linear: 10}]`"
        raise InputError("a network needs layers", hint, fields=[("layers",), ("family",)])
    reader, beside = Reader(spec), beside or {}
    signals = {name: Signal(shape, ("reads",)) for name, shape in beside.items()}
    top = Place(("layers",), reader, signals=signals)
    body, shape = reader.named_steps(spec.layers, sample, top)
    heads, shapes = {}, []
    for name, items in spec.heads.items():
        refuse_unnamable(name, ("heads", name))
        if any(step.name == name for step in body.steps):
            raise InputError(f"{name} is a layer already", "give the head another name", fields=[("heads", name)])
        heads[name], behind = reader.steps(items, shape, Place(("heads", name), reader, signals=top.signals))
        shapes.append(behind)
    reader.refuse_mistakes()
    return _with_loss(Network(spec, sample, beside, body, heads, tuple(shapes or [shape]), spec.loss or ""))


def _with_loss(net: Network) -> Network:
    if any(shape.is_ids for shape in net.outputs):
        hint = "put an embedding into the layers, such as `{embedding: 128, vocab: 20000}`"
        raise InputError("no layer reads the ids of the tokens", hint, fields=[("layers",)])
    is_scores = all(not shape.sides or shape.is_sequence for shape in net.outputs)
    loss = net.loss or ("cross_entropy" if is_scores else "none")
    if loss == "squared_error" and any(shape != net.sample for shape in net.outputs):
        fact = f"squared error compares the output, {net.outputs[0]}, with the input, {net.sample}"
        raise InputError(fact, "give both one shape, or write `loss: none`", fields=[("loss",)])
    if loss != "cross_entropy":
        return replace(net, loss=loss)
    heads = {name: _as_classifier(head) for name, head in net.heads.items()}
    return replace(net, loss=loss, heads=heads, body=net.body if heads else _as_classifier(net.body))


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
