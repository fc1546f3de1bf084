"""What a student must know of a model besides its sizes: which layers have biases."""

from __future__ import annotations

from archcalc.core.ir import Module
from archcalc.exercises.labels import Label, titles_of, within
from archcalc.exercises.parameters import parameter_steps
from archcalc.exercises.steps import in_order

Layers = dict[str, bool]  # by title: whether it has a bias


def biases(root: Module) -> list[str]:
    """In a sentence, from the tensors themselves: a matrix with a vector beside it has a bias."""
    titles = titles_of(root)
    steps = [step for step in in_order(parameter_steps(root)) if not step.is_share]
    axes = {step.name: [term.axes for term in step.ways[0].terms] for step in steps}
    layers = [step for step in steps if max(axes[step.name], default=0) > 1]
    labels = [Label(step.title, within(step.name, titles)).text(1) for step in layers]
    if not layers:
        return []
    return [_biases({label: 1 in axes[step.name] for label, step in zip(labels, layers, strict=True)})]


def _biases(layers: Layers) -> str:
    """The shorter list is written out."""
    biased = [title for title, has_one in layers.items() if has_one]
    bare = [title for title, has_one in layers.items() if not has_one]
    if not biased:
        return "no layer has a bias"
    if not bare:
        return "every layer with a matrix has a bias"
    if len(bare) <= len(biased):
        return f"every layer with a matrix has a bias, except {', '.join(bare)}"
    return f"no layer has a bias, except {', '.join(biased)}"
