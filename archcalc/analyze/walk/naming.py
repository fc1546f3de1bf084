"""What steps and tensors of a walk are called: paths for links, titles for people, letters for formulas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from archcalc.analyze.diagram.sketch import windows, words
from archcalc.analyze.walk.formula import LONGEST, Written, letter
from archcalc.analyze.walk.steps import Step
from archcalc.core.equations import System
from archcalc.core.ir import Module, Op, Param, Tensor
from archcalc.core.op_pictures import PICTURES

X = "x"  # what comes into a part of the model


@dataclass
class Naming:
    """Of all steps of a model."""

    steps: Sequence[Step]
    path: dict[Step, str] = field(init=False)
    maker: dict[Tensor, tuple[Step, Op]] = field(init=False)

    def __post_init__(self) -> None:
        self.maker = {op.output.storage: (step, op) for step in self.steps for op in step.ops}
        self.alone = Counter(step.module for step in self.steps)
        self.path = {}
        taken = Counter[str]()
        for step in self.steps:
            path = self._path(step)
            taken[path] += 1
            self.path[step] = f"{path}-{taken[path]}" if taken[path] > 1 else path

    def is_whole(self, step: Step) -> bool:
        """All that its module does, or where the module's own weights are: it goes by the module's name."""
        inside = any(isinstance(item, Module) and not item.is_section for item in step.module.body)
        own = any(param.owner is step.module for param in step.params)
        return own or (self.alone[step.module] == 1 and not inside)

    def _path(self, step: Step) -> str:
        module = step.module.path
        if self.is_whole(step) and module:
            return module
        return f"{module}.{self._name(step)}".lstrip(".")

    def _name(self, step: Step) -> str:
        """`scores`, `relu`, `add`."""
        made = step.made
        if made is None:
            return step.module.name
        return made.name or (step.shown.name if step.shown else _word(step, made).replace(" ", "_"))

    def title(self, step: Step) -> str:
        if self.is_whole(step):
            return step.module.words.full_name
        made, shown = step.made, step.shown
        for op in (made, shown):
            if op and op.name:
                return op.title or op.name.replace("_", " ")
        return _word(step, made) if made else "kept"

    def what(self, step: Step) -> str:
        """`linear`, `convolution, 3 × 3`, `scale, mask, softmax`."""
        if not step.ops:
            return "stored, not read in this pass"
        seen = [op for op in step.ops if not PICTURES[op.kind].unseen]
        told = [PICTURES[op.kind].sign and op.kind or words(op) for op in seen]
        moved = windows(step.ops, with_size=True)
        notes = [op.note for op in step.ops if op.note and op.name]
        return ", ".join(dict.fromkeys(filter(None, (*told, moved, *notes)))) or step.ops[-1].kind

    def of(self, step: Step, tensor: Tensor) -> str:
        """A letter of a parameter; the name of a step in the same part; x for what comes from outside."""
        if isinstance(tensor.storage, Param):
            return letter(tensor.storage)
        if tensor.storage not in self.maker:
            return tensor.role if tensor.role not in ("act", "stat") else "0"
        made_in, op = self.maker[tensor.storage]
        if made_in is step:
            return self._symbol(step)
        return self._seen_from(step.module, made_in, op)

    def _symbol(self, step: Step) -> str:
        return step.module.name if self.is_whole(step) and step.module.name else self._name(step)

    def _seen_from(self, module: Module, made_in: Step, op: Op) -> str:
        line = [each for each in made_in.module.ancestry if not each.is_section]
        inside = next((place for place, each in enumerate(line) if each is module), None)
        if inside is None and line[0] is module.parent:
            inside = 0
        if inside is None:
            return X
        if inside == 0:
            return op.name or self._symbol(made_in)
        return line[inside - 1].name

    def formula(self, step: Step) -> str:
        made = step.made
        if made is None or made.traits.enters:
            return ""
        system = _system(step.module)
        equation = next((each for each in system.equations if made.name and each.signal == made.name), None)
        if equation:
            return equation.text.partition(" = ")[2]
        text = Written.of(step.ops, lambda tensor: self.of(step, tensor)).text(made.output)
        return text if len(text) <= LONGEST else f"{_word(step, made)}(…)"


def _system(module: Module) -> System:
    return next((each.words.equations for each in module.ancestry if each.words.equations), System())


def _word(step: Step, op: Op) -> str:
    return op.kind.replace("_", " ") if PICTURES[op.kind].sign else words(op)
