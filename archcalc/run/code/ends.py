"""Both ends of a language model as transformers writes them: scaled embeddings, and scaled or capped logits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from archcalc.core.ir import Module, ModuleGroup, Tensor, walk
from archcalc.run.code.writing import Lines


def scale_embeddings(root: Module, *, has_buffer: bool) -> None:
    """By a number that a table keeps in a buffer, or that the model has.

    Source: transformers, GemmaTextScaledWordEmbedding; GraniteModel.forward."""
    for module in _tables(root):
        if has_buffer:
            module.buffer("scale")
        _continue(module, lambda lines, rows: lines.do("scale", rows))


def cap_logits(root: Module) -> None:
    """cap · tanh(logits / cap). Source: transformers, Gemma2ForCausalLM.forward."""
    for head in (child for child in root.children if child.group == ModuleGroup.HEAD):
        _continue(head, lambda lines, made: lines.do("scale", lines.do("tanh", lines.do("scale", made))))


def scale_logits(root: Module) -> None:
    """Source: transformers, GraniteForCausalLM.forward, CohereForCausalLM.forward."""
    for head in (child for child in root.children if child.group == ModuleGroup.HEAD):
        _continue(head, lambda lines, made: lines.do("scale", made))


def _tables(root: Module) -> list[Module]:
    embeddings = [child for child in root.children if child.group == ModuleGroup.EMBEDDING]
    below = [module for embedding in embeddings for module, _ in walk(embedding)]
    return [module for module in below if any(op.traits.reads_rows for op in module.ops)]


def _continue(module: Module, further: Callable[[Lines, Tensor], Tensor]) -> None:
    """More lines behind the last op of a module, the last of which makes what that made; nothing behind layers that are
    modules of their own."""
    if not module.ops:
        return
    last = module.ops[-1]
    made = Tensor(last.output.axes, last.output.role)
    lines = Lines(narrow=False)
    further(lines, made)
    place = module.body.index(last)
    module.body[place : place + 1] = [replace(last, output=made), *lines.returned(last)]
