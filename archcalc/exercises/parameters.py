"""The steps of a parameter count: tensors, layers, blocks, stacks, the model."""

from __future__ import annotations

from dataclasses import replace

from archcalc.analyze.params_rows import holding, one_copy
from archcalc.core.count import Count
from archcalc.core.expression import Product, Sum, evaluated
from archcalc.core.ir import Module, ModuleGroup, Part
from archcalc.exercises.steps import Step, Term, Way, kind_of, subtotals

ONE = Count(1)


def parameter_steps(module: Module) -> Step:
    """The count of one copy of a module, as the sum of its tensors and of what it holds."""
    shares = [_share(module, part) for part in module.words.parts if len(part.of) <= 1]
    held = holding(module)
    children = {child.name: _with_shares(child, module.words.parts, shares) for child in held}
    terms = tuple(
        Term(param.elements, len(param.axes), name, param.active, tuple(dim.name for dim in param.dims))
        for name, param in module.params.items()
    )
    usual = Way(terms, tuple((child.repeat, children[child.name]) for child in held))
    together = [part for part in module.words.parts if len(part.of) > 1]
    others = [_by_part(module, part, usual, children) for part in together]
    return Step(
        name=module.path or "model",
        title=module.words.title if module.path else "the whole model",
        count=one_copy(module),
        ways=(usual, *others, *_by_gates(module, shares, usual)),
        copies=int(module.repeat),
        calls=int(module.calls),
        kind=kind_of(module),
    )


def _share(module: Module, part: Part) -> Step:
    """One head's W_Q, one gate: what a person asks for that is no module."""
    expression = part.elements.expression
    terms = expression.terms if isinstance(expression, Sum) else (expression,)
    axes = [len(term.factors) if isinstance(term, Product) else 1 for term in terms]
    counted = [Term(Count(evaluated(term), term), number) for term, number in zip(terms, axes, strict=True)]
    return Step(_path(module, part), _title(part), part.elements, (Way(tuple(counted)),), is_share=True)


def _path(module: Module, part: Part) -> str:
    return f"{module.path}.{part.name}".lstrip(".")


def _title(part: Part) -> str:
    return part.name.replace("_", " ")


def _with_shares(child: Module, parts: list[Part], shares: list[Step]) -> Step:
    """A projection is also so many times the share of one head."""
    step = parameter_steps(child)
    single = [part for part in parts if len(part.of) <= 1]
    found = [(part, share) for part, share in zip(single, shares, strict=True) if part.of == (child.name,)]
    ways = tuple(Way((), ((part.copies, share),)) for part, share in found)
    return replace(step, ways=(*step.ways, *ways))


def _by_part(module: Module, part: Part, usual: Way, children: dict[str, Step]) -> Way:
    """All heads: q, k and v together."""
    covered = [children[name] for name in part.of]
    way = Way((), tuple((ONE, step) for step in covered))
    share = Step(_path(module, part), _title(part), part.elements, (way,), is_share=True)
    rest = tuple((times, step) for times, step in usual.children if step not in covered)
    return Way(usual.terms, ((part.copies, share), *rest))


def _by_gates(module: Module, shares: list[Step], usual: Way) -> tuple[Way, ...]:
    """Tensors that hold all gates, as the sum of the gates."""
    gates = [share for part, share in zip(module.words.parts, shares, strict=False) if not part.of]
    if not gates or sum(gate.value() for gate in gates) != sum(int(term.count) for term in usual.terms):
        return ()
    return (Way((), (*((ONE, gate) for gate in gates), *usual.children)),)


def sums_of_parts(root: Module, whole: Step) -> list[Step]:
    """All stacks together, and the model without its output layer: sums that courses ask for beside the total."""
    groups = {child.path: child.group for child in root.children}
    held = whole.ways[0].children
    stacks = [(times, step) for times, step in held if groups[step.name] == ModuleGroup.BLOCKS]
    rest = [(times, step) for times, step in held if groups[step.name] != ModuleGroup.HEAD]
    made = []
    if 1 < len(stacks) < len(rest):
        made.append(_sum("all_stacks", "all stacks together", (), stacks))
    if len(rest) < len(held):
        made.append(_sum("without_output_layer", "without the output layer", whole.ways[0].terms, rest))
    return made


def _sum(name: str, title: str, terms: tuple[Term, ...], children: list[tuple[Count, Step]]) -> Step:
    return Step(name, title, subtotals(terms, children), (Way(terms, tuple(children)),))
