"""A Transformer's encoder or decoder as a part: it reads tokens, an image, a spectrogram or other parts' positions."""

from __future__ import annotations

from typing import Any

from archcalc.archs.network.layer import Shape
from archcalc.archs.parts.flow import Flow, Given, Made, Signal, samples
from archcalc.archs.transformer.build import Read, run_end, run_stack
from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.resolve import ResolvedStack, Transformer, resolve
from archcalc.archs.transformer.spec import Spec
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Param
from archcalc.layers.dims import sequence_of
from archcalc.spec.reading import read_node
from archcalc.spec.workload import Workload

SEQUENCE = "part_seq"  # the positions of a part whose length no option chooses
MEMORY = "memory_seq"
CLIP = 3  # sides of what comes in: frames, height, width


def seen(given: Given[Any]) -> Given[Any]:
    """Vectors of several in a sample are positions."""
    return given.together()


def fields(written: dict[str, Any], given: Given[Flow], is_output: bool) -> dict[str, Any]:
    if "encoder" in written and "decoder" in written:
        hint = "write two parts, of which the second has `memory:` and the name of the first"
        raise InputError("a part is an encoder or a decoder", hint, fields=[("encoder",)])
    if given.start or given.context:
        field = "start" if given.start else "context"
        hint = "take it out; `memory` is what it attends to"
        raise InputError(f"a Transformer has no {field}", hint, fields=[(field,)])
    return {**written, "head": _head(written, given, is_output), **_embedding(written, given)}


def read(fields: dict[str, Any], given: Given[Flow]) -> Transformer:
    return resolve(read_node(Spec, fields), given.memory.shape.channels if given.memory else 0)


def _head(written: dict[str, Any], given: Given[Flow], is_output: bool) -> Any:
    """A part gives its hidden states, unless it says more; one that reads tokens and ends the model has a head."""
    said = written.get("head")
    if isinstance(said, dict) and "kind" not in said:
        return {"kind": "none" if said.keys() <= {"pool", "pooler", "norm"} else "lm", **said}
    predicts = is_output and any(flow.shape.is_ids for flow in given.reads)
    return said or ("lm" if predicts else "none")


def _embedding(written: dict[str, Any], given: Given[Flow]) -> dict[str, Any]:
    """What the flows say of the embedding."""
    said: Any = written.get("embedding", {})
    if any(flow.shape.is_ids for flow in given.reads):
        _check_widths(given, written.get("d_model"))
        return {}
    if not isinstance(said, dict):
        said = {"bias": said}
    for field in ("image", "channels", "mels"):
        if field in said:
            hint = "take it out: the input says it"
            raise InputError(f"{field} follows from what comes in", hint, fields=[("embedding", field)])
    if all(flow.has_positions for flow in given.reads):
        width = _one_width(given, written.get("d_model"))
        return {"embedding": {"kind": "vectors", **said}, "d_model": width}
    if len(given.reads) > 1:
        hint = "let a part of its own read each map, and this one what they give"
        raise InputError("a map stands in no sequence with others", hint, fields=[("reads",)])
    channels, sides = given.reads[0].shape.channels, given.reads[0].shape.sides
    if len(sides) == 1:
        heard = {} if said.get("samples") else {"mels": channels}
        return {"embedding": {"kind": "audio", **heard, **said}}
    return {
        "embedding": {"kind": "patches", "image": list(sides[-2:]), "channels": channels, **said, **_clip(said, sides)}
    }


def _clip(said: dict[str, Any], sides: tuple[int, ...]) -> dict[str, int]:
    """Patches are as many frames long as the clip is that comes in."""
    frames = sides[0] if len(sides) == CLIP else 1
    if said.get("frames", frames) != frames:
        fact = f"patches of {said['frames']} frames, and {'a clip of ' if frames > 1 else ''}{frames} comes in"
        hint = f"write the input as channels × frames × height × width, such as `3 × {said['frames']} × 224 × 224`"
        raise InputError(fact, hint, fields=[("embedding", "frames")])
    return {"frames": frames} if frames > 1 else {}


def _one_width(given: Given[Flow], wanted: Any) -> int:
    """Positions are read as they come, so that all are as wide as the model."""
    widths = {flow.shape.channels for flow in given.reads}
    wide = wanted if isinstance(wanted, int) else widths.pop()
    _check_widths(given, wide)
    return wide


