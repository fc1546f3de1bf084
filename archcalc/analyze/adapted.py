"""Parameters under the options of `archcalc params`: with LoRA's adapters, with frozen layers, as a code has them.

    counted(model, Options.of("params", {"lora": 8})).trainable

Which matrices there are to adapt is a matter of the code that trains: queries, keys and values of GPT-2 are one matrix
in transformers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from archcalc.analyze.params import USUAL_DEPTH, ParamsReport, params
from archcalc.analyze.trained import AS_SPECIFIED, Trained
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count, product, total
from archcalc.core.ir import Module, Param, walk
from archcalc.network import Network
from archcalc.run.lora import all_but, is_adapter
from archcalc.run.options import Options

if TYPE_CHECKING:
    from archcalc.run.resolved import Run


def counted(
    model: Network, asked: Options, *, depth: int | None = None, explain: bool = False, names: bool = False
) -> ParamsReport:
    root, trained = trained_tree(model, asked)
    return params(
        root,
        model=model.name,
        precision=model.spec.precision,
        scope=model.scope,
        stored=stored_bytes(model),
        stored_as=model.stored.note if model.stored else "",
        trained=trained,
        depth=depth or USUAL_DEPTH,
        explain=explain,
        names=names,
    )


def stored_bytes(model: Network) -> int | None:
    """Bytes of the weights as stored; None if they are not quantised or the layout is unknown."""
    if not model.stored or model.stored.unknown:
        return None
    from archcalc.analyze.memory.deployment import deploy

    return deploy(model, Options.of("memory", {})).parameters.states["weights"]


def trained_tree(model: Network, asked: Options) -> tuple[Module, Trained]:
    """The model as its spec has it, where no option is given."""
    if not (asked.lora or asked.freeze or asked.code):
        return model.build(), AS_SPECIFIED
    from archcalc.run.resolve import resolve
    from archcalc.run.tree_changes import adapted

    run = resolve(model, asked)
    root = adapted(model, run, model.workload())
    trains = is_adapter if run.lora else all_but(root, run.freeze)
    return root, Trained(trains, adapter_parameters(root), _words(root, run), tuple(_notes(root, run)))


def _words(root: Module, run: Run) -> str:
    if run.lora:
        return f"LoRA r{run.lora} on {', '.join(dict.fromkeys(module.name for module in _adapted(root)))}"
    if not run.freeze:
        return ""
    return f"{', '.join(run.freeze)} frozen"


def _notes(root: Module, run: Run) -> Iterator[Assumption]:
    """Which matrices are adapted, and by whose code."""
    if run.lora:
        paths = ", ".join(module.path for module in _adapted(root))
        yield Assumption(Topic.CODE, f"LoRA adapts {paths}", paths, "" if run.lora_targets else "--lora-targets")
    code = run.choice("code")
    if code:
        yield code.assumption()
    yield from dict.fromkeys(note for module, _ in _adapters(root) for note in module.words.work_notes)


def _adapted(root: Module) -> list[Module]:
    """The layers with adapters, in order."""
    return list(dict.fromkeys(module.parent for module, _ in _adapters(root) if module.parent))


def _adapters(root: Module) -> Iterator[tuple[Module, Count]]:
    """With the number of their copies."""
    return ((module, copies) for module, copies in walk(root) if any(map(is_adapter, module.params.values())))


def adapter_parameters(root: Module) -> Count:
    """Worked as textbooks do: 2 × 32 × 8 × (2 × 4096)."""
    alike = Counter(_shape(module, copies) for module, copies in _adapters(root))
    each = ((product((Count(number), copies, rank)), sides) for (copies, rank, *sides), number in alike.items())
    return total(times * total(sides) for times, sides in each)


def _shape(module: Module, copies: Count) -> tuple[Count, Count, Count, Count]:
    """How many copies there are, the rank, and the two sides of the matrix that the adapter stands beside."""
    down, up = (param for param in module.params.values() if is_adapter(param))
    return Count(int(copies)), _side(down, 0), _side(down, 1), _side(up, 0)


def _side(param: Param, axis: int) -> Count:
    """One number: all heads together are a side of a matrix."""
    whole = product(dim.size for dim in param.axes[axis])
    return Count.named(whole.worked(names=True), int(whole))
