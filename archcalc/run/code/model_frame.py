"""The function that runs a whole model, with the names that hold tensors while it does."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, ModuleGroup, Op, Region, Tensor, walk
from archcalc.core.tree import ops_in, read_from_outside
from archcalc.run.code import masks, positions
from archcalc.run.code.writing import WIDE, end_of_scope


class ModelFrame:
    """An embedding and the stack of blocks behind it."""

    def __init__(self, embedding: Module, stack: Module, *, narrow: bool) -> None:
        self.embedding, self.stack, self.narrow = embedding, stack, narrow
        self.lookups = [op for op in ops_in(embedding) if op.traits.reads_rows]

    @property
    def blocks(self) -> list[Module]:
        """Those that hand something on."""
        return [module for module, _ in walk(self.stack) if module.region == Region.BLOCK and module.carries]

    @property
    def embedded(self) -> Tensor:
        """What the first block is given."""
        return self.blocks[0].carries[0][0]

    @property
    def has_tables(self) -> bool:
        return any(op.traits.position_tables for op in ops_in(self.stack))

    def make_masks(self, *, every: bool = False) -> list[Tensor]:
        """In front of the embedding's dropout."""
        lines, made = masks.lower_masks(self.stack, self.embedded.dims[0], narrow=self.narrow, every=every)
        self.before_dropout(lines)
        return made

    def before_dropout(self, lines: list[Op]) -> None:
        body = self.embedding.body
        last = body[-1]
        place = len(body) - (isinstance(last, Op) and bool(last.beside))
        body[place:place] = lines

    def make_tables(self, places: Tensor, *, in_fp32: bool = False) -> list[Tensor]:
        """Cosines and sines, in front of the first block; `in_fp32`: they stay so."""
        if in_fp32:
            self._widen_tables()
        rotations = [op for op in ops_in(self.stack) if op.traits.position_tables]
        found = list(dict.fromkeys((op.inputs[1], op.inputs[2]) for op in rotations))
        lines: list[Op] = []
        for number, tables in enumerate(found, start=1):
            positions.keep_frequencies(self.stack, tables, number)
            lines.extend(positions.rotary_tables(places, tables, narrow=self.narrow and not in_fp32))
        self.stack.body[:0] = lines
        return [table for tables in found for table in tables]

    def _widen_tables(self) -> None:
        wide: dict[Tensor, Tensor] = {}
        for module, _ in walk(self.stack):
            for place, item in enumerate(module.body):
                if isinstance(item, Op) and item.traits.position_tables:
                    made = (wide.setdefault(table, Tensor(table.axes, WIDE)) for table in item.inputs[1:])
                    module.body[place] = replace(item, inputs=(item.inputs[0], *made))

    def until_end(self, *tensors: Tensor) -> None:
        self.stack.body.extend(end_of_scope(*tensors))


def model_frames(root: Module, *, narrow: bool) -> list[ModelFrame]:
    """Every stack of blocks with the embedding in front of it; a stack that has none is left as it is."""
    found: list[ModelFrame] = []
    embedding: Module | None = None
    for child in root.children:
        if child.group == ModuleGroup.EMBEDDING:
            embedding = child
        elif child.group == ModuleGroup.BLOCKS and embedding:
            found.append(ModelFrame(embedding, child, narrow=narrow))
            embedding = None
    return [frame for frame in found if frame.blocks]


def hold_hidden_states(root: Module) -> None:
    """LlamaForCausalLM.forward and others like it: what the head reads is held until the loss is there."""
    heads = [child for child in root.children if child.group == ModuleGroup.HEAD]
    root.body.extend(end_of_scope(*(read_from_outside(head)[0] for head in heads)))
