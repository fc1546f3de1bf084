"""What becomes of the input of a model, step by step: shapes, formulas, parameters and FLOPs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from archcalc.analyze.flops.cost import Work, work
from archcalc.analyze.walk.naming import Naming
from archcalc.analyze.walk.report import Place, Row, Shown, WalkReport
from archcalc.analyze.walk.sides import Box, batch_of, box, factors
from archcalc.analyze.walk.steps import Step, steps
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import product, total
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.execution import never
from archcalc.core.ir import Module, Op, Param, Tensor, walk
from archcalc.core.notes import notes_of
from archcalc.core.tree import ops_in, signals_of
from archcalc.network import Network
from archcalc.spec.workload import Workload

EACH = Assumption(
    Topic.TABLE,
    "a step's parameters and FLOPs are those of one copy and one run, and the totals count all of them; FLOPs are "
    "those of its matrix products, elementwise where it has none",
)
ON_PAPER = Assumption(
    Topic.TABLE,
    "formulas as on paper, x·W with W in × out (PyTorch stores out × in); c is a number, such as 1/√head_dim",
)


def walked(model: Network, load: Workload, *, step: str | None = None, symbolic: bool = False) -> WalkReport:
    """All steps; of a `step`, by its number or its path, that one, or those of a part of the model."""
    root = model.build(load)
    rows = _Walk(root).rows()
    chosen = _chosen(rows, step)
    return WalkReport(
        model=model.name,
        assumptions=(EACH, ON_PAPER, *notes_of(root, "notes", "work_notes"), *load.assumptions),
        scope=model.scope,
        batch=load.batch,
        lengths=load.lengths,
        rows=chosen,
        parameters=sum(row.parameters for row in chosen),
        flops=sum(row.flops for row in chosen),
        elementwise=sum(row.elementwise for row in chosen),
        symbolic=symbolic,
        chosen=step is not None,
    )


def _chosen(rows: tuple[Row, ...], step: str | None) -> tuple[Row, ...]:
    if step is None:
        return rows
    if step.isdecimal():
        found = tuple(row for row in rows if str(row.number) == step.lstrip("0"))
    else:
        found = tuple(row for row in rows if row.path == step) or tuple(
            row for row in rows if any(place.path == step for place in row.places)
        )
    if not found:
        paths = [row.path for row in rows] + [place.path for row in rows for place in row.places]
        hint = did_you_mean(step, list(dict.fromkeys(paths))) or f"choose a number from 1 to {len(rows)}, or a path"
        raise InputError(f"no step called {step}", hint, field="--step")
    return found


class Product(NamedTuple):
    """A product of two matrices, and how both and the result are drawn."""

    op: Op
    boxes: tuple[Box, Box, Box]


class _Walk:
    """The steps of a tree, with what they cost and what they read."""

    def __init__(self, root: Module) -> None:
        ops = list(ops_in(root))
        self.steps, self.signals, self.batch = steps(root), signals_of(root), batch_of(ops)
        self.naming = Naming(self.steps)
        self.copies = {module: int(times) for module, times in walk(root)}
        done = work(root, trainable=never)
        self.forward, self.other, self.runs = _sums(done)

    def rows(self) -> tuple[Row, ...]:
        return tuple(self._row(number, step) for number, step in enumerate(self.steps, 1))

    def _row(self, number: int, step: Step) -> Row:
        name = self.naming
        products = [op for op in step.ops if self.forward[op]]
        matrices = self._product(step)
        made, boxes = step.made, self._boxes(step, matrices)
        return Row(
            number=number,
            path=name.path[step],
            title=name.title(step),
            what=name.what(step),
            places=_places(step, is_leaf=name.is_alone(step)),
            inputs=tuple(self._shown(step, tensor, boxes) for tensor in self._read(step, matrices)),
            weights=tuple(self._shown(step, param, boxes) for param in step.params),
            output=self._shown(step, made.output, boxes) if made else None,
            pair=self._pair(step, matrices, boxes),
            besides=self._besides(step, matrices, boxes),
            formula=name.formula(step),
            also=tuple(self._shown(step, op.output, boxes) for op in (step.shown,) if op),
            copies=self.copies[step.module],
            runs=max((self.runs[op] for op in step.ops), default=0),
            each=total(param.elements for param in step.params),
            parameters=sum(self.copies[param.owner] * int(param.elements) for param in step.params),
            once=total(op.traits.flops(op) for op in products or step.ops),
            flops=sum(self.forward[op] for op in step.ops),
            elementwise=sum(self.other[op] for op in step.ops),
        )

    def _product(self, step: Step) -> Product | None:
        """The only product of two matrices in a step, if the step gives out what it makes, or the same sides."""
        found = [Product(op, laid) for op in step.ops if (laid := factors(op, self.batch))]
        made = step.made
        is_given_out = len(found) == 1 and made and {*made.output.dims} == {*found[0].op.output.dims}
        return found[0] if is_given_out else None

    def _boxes(self, step: Step, product: Product | None) -> dict[Tensor, Box]:
        """Of a product, by what it reads and makes."""
        if not product:
            return {}
        op, (first, second, result) = product
        one, other = op.inputs
        if isinstance(one.storage, Param):
            one, other = other, one
        is_weight = isinstance(other.storage, Param)
        same = {each.output: result for each in step.ops if {*each.output.dims} == {*op.output.dims}}
        return {one: first, other: second, **same, **({other.storage: second} if is_weight else {})}

    def _pair(self, step: Step, product: Product | None, boxes: dict[Tensor, Box]) -> tuple[Shown, ...]:
        """The signal first, then what it is multiplied with, as it stands in the product: a matrix in × out."""
        if not product:
            return ()
        inputs = sorted(product.op.inputs, key=lambda each: isinstance(each.storage, Param))
        first, second = (self._shown(step, _whole(each), boxes) for each in inputs)
        sides = [side for side in (second.box.depth, second.box.rows, second.box.columns) if side.name]
        shape, dims = tuple(side.size for side in sides), tuple(side.name for side in sides)
        turned = "ᵀ" if dims != second.dims and not second.path else ""
        return first, replace(second, name=second.name + turned, shape=shape, dims=dims)

    def _besides(self, step: Step, product: Product | None, boxes: dict[Tensor, Box]) -> tuple[Shown, ...]:
        factors = {_whole(each) for each in product.op.inputs} if product else set()
        every = dict.fromkeys(map(_whole, (*self._read(step, product), *step.params)))
        return tuple(self._shown(step, each, boxes) for each in every if each not in factors)

    def _read(self, step: Step, product: Product | None) -> Sequence[Tensor]:
        """Signals from outside, and parameters that an earlier step has counted; both factors of a product first."""
        pair = product.op.inputs if product else ()
        tensors = dict.fromkeys([*pair, *(tensor for op in step.ops for tensor in op.inputs)])
        read: dict[Tensor, Tensor] = {}
        for tensor in tensors:
            is_signal = tensor.storage in self.signals and not step.holds(tensor)
            is_before = tensor.storage in self.naming.before  # what the run before handed on
            is_tied = isinstance(tensor.storage, Param) and tensor.storage not in step.params
            if is_signal or is_tied or is_before:
                read.setdefault(tensor.within(self.naming.maker), tensor)
        return list(read.values())

    def _shown(self, step: Step, tensor: Tensor, boxes: dict[Tensor, Box]) -> Shown:
        """Without the axis of examples, which every signal has in front."""
        axes = [kept for axis in tensor.axes if (kept := tuple(dim for dim in axis if dim not in self.batch))]
        shape = tuple(int(product(dim.size for dim in axis)) for axis in axes)
        dims = tuple("·".join(dim.name for dim in axis) for axis in axes)
        drawn = boxes.get(tensor) or boxes.get(tensor.storage) or box(tensor, self.batch)
        shown = Shown(self.naming.of(step, tensor), shape, dims, drawn)
        if isinstance(tensor.storage, Param):
            owner = tensor.storage.owner.path
            return replace(shown, path=f"{owner}.{tensor.storage.name}".lstrip("."))
        found = None if tensor.storage in self.naming.before else self.naming.made(tensor)
        return replace(shown, made_by=self.naming.path[found[0]] if found and found[0] is not step else "")


def _whole(tensor: Tensor) -> Tensor:
    """A parameter itself, along whatever axes it is seen."""
    return tensor.storage if isinstance(tensor.storage, Param) else tensor


def _sums(done: Work) -> tuple[Counter[Op], Counter[Op], Counter[Op]]:
    """By op: FLOPs of products, of everything else, and how often it runs."""
    forward, other, runs = Counter[Op](), Counter[Op](), Counter[Op]()
    for piece in done.pieces:
        (forward if piece.matrix else other)[piece.op] += int(piece.forward)
        runs[piece.op] += int(piece.times)
    return forward, other, runs


def _places(step: Step, *, is_leaf: bool) -> tuple[Place, ...]:
    """The modules around it, from the outermost; a step that is all of its module needs no heading of that name."""
    around = [each for each in step.module.ancestry if each.parent and not each.is_section]
    if is_leaf and around and around[0].repeat == 1 and around[0].calls == 1:
        around = around[1:]
    return tuple(Place(each.path, each.words.full_name, int(each.repeat), int(each.calls)) for each in reversed(around))
