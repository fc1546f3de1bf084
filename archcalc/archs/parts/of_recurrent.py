"""A stack of recurrent layers as a part: it reads tokens or a sequence, and may start from another part's state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from archcalc.archs.network.layer import Shape
from archcalc.archs.parts.flow import Flow, Given, Made, Signal, samples
from archcalc.archs.recurrent.build import embedded, run_attending, run_head, say_conventions
from archcalc.archs.recurrent.layers import Start, run_layers
from archcalc.archs.recurrent.resolve import Recurrent, check_states, resolve_alone
from archcalc.archs.recurrent.spec import Spec
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Param, Tensor, axes
from archcalc.layers.dims import sequence_of
from archcalc.spec.reading import read_node
from archcalc.spec.workload import Workload

SEQUENCE = "part_seq"


def seen(given: Given[Any]) -> Given[Any]:
    """Vectors of several in a sample, and the places of a map with one side, are positions."""
    return given.each(lambda one: one.in_one.along_its_side)


def fields(written: dict[str, Any], given: Given[Flow], is_output: bool) -> dict[str, Any]:
    for side in ("encoder", "decoder"):
        if side in written:
            hint = "write two parts: the second has `start:` or `memory:` and the name of the first"
            raise InputError("a part is one stack", hint, fields=[(side,)])
    flow = _only(given)
    own = {} if flow.shape.is_ids else {"input": flow.shape.channels}
    return {**written, "family": "recurrent", "head": _head(written, flow, is_output), **own}


def read(fields: dict[str, Any], given: Given[Flow]) -> Recurrent:
    widths = (each.shape.channels if each else 0 for each in (given.memory, given.context))
    model = resolve_alone(read_node(Spec, fields), *widths)
    _check_start(model, given.start)
    return model


def _only(given: Given[Flow]) -> Flow:
    if len(given.reads) > 1:
        hint = "join them in a part of its own: `{concat: [a, b], along: positions}`; or give one as `context`"
        raise InputError("a recurrent part reads one sequence", hint, fields=[("reads",)])
    (flow,) = given.reads
    if not (flow.shape.is_ids or flow.shape.is_sequence):
        hint = "make it a sequence first, such as `layers: [{sequence: width}]`; a vector may be `start` or `context`"
        raise InputError(f"a recurrent part reads a sequence, and {flow} comes in", hint, fields=[("reads",)])
    return flow


def _head(written: dict[str, Any], flow: Flow, is_output: bool) -> Any:
    """A part gives its states, unless it says more; one that reads tokens and ends the model has a head."""
    said = written.get("head")
    if isinstance(said, dict) and said.keys() == {"pool"}:
        return {"kind": "none", **said}
    return said or ("lm" if is_output and flow.shape.is_ids else "none")


def _check_start(model: Recurrent, start: Flow | None) -> None:
    """Another stack's last states, layer by layer; or a vector as wide as the state that it begins."""
    (stack,) = model.stacks
    if start is None:
        return
    if start.shape.is_sequence and start.ends_as:
        check_states(start.ends_as, stack, [("start",)])
        return
    states = {group.layer.state for group in stack.layers}
    if start.shape.sides or states != {start.shape.channels}:
        wide = " and ".join(map(str, sorted(states)))
        fact = f"the state is {wide} wide, and {start} is to begin it"
        raise InputError(fact, _how_to_begin(start, wide), fields=[("start",)])


def _how_to_begin(start: Flow, wide: str) -> str:
    if start.shape.sides:
        return "name a recurrent part, which ends in states, or make it a vector, such as `head: {pool: last}`"
    return f"put `{{linear: {wide}}}` between them"


def at(model: Recurrent, given: Given[Flow]) -> Recurrent:
    """Its weights know no lengths."""
    return model


def decodes(model: Recurrent) -> bool:
    ahead = any(group.layer.directions > 1 for group in model.stacks[0].layers)
    return not ahead and not model.head.pool


def flow(model: Recurrent, given: Given[Flow]) -> Flow:
    return replace(_given_out(model, given.reads[0]), ends_as=model.stacks[0])


def _given_out(model: Recurrent, only: Flow) -> Flow:
    (stack,), head = model.stacks, model.head
    width = stack.top.output
    if head.kind in ("lm", "tied"):
        return only.gives(Shape.sequence(only.shape.sides[0], model.head_vocab))
    if head.kind == "classifier":
        width = head.classes or 0
    if not head.pool or any(pool.kind == "each" for pool in head.pool):
        return only.gives(Shape.sequence(only.shape.sides[0], width))
    several = 1 if head.kind == "classifier" else len(head.pool)
    return only.gives(Shape(several * width))


def run(model: Recurrent, m: Module, given: Given[Signal], work: Workload) -> Made:
    (stack,), (incoming,) = model.stacks, (one.in_order(m) for one in given.reads)
    after = flow(model, Given((incoming.flow,)))
    batch, seq = samples(after, work.batch), sequence_of(after.length or SEQUENCE, incoming.flow.shape.sides[0])
    say_conventions(m, model)
    tables: dict[str, Param] = {}
    asked = work.of_encoder() if model.pools else work
    x = embedded(m, stack, batch, seq, tables, _seen(incoming, batch, seq))
    if model.attention and given.memory:
        memory = given.memory.in_order(m).as_positions(m, batch, "memory_seq", "memory")
        made = run_attending(m, x, memory, stack, model.attention, asked, _start(given))
    else:
        made = run_layers(m, x, stack, asked, _start(given), _context(given, batch))
    scores, output = run_head(m, made, model, tables)
    return Made(Signal(after, output, made), {m: scores} if scores else {})


def _context(given: Given[Signal], batch: Dim) -> Tensor | None:
    """Under a name that the layer's own widths do not have."""
    if not given.context:
        return None
    return given.context.tensor.seen_as(batch, Dim.of("context", given.context.flow.shape.channels))


def _seen(incoming: Signal, batch: Dim, seq: Dim) -> Tensor:
    """Ids, or vectors as wide as the first layer's input."""
    shape = incoming.flow.shape
    if shape.is_ids:
        return incoming.tensor.seen_as(*axes(batch, seq))
    return incoming.tensor.seen_as(*axes(batch, seq, Dim.of("input", shape.channels)))


def _start(given: Given[Signal]) -> Start:
    """Another stack's last states, or a vector."""
    if given.start is None:
        return None
    return given.start.states if given.start.flow.shape.is_sequence else given.start.tensor
