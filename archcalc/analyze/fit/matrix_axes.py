"""The axes of `archcalc fit --table`: which values each goes through, and the question that a value makes.

    parted("weights=q8_0,q4_k_m,gpu")       [("weights", ("q8_0", "q4_k_m")), ("gpu", ())]

A question is what `archcalc fit` answers by itself, so that a cell of a table and its command have the same answer.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from archcalc.analyze.fit.change import words
from archcalc.analyze.fit.facts import facts
from archcalc.analyze.fit.request import Request, request_of
from archcalc.analyze.placement import PLANS
from archcalc.core.errors import InputError, did_you_mean
from archcalc.network import Network
from archcalc.run.commands import FIT
from archcalc.run.device import DeviceGroup, group, usual
from archcalc.run.ladders import ladder
from archcalc.run.options import Options
from archcalc.spec.option import flag_of
from archcalc.spec.option_checks import size
from archcalc.storage.named_formats import meaning

Value = str | int
SHORTEST, LONGEST = 2048, 131_072  # contexts, where the model has as many positions and where it has no limit
STEPS = 7  # of sizes that are doubled
ONE = "1"  # a plan for a single GPU
SERVED, TRAINED = (ONE, "tp2", "tp4", "tp8"), (ONE, "dp2+zero3", "dp4+zero3", "dp8+zero3")
_PART = re.compile(rf"({'|'.join(PLANS)}|zero)(\d{{1,5}})")


class Typed(NamedTuple):
    """A model as the command line names it, and what `--set` changes of it; no name where none was written."""

    name: str
    changes: tuple[str, ...] = ()


UNTYPED = Typed("")


@dataclass(frozen=True)
class Question:
    """One model on one device."""

    typed: Typed
    network: Network
    options: Options
    gpu: DeviceGroup | None = None

    @property
    def request(self) -> Request:
        """Wherever it runs."""
        return request_of(self.network, self.options)

    @property
    def command(self) -> str:
        """The line that answers it in full; none of a model that nobody wrote down."""
        options, (name, changes) = self.options, self.typed
        if not name:
            return ""
        given = {name: value for name, value in options.given.items() if (name, value) != ("mode", FIT.mode)}
        if options.typed:
            given["weights"] = options.typed.written
        before = [word for change in changes for word in ("--set", change)]
        before += ["--gpu", self.gpu.name] if self.gpu else []
        name = f"./{name}" if name.startswith("-") and name != "-" else name
        return shlex.join(["archcalc", "fit", name, *before, *words(given)])

    def asking(self, size: str) -> str:
        """The same line, with the option of a size at its end."""
        sizes = replace(self.options.sizes, **{size: None}, **({} if size == "batch" else {"context": None}))
        without = replace(self, options=replace(self.options, sizes=sizes))
        return f"{without.command} {flag_of(size)}" if without.command else ""


@dataclass(frozen=True)
class Asked:
    """What a table is made of: models, devices in their order, and the question that all its cells share."""

    first: Question
    models: tuple[Question, ...]
    gpus: tuple[DeviceGroup, ...]


@dataclass(frozen=True)
class Axis:
    """`usual` are its values where none are written, `read` one that is written, `with_value` the question with it."""

    name: str
    usual: Callable[[Asked], Sequence[Value]]
    with_value: Callable[[Question, Asked, Value], Question]
    read: Callable[[str], Value] = str

    @property
    def key(self) -> str:
        """As programs read it."""
        return self.name.replace("-", "_")


def _weights(asked: Asked) -> list[Value]:
    """As they are now, then narrower ones that engines of these devices read, from wide to narrow."""
    request = asked.first.request
    known, now = facts(request, ()), request.deployment.parameters.weights
    rungs = [rung for kind in _kinds(asked) for rung in ladder(known.engine, kind).weights if rung.bits < known.bits]
    formats = [rung.format for rung in sorted(dict.fromkeys(rungs), key=lambda rung: -rung.bits)]
    narrower = [one for one in formats if _in_format(request, one).deployment.parameters.weights < now]
    return [_weights_now(asked.first), *narrower]


def _in_format(request: Request, name: str) -> Request:
    return replace(request, options=request.options.changed(weights=name))


def _kinds(asked: Asked) -> list[str | None]:
    return list(dict.fromkeys(device.kind for one in asked.gpus for device in one.kinds))


def _caches(asked: Asked) -> list[Value]:
    known = facts(asked.first.request, ())
    rungs = [rung for kind in _kinds(asked) for rung in ladder(known.engine, kind).kv if rung.bits < known.cache_bits]
    return [_cache_now(asked.first), *dict.fromkeys(rung.format for rung in rungs)]


def _weights_now(question: Question) -> str:
    return question.request.deployment.run.format.name.lower()


def _cache_now(question: Question) -> str:
    return question.request.deployment.run.cache_name or "none"


def _contexts(asked: Asked) -> list[Value]:
    """Up to all that the model has, by halves."""
    _, given, longest = asked.first.request.varying
    if not given:
        raise InputError("this model has no context to choose", "use --table weights,batch", field="--table")
    most = longest or max(LONGEST, given)
    halves = [most >> power for power in range(STEPS)]
    return sorted(length for length in halves if length >= min(SHORTEST, most // 4) and length)


def _with_format(option: str, now: Callable[[Question], str]) -> Callable[[Question, Asked, Value], Question]:
    def changed(question: Question, asked: Asked, value: Value) -> Question:
        if value == now(asked.first):  # which a file may have, and no option
            return question
        return replace(question, options=question.options.changed(**{option: value}))

    return changed


def _with_length(question: Question, asked: Asked, value: Value) -> Question:
    lengths = dict.fromkeys(question.request.varying.names, int(value))
    sizes = replace(question.options.sizes, context=None, **lengths)
    return replace(question, options=replace(question.options, sizes=sizes))


def _with_batch(question: Question, asked: Asked, value: Value) -> Question:
    sizes = replace(question.options.sizes, batch=int(value))
    return replace(question, options=replace(question.options, sizes=sizes))


def _with_gpu(question: Question, asked: Asked, value: Value) -> Question:
    return replace(question, gpu=group(str(value)))


def _with_model(question: Question, asked: Asked, value: Value) -> Question:
    model = next(one for one in asked.models if one.typed.name == value)
    return replace(question, typed=model.typed, network=model.network)


def _with_plan(question: Question, asked: Asked, value: Value) -> Question:
    """What is not named is not divided."""
    named = dict.fromkeys(PLANS) | _plan(str(value))
    return replace(question, options=question.options.changed(**named))


def _plan(text: str) -> dict[str, int]:
    """`tp2+dp4`, `dp8+zero3`; `1` is a single GPU."""
    found = [_PART.fullmatch(part) for part in text.split("+")] if text != ONE else []
    if not all(found):
        raise InputError(f"{text} is no plan", "write plan=1,tp2,tp4+dp2,dp8+zero3", field="--table")
    return {part[1]: int(part[2]) for part in found if part}


def _written_plan(text: str) -> str:
    _plan(text)
    return text


def _unwritten(text: str) -> str:
    raise InputError("models are named before the options", "such as archcalc fit gpt2 qwen3-8b", field="--table")


def _format(text: str) -> str:
    """By its own name, whatever other name it was written with."""
    return meaning(text, "").format


def _sized(text: str) -> int:
    return int(size(text, "--table"))


AXES = {
    each.name: each
    for each in (
        Axis("model", lambda asked: [one.typed.name for one in asked.models], _with_model, _unwritten),
        Axis("weights", _weights, _with_format("weights", _weights_now), _format),
        Axis("kv-dtype", _caches, _with_format("kv_dtype", _cache_now)),
        Axis("context", _contexts, _with_length, _sized),
        Axis("batch", lambda asked: [2**power for power in range(STEPS)], _with_batch, _sized),
        Axis("gpu", lambda asked: [one.name for one in asked.gpus], _with_gpu, lambda text: group(text).name),
        Axis("plan", lambda asked: TRAINED if asked.first.options.trains else SERVED, _with_plan, _written_plan),
    )
}


def parted(text: str) -> tuple[tuple[Axis, tuple[Value, ...]], ...]:
    """Two axes, each with the values that are written: a word that is no axis is a further value of the one before."""
    found: list[tuple[Axis, list[Value]]] = []
    for word in map(str.strip, text.split(",")):
        name, equals, value = word.partition("=")
        if not (value if equals else name).strip():
            raise InputError(f"a value of {name or 'an axis'} is empty", "such as --table weights,gpu", field="--table")
        if name in AXES:
            found.append((AXES[name], [AXES[name].read(value.strip())] if equals else []))
        elif found and found[-1][1] and not equals:
            found[-1][1].append(found[-1][0].read(word))
        else:
            raise InputError(f"no axis called {name or 'nothing'}", did_you_mean(name, AXES), field="--table")
    if len({axis.name for axis, _ in found}) != 2 or len(found) != 2:
        raise InputError("takes two different axes", "such as --table weights,gpu", field="--table")
    return tuple((axis, tuple(dict.fromkeys(values))) for axis, values in found)


def devices(names: Sequence[str], axis_values: Sequence[Value]) -> tuple[DeviceGroup, ...]:
    """Those that are named, or the usual ones from the smallest on."""
    named = [*names, *map(str, axis_values)]
    groups = list({one.name: one for one in map(group, named or usual())}.values())
    return tuple(groups if named else sorted(groups, key=lambda one: one.first.capacity))


def question(asked: Asked, *chosen: tuple[Axis, Value]) -> Question:
    """The shared one with these values; of the model first, which the others look at."""
    found, order = asked.first, list(AXES)
    for axis, value in sorted(chosen, key=lambda one: order.index(one[0].name)):
        found = axis.with_value(found, asked, value)
    return found
