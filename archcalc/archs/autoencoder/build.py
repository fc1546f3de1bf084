"""The forward pass of an autoencoder."""

from __future__ import annotations

from archcalc.archs.autoencoder.resolve import Autoencoder, LayeredAutoencoder, check_tree
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Region, Tensor, axes
from archcalc.layers.autoencoder import Coder, Merge, drawn, kullback_leibler, linear_autoencoder
from archcalc.layers.dims import sequence_of
from archcalc.layers.loss import squared_error
from archcalc.spec.workload import Workload

_LOSSES = {"squared": "squared_error", "bernoulli": "binary_cross_entropy"}
_SAID = {"squared": "mean squared error", "bernoulli": "binary cross-entropy of every number of the input"}


def build(model: Autoencoder | LayeredAutoencoder, work: Workload) -> Module:
    """Record the forward pass."""
    if work.decodes:
        hint = "use --mode train or prefill"
        raise InputError("an autoencoder generates no tokens, so it has no decode step", hint, field="--mode")
    root = Module("model", style=work.style)
    if isinstance(model, LayeredAutoencoder):
        _layered(root, model, work)
    elif model.kind == "linear":
        x = _sample(root, work, model.input)
        rebuilt = linear_autoencoder(root, x, Dim.of("hidden", model.hidden), bias=model.bias)
        if work.trains:
            squared_error(root, rebuilt, x)
    else:
        _recursive(root, model, work)
    return root


def _sample(root: Module, work: Workload, width: int) -> Tensor:
    sample = axes(Dim.of("batch", work.batch), Dim.of("input", width))
    return root.record("input", to=sample, name="input", note="one sample a row")


def _layered(root: Module, model: LayeredAutoencoder, work: Workload) -> None:
    """Down to the code, which a variational one draws at random, and up again."""
    x = _sample(root, work, model.input)
    widths = [Dim.of(f"hidden_{number}", width) for number, width in enumerate(model.encoder, start=1)]
    *inner, code = widths
    down = Coder(model.bias, model.act).run(root["encoder"], x, inner)
    heads: tuple[Tensor, ...] = ()
    if model.kind == "variational":
        heads = Coder(model.bias, model.act).heads(root["encoder"], down, code)
        z = drawn(root, *heads)
    else:
        z = Coder(model.bias, model.code_act).layer(root["encoder"], down, code, len(widths))
    rebuilt = _rebuilt(root, model, z, widths, x)
    acts = [act.replace("identity", "none") for act in (model.act, model.code_act, model.output_act)]
    of_code = "the code is drawn" if model.kind == "variational" else f"on the code {acts[1]}"
    text = f"activation {acts[0]}, {of_code}, on the output {acts[2]}; loss: {_SAID[model.loss]}"
    root.words.notes.append(Assumption(Topic.ARCHITECTURE, text))
    if work.trains:
        loss = root.section(Region.LOSS)
        loss.record(_LOSSES[model.loss], rebuilt, x, to=())
        if heads:
            kullback_leibler(loss, *heads)


def _rebuilt(root: Module, model: LayeredAutoencoder, z: Tensor, widths: list[Dim], x: Tensor) -> Tensor:
    """By the encoder's matrices, last to first, or by matrices of the decoder's own."""
    m, coder, out = root["decoder"], Coder(model.bias, model.act), Coder(model.bias, model.output_act)
    if not model.tied:
        inner = model.decoder[:-1]  # the encoder's own dims where they mirror them, else numbered on
        between = [Dim.of(f"hidden_{number}", width) for number, width in enumerate(inner, start=len(widths) + 1)]
        if inner == tuple(reversed(model.encoder[:-1])):
            between = list(reversed(widths[:-1]))
        up = coder.run(m, z, between)
        return out.layer(m, up, x.dims[-1], len(between) + 1)
    matrices = [root["encoder"][f"layer_{number}"].params["weight"] for number in range(len(widths), 0, -1)]
    up = coder.run(m, z, matrices[:-1])
    return out.layer(m, up, matrices[-1], len(matrices))


def _recursive(root: Module, model: Autoencoder, work: Workload) -> None:
    """A binary tree over n leaves has n - 1 inner nodes, each of them one call of the same merge."""
    check_tree(model, work.lengths["seq"])
    seq = sequence_of("seq", work.lengths["seq"])
    leaves = axes(Dim.of("batch", work.batch), seq, Dim.of("input", model.input))
    words = root.record("input", to=leaves, name="words", note=f"the leaves of a tree: {seq.size:,} vectors")
    m = root["merge"]
    m.calls = seq.size - Count(1)
    parent = Merge(model.hidden, model.classes, model.bias).run(m, words, work)
    root.record("view", parent, name="root", note="the root: the last parent")
    classifies = "; the classifier reads every parent" if model.classes else ""
    merges = f"{m.calls:,} {'merge' if m.calls == 1 else 'merges'}"
    text = f"{seq.size:,} words take {merges}{classifies}"
    root.words.notes.append(Assumption(Topic.ARCHITECTURE, text, int(seq.size)))
