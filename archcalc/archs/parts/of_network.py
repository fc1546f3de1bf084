"""A list of layers as a part, or a single layer. It reads the first of its flows; layers may name all of them."""

from __future__ import annotations

from typing import Any

from archcalc.archs.network.layer import Shape, Trace
from archcalc.archs.network.resolve import Network
from archcalc.archs.network.resolve import read as read_layers
from archcalc.archs.network.sample import OPEN
from archcalc.archs.network.spec import Spec
from archcalc.archs.parts.flow import Flow, Given, Made, Signal, record
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Tensor, walk
from archcalc.spec.reading import read_node
from archcalc.spec.resolved import every_part
from archcalc.spec.workload import Workload


def seen(given: Given[Any]) -> Given[Any]:
    """Vectors of several in a sample are positions beside something of which there is one."""
    return given.together() if len(_numbers(given)) > 1 else given


def _numbers(given: Given[Any]) -> set[int]:
    return {getattr(one, "flow", one).number for one in given.reads}


def fields(written: dict[str, Any], given: Given[Flow], is_output: bool) -> dict[str, Any]:
    for field in ("memory", "start", "context"):
        if getattr(given, field):
            hint = "a layer reads it by its name, such as `{concat: [input, encoder]}`"
            raise InputError(f"a list of layers has no {field}", hint, fields=[(field,)])
    if "input" in written:
        raise InputError("what comes in is what the part reads", "use `reads`", fields=[("input",)])
    if "heads" in written:
        hint = "write a part for each, which all read the same"
        raise InputError("a part gives one output", hint, fields=[("heads",)])
    is_list = isinstance(written.get("layers"), list)
    loss = {} if is_output else {"loss": "none"}
    return {"input": _input(given.reads[0].shape), **(written if is_list else {"layers": [written]}), **loss}


def _input(shape: Shape) -> Any:
    """As a spec writes what comes in."""
    if shape.is_ids:
        return f"{shape.sides[0]} tokens"
    return [shape.channels, OPEN] if shape.is_sequence else [shape.channels, *shape.sides]


def read(fields: dict[str, Any], given: Given[Flow]) -> Network:
    return read_layers(read_node(Spec, {**fields, "family": "network"}), *_shapes(given))


def _shapes(given: Given[Any]) -> tuple[Shape, dict[str, Shape]]:
    """Of what is read, and of all that layers may name."""
    numbers = _numbers(given)
    if len(numbers) > 1:
        fact = f"{' and '.join(map(str, sorted(numbers)))} of them come in for each sample"
        raise InputError(
            fact,
            "make a vector of each, such as `[{pool: average, to: 1}, flatten]`: vectors become one sequence",
            fields=[("reads",)],
        )
    return given.reads[0].shape, {name: flow.shape for name, flow in given.named.items()}


def at(net: Network, given: Given[Flow]) -> Network:
    return net.at(*_shapes(given))


def decodes(net: Network) -> bool:
    """Whether each layer looks at each position by itself."""
    layers = (part for part in every_part(net.body) if hasattr(part, "spec_kind"))
    return all(getattr(layer, "of_each_position", False) for layer in layers)


def flow(net: Network, given: Given[Flow]) -> Flow:
    return given.reads[0].gives(at(net, given).outputs[0])


def weights(net: Network, given: Given[Flow]) -> list[tuple[str, tuple[int, ...]]]:
    """The path and the shape of every parameter."""
    m = Module("layers")
    signals = (Signal(one, record(m, one, 1, name)) for name, one in given.named.items())
    run(net, m, Given(tuple(signals), given.names), Workload(1, {}, mode="forward"))
    return [(module.path, param.shape) for module, _ in walk(m) for param in module.params.values()]


def run(net: Network, m: Module, given: Given[Signal], work: Workload) -> Made:
    flows = Given(tuple(one.flow for one in given.reads), given.names)
    after, trace, read = flow(net, flows), Trace(work), at(net, flows)
    entered = [_entered(one, trace) for one in given.reads]
    trace.signals = dict(zip(given.names, entered, strict=True))
    out = read.body.run_steps(m, entered[0], trace)
    scores = {m: out} if read.loss == "cross_entropy" else {}
    return Made(Signal(after, out, is_turned=trace.is_turned(out)), scores, has_head=False)


def _entered(one: Signal, trace: Trace) -> Tensor:
    """Under names that layers give, so that several of unlike sizes can be joined."""
    shape, first = one.flow.shape, one.tensor.dims[0]
    if shape.is_ids:
        return one.tensor.seen_as(first, trace.positions(shape.sides[0]))
    if shape.is_sequence:
        seen = one.tensor.seen_as(first, trace.positions(shape.sides[0]), trace.channels(shape.channels, 0))
    else:
        sides = trace.sides((), shape.sides) if shape.sides else ()
        seen = one.tensor.seen_as(first, trace.channels(shape.channels, len(sides)), *sides)
    return trace.turned(seen) if one.is_turned else seen