def _check_widths(given: Given[Flow], wide: Any) -> None:
    """Of what stands in a sequence as it comes."""
    for flow in given.reads:
        if isinstance(wide, int) and not flow.shape.is_ids and flow.shape.channels != wide:
            fact = f"{flow} comes in, and d_model is {wide:,}"
            raise InputError(fact, f"put `{{linear: {wide}}}` between them", fields=[("d_model",), ("reads",)])


def at(model: Transformer, given: Given[Flow]) -> Transformer:
    """Its weights know no lengths but those of position tables."""
    return model


def decodes(model: Transformer) -> bool:
    return bool(model.decoder) and not (model.head.pooler or model.head.pool not in (None, "each"))


def flow(model: Transformer, given: Given[Flow]) -> Flow:
    (stack,), head = model.stacks, model.head
    out = given.reads[0] if len(given.reads) == 1 else _joined(given)
    wide = stack.d_model
    if head.kind in ("lm", "tied"):
        return out.gives(Shape.sequence(_positions(stack, given), model.head_vocab or 0))
    if head.kind == "classifier":
        wide = head.classes or 0
    if head.pool == "patches" and stack.patches:
        return out.gives(Shape.sequence(stack.patches.number, wide))
    each = head.pool == "each" if head.kind == "classifier" else not (head.pool or head.pooler)
    if each:
        return out.gives(Shape.sequence(_positions(stack, given), wide))
    if head.kind == "none" and head.pooler:
        wide = stack.d_model if head.pooler is True else head.pooler
    return out.gives(Shape(2 * wide if head.kind == "none" and head.pool == "both" else wide))


def _joined(given: Given[Flow]) -> Flow:
    """Several in one sequence: one for each sample."""
    tokens = next((flow for flow in given.reads if flow.shape.is_ids), None)
    is_absent = all(flow.is_absent for flow in given.reads)
    return Flow(Shape(1), length=tokens.length if tokens else "", is_absent=is_absent)


def _positions(stack: ResolvedStack, given: Given[Flow]) -> int:
    """How long its sequence is."""
    if stack.patches:
        return stack.patches.seq
    if stack.audio:
        return stack.audio.positions(given.reads[0].shape.sides[0])
    if len(given.reads) == 1:
        (only,) = given.reads
        return only.shape.sides[0] if only.shape.sides else 1
    return sum(one.positions for one in given.reads)


def run(model: Transformer, m: Module, given: Given[Signal], work: Workload) -> Made:
    (stack,) = model.stacks
    tokens = next((one for one in given.reads if one.flow.shape.is_ids), None)
    flows = Given(tuple(one.flow for one in given.reads))
    after = flow(model, flows)
    name = (tokens.flow.length if tokens else "") or SEQUENCE
    length = _positions(stack, flows)
    if tokens and len(given.reads) > 1:  # a piece of a prompt, perhaps, in which not all of an image stands
        length = min(length, work.lengths.get(name, length))
    batch, seq = samples(after, work.batch), sequence_of(name, length)
    memory = given.memory.in_order(m).as_positions(m, batch, MEMORY, "memory") if given.memory else None
    asked = work if stack.name == "decoder" else work.of_encoder()
    tables: dict[str, Param] = {}
    x = run_stack(m, "", stack, _incoming(m, given, batch, seq), tables, Context(asked, memory))
    answer = run_end(m, x, model, tables, work)
    return Made(Signal(after, answer.output), answer.logits)


def _incoming(m: Module, given: Given[Signal], batch: Dim, seq: Dim) -> Read:
    """The raw input, and positions as vectors."""
    vectors = [one for one in given.reads if not one.flow.shape.is_ids and one.flow.has_positions]
    raw = next((one for one in given.reads if one not in vectors), None)
    if len(given.reads) == 1:
        if raw:
            return Read(batch, seq, raw.tensor.seen_as(batch, seq) if raw.flow.shape.is_ids else raw.tensor)
        return Read(batch, seq, vectors=(vectors[0].in_order(m).as_positions(m, batch, seq.name, "d_model"),))
    joined, left = [], int(seq.size) - (raw.flow.positions if raw else 0)
    for index, one in enumerate(vectors, start=1):
        positions = min(one.flow.positions, left - (len(vectors) - index))
        joined.append(one.as_positions(m, batch, f"{seq.name}_{index}", "d_model", positions))
        left -= positions
    return Read(batch, seq, raw and raw.tensor, tuple(joined))
