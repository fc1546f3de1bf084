"""A mixture of experts as transformers computes it: rows sorted by expert, and one product for all experts.

    route → sort → gather → gate and up in one product → activation → down → weigh → sort back → sum

Shapes do not depend on which experts are chosen: there are as many rows as tokens choose experts, whichever these are.
Gate and up are one parameter. Python's variables hold rows, weights and places until the function returns.
Source: transformers, grouped_mm_experts_forward in integrations/moe.py, which is the default of every class that has
it (get_correct_experts_implementation in modeling_utils.py); MixtralSparseMoeBlock.forward.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import total
from archcalc.core.ir import Axes, Dim, Module, Op, Param, Region, Tensor, axes, walk
from archcalc.core.roles import Role
from archcalc.run.code.refusal import refused
from archcalc.run.code.routers import Routed, Routing, lower_router
from archcalc.run.code.writing import Lines, end_of_scope

PLACES, INT32 = "index", "int32"
GROUPED = (
    "grouped"  # torch._grouped_mm, which autocast does not know: rows are cast to the matrices' format (_grouped_mm)
)
BEFORE, BEHIND = ["order", "gather"], ["order", "gather", "multiply", "sum"]  # kinds of op around the products
ASSUMED = Assumption(
    Topic.CODE,
    "experts: transformers' default, one grouped product (grouped_mm), whose memory does not depend on which experts "
    "are chosen; without a loss that balances them (output_router_logits: false)",
)


def group_experts(root: Module, routing: Routing, *, narrow: bool) -> None:
    for mixture in [module for module, _ in walk(root) if module.region == Region.MIXTURE]:
        mixture.memory_notes.append(ASSUMED)
        routed = lower_router(mixture, routing, narrow=narrow)
        experts = next((child for child in mixture.children if child.region == Region.EXPERTS), None)
        if experts is None or not _is_sorted(experts):
            refused("experts that do not compute rows sorted by expert")
        _Experts(experts, routed, narrow).write()
        mixture.body.extend(end_of_scope(routed.scores, routed.weights, routed.indices))


def _is_sorted(experts: Module) -> bool:
    """Rows are gathered by expert first, and brought back, weighed and added up last."""
    kinds = [getattr(item, "kind", "") for item in experts.body]
    return kinds[: len(BEFORE)] == BEFORE and kinds[-len(BEHIND) :] == BEHIND


@dataclass(frozen=True)
class Told:
    """The expert of every row, and where the rows of each expert end."""

    ids: Tensor
    offsets: Tensor


@dataclass(frozen=True)
class _Experts:
    """What only the chosen experts compute."""

    module: Module
    routed: Routed
    narrow: bool

    def write(self) -> None:
        _, gather, *inside, _, gather_back, _, adding = self.module.body
        assert isinstance(gather, Op) and isinstance(gather_back, Op) and isinstance(adding, Op)
        lines = Lines(narrow=self.narrow)
        order, weights, told = self._sort(lines, gather)
        sorting, lines.ops = lines.ops, []
        products = self._multiply(inside, gather.output, told)
        self._sum(lines, gather_back.inputs[0], weights, order)
        self.module.body[:] = [*sorting, *products, *lines.returned(adding)]

    @property
    def _experts(self) -> Dim:
        params = (param for child in self.module.children for param in child.params.values())
        return next(dim for param in params for dim in param.dims if dim.dealt)

    def _sort(self, lines: Lines, gather: Op) -> tuple[Tensor, Tensor, Told]:
        """Rows and weights by expert: in which order, the weights, and which rows are whose."""
        rows = self.routed.indices.axes
        ids, order, tokens = (lines.do("constant", to=rows, role=PLACES) for _ in range(3))
        lines.do("gather", gather.inputs[0], tokens, into=gather.output)
        weights = lines.do("gather", self.routed.weights, order)
        narrowed = lines.do("constant", ids, role=INT32)
        counts = lines.do("constant", narrowed, to=axes(self._experts), role=INT32)
        offsets = lines.do("constant", counts, role=INT32)
        lines.hold(ids, order, gather.output, weights, narrowed, counts, offsets)
        return order, weights, Told(ids, offsets)

    def _multiply(self, inside: list[Op | Module], rows: Tensor, told: Told) -> list[Op | Module]:
        """Gate and up, or up alone, the activation, and down."""
        *first, down = (item for item in inside if isinstance(item, Module))
        between = [item for item in inside if isinstance(item, Op)]
        up = self._join(first, rows, told) if len(first) > 1 else [_grouped(module, told) for module in first]
        return [*up, *between, _grouped(down, told)]

    def _join(self, gate_and_up: list[Module], rows: Tensor, told: Told) -> list[Op | Module]:
        """One matrix in the place of two, and the parts of what it makes."""
        gate, up = (module.ops for module in gate_and_up)
        params = [[one for op in ops for one in op.inputs if isinstance(one, Param)] for ops in (gate, up)]
        for module in gate_and_up:
            self.module.drop(module)
        joint = self.module.child("gate_up")
        joint.stands_for = tuple(module.name for module in gate_and_up)
        weight, *biases = (_joined(joint, list(both)) for both in zip(*params, strict=True))
        made = Tensor((*rows.axes[:-1], weight.axes[1]), rows.role)
        joint.body.append(replace(gate[0], inputs=(rows, weight), output=made))
        joint.body.extend(Op("add", (made, bias), made) for bias in biases)
        return [_grouped(joint, told), Op("split", (made,), gate[-1].output, beside={"up": up[-1].output})]

    def _sum(self, lines: Lines, answers: Tensor, weights: Tensor, order: Tensor) -> None:
        """Weighed by the router, in the order of tokens again, and cast back if the weights are wide."""
        weighed = lines.do("multiply", answers, weights, role=weights.role)
        back = lines.do("constant", order)
        lines.do("constant", to=order.axes, role=PLACES)  # what is written into these places
        placed = lines.do("gather", weighed, back)
        *tokens, top, width = placed.axes
        added = lines.do("sum", placed, to=(*tokens, width), over=top)
        lines.cast(added, answers.role)
        lines.hold(answers, back, placed, added)


def _grouped(module: Module, told: Told) -> Module:
    """One product for all experts; rows of the bias are gathered, and added in place (`_grouped_linear`)."""
    product, *biases = module.ops
    grouped = replace(product, kind=GROUPED, inputs=(*product.inputs, told.offsets))
    module.body[:] = [grouped, *(line for op in biases for line in _added_in_place(op, told))]
    if biases:
        module.body[0] = replace(grouped, output=Tensor(product.output.axes, product.output.role))
        module.body[-1] = replace(module.ops[-1], inputs=(module.ops[0].output, module.ops[-1].inputs[1]))
    return module


def _added_in_place(op: Op, told: Told) -> list[Op]:
    product, bias = op.inputs
    rows = Tensor(op.output.axes, op.output.role)
    return [Op("gather", (bias, told.ids), rows), Op("seen", (product, rows), op.output)]


def _joined(module: Module, params: list[Param]) -> Param:
    """Behind each other."""
    experts, width, *into = params[0].dims
    both: Axes = axes(experts, Dim.of("gate_up", len(params) * int(width.size)), *into)
    active = total(one.active for one in params if one.active is not None)
    role = Role.EXPERT_GATE_UP if into else params[0].weight_role
    return module.param(params[0].name, *both, active=active, role=role)
