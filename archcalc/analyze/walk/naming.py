"""What steps and tensors of a walk are called: paths for links, titles for people, letters for formulas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from archcalc.analyze.diagram.kinds import weights
from archcalc.analyze.diagram.sketch import windows, words
from archcalc.analyze.walk.formula import LONGEST, Written, letter
from archcalc.analyze.walk.steps import Step, is_bias
from archcalc.core.equations import System
from archcalc.core.ir import Module, Op, Param, Region, Tensor
from archcalc.core.op_formulas import FORMULAS
from archcalc.core.op_pictures import PICTURES

X = "x"  # what comes into a part of the model
HIDDEN = "h"  # what an activation makes


@dataclass
class Naming:
    """Of all steps of a model."""

    steps: Sequence[Step]
    path: dict[Step, str] = field(init=False)
    maker: dict[Tensor, tuple[Step, Op]] = field(init=False)  # by what they make, be it a storage or a view

    def __post_init__(self) -> None:
        self.maker = {made: (step, op) for step in self.steps for made, op in step.makes.items()}
        self.steps_of = Counter(step.module for step in self.steps)
        self.weighing = Counter(step.module for step in self.steps if _reads_own(step))
        self.hidden = Counter(step.module for step in self.steps if _is_hidden(step))
        around = dict.fromkeys(module for step in self.steps for module in step.module.ancestry)
        carried = [pair for module in around if module.region == Region.STEP for pair in module.carries]
        self.before = {into.storage: f"{self._carried(out)}⟨t−1⟩" for into, out in carried}
        self.first: dict[Module, Tensor] = {}  # what comes into a module, if several things do: before all others
        self.path = {}
        taken = Counter[str]()
        for step in self.steps:
            path = self._path(step)
            taken[path] += 1
            self.path[step] = f"{path}_{taken[path]}" if taken[path] > 1 else path
            for tensor in (tensor for op in step.ops for tensor in op.inputs):
                found = self.made(tensor)
                if found and step.module not in found[0].module.ancestry:
                    self.first.setdefault(_apart(step.module, found[0].module)[0], tensor.within(self.maker))

    def is_alone(self, step: Step) -> bool:
        """All that its module does: the module needs no heading."""
        inside = any(isinstance(item, Module) and not item.is_section for item in step.module.body)
        return self.steps_of[step.module] == 1 and not inside

    def is_whole(self, step: Step) -> bool:
        """That, or what its module is there for, with the module's own weights: links to the module lead to it."""
        named = step.made is not None and bool(step.made.name)
        return self.is_alone(step) or (_reads_own(step) and self.weighing[step.module] == 1 and not named)

    def _path(self, step: Step) -> str:
        module = step.module.path
        if self.is_whole(step) and module:
            return module
        return f"{module}.{self._name(step)}".lstrip(".")

    def _name(self, step: Step) -> str:
        """`scores`, `relu`, `add`."""
        main = step.main
        if main is None:
            return step.module.name
        return main.name or (step.shown.name if step.shown else _word(main).replace(" ", "_").lower())

    def title(self, step: Step) -> str:
        if self.is_alone(step):
            return step.module.words.full_name
        named = [op for op in (step.main, step.shown) if op and op.name]
        if named:
            return named[0].title or named[0].name.replace("_", " ")
        return _word(step.main) if step.main else "kept"

    def what(self, step: Step) -> str:
        """`linear`, `7 × 7, stride 2`, `scale, mask, softmax`: what the title does not say."""
        if not step.ops:
            return "stored, not read in this pass"
        seen = [op for op in step.ops if not PICTURES[op.kind].unseen and not is_bias(op, step)]
        told = [_word(op) for op in seen]
        moved = windows(step.ops, with_size=True)
        notes = [op.note for op in step.ops if op.note and op.name]
        title = self.title(step)
        return ", ".join(each for each in dict.fromkeys((*told, moved, *notes)) if each and each != title)

    def of(self, step: Step, tensor: Tensor) -> str:
        """A letter of a parameter; the name of a step in the same part; x for what comes from outside."""
        if isinstance(tensor.storage, Param):
            return letter(tensor.storage)
        if tensor.storage in self.before:
            return self.before[tensor.storage]
        found = self.made(tensor)
        if not found:
            return ""
        made_in, op = found
        if made_in is step:
            return self._symbol(step)
        return self._seen_from(step.module, tensor, made_in, op)

    def made(self, tensor: Tensor) -> tuple[Step, Op] | None:
        """The step that makes it, and by which op; none makes constants."""
        return self.maker.get(tensor.within(self.maker))

    def _carried(self, tensor: Tensor) -> str:
        found = self.made(tensor)
        return found[1].name if found and found[1].name else "state"

    def _symbol(self, step: Step) -> str:
        if self.is_whole(step) and step.module.name:
            return step.module.name
        if _is_hidden(step) and self.hidden[step.module] == 1:
            return HIDDEN
        return self.path[step].rpartition(".")[2]

    def _seen_from(self, module: Module, tensor: Tensor, made_in: Step, op: Op) -> str:
        """What is made in the same module goes by its own name, what is made below it by the name of the child; what
        comes into the module, or the module around it, is x; of several such things, the first."""
        if module in made_in.module.ancestry:
            line = [each for each in made_in.module.ancestry if not each.is_section]
            below = line[: line.index(module)]
            return below[-1].name if below else op.name or self._symbol(made_in)
        own, other = _apart(module, made_in.module)
        if made_in.module is own.parent and own is module:
            return op.name or self._symbol(made_in)
        if self.first.get(own) is tensor.within(self.maker):
            return X
        return other.name if other else op.name or self._symbol(made_in)

    def formula(self, step: Step) -> str:
        made = step.made
        if made is None or made.traits.enters:
            return ""
        system = _system(step.module)
        equation = next((each for each in system.equations if made.name and each.signal == made.name), None)
        if equation:
            return equation.text.partition(" = ")[2]
        text = Written.of(step.ops, lambda tensor: self.of(step, tensor)).text(made.output)
        if text == self._symbol(step):
            return ""
        return text if len(text) <= LONGEST else f"{_word(made)}(…)"


def _system(module: Module) -> System:
    return next((each.words.equations for each in module.ancestry if each.words.equations), System())


def _word(op: Op) -> str:
    if op.traits.contraction and not weights(op):
        return "matrix product"
    result = FORMULAS[op.kind].result if op.kind in FORMULAS else ""
    return result or words(op)


def _reads_own(step: Step) -> bool:
    """A product, a norm, a table: with weights of its module, and no plain arithmetic with them."""
    weighs = any(op.traits.matrix or op.traits.reads_rows or PICTURES[op.kind].part for op in step.ops)
    return weighs and any(param.owner is step.module for param in step.params)


def _is_hidden(step: Step) -> bool:
    """An activation without a name."""
    made = step.made
    return made is not None and not made.name and PICTURES[made.kind].part == "activation"


def _apart(one: Module, other: Module) -> tuple[Module, Module | None]:
    """Where two modules part below the innermost one around both; none on the side of one that is around the other."""
    mine, theirs = ([each for each in reversed(of.ancestry) if not each.is_section] for of in (one, other))
    pairs = zip_longest(mine, theirs)
    return next(((own, its) for own, its in pairs if own is not its and own), (one, other))
