"""Every option of `archcalc flops`, `memory`, `fit` and `plot`, declared once and checked in one place.

    Options.of("memory", {"mode": "train", "batch": "8", "tensor_parallel_size": 2})

The command line generates its options from these fields (`archcalc.cli.declared`), Python's keywords are the same by
test (`archcalc.run.keywords`). This file is loaded to print help, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.all_options import AllOptions
from archcalc.run.extra_checks import check_extras
from archcalc.run.offload import check_offload
from archcalc.spec.option import Option, declared, flag_of
from archcalc.spec.option_checks import chosen
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from archcalc.core.mesh import Plan
    from archcalc.run.engine.on_device import DeviceFacts

COMPARED = ("params", "flops", "memory")
TRAINED = "train"  # what decides which parameters there are are options of training
USUAL_MODE = {"flops": "train", "memory": "infer", "fit": "infer"}  # by command; a report has both


@dataclass(frozen=True)
class Options(AllOptions):
    """The options as given, with what was found out about them."""

    device: DeviceFacts | None = None  # on which it runs, where one is named
    typed_weights: Typed | None = None  # where --weights was another name for a format
    is_planned: bool = False  # whether the plan was chosen for that device, and not given

    @classmethod
    def of(cls, command: str, given: Mapping[str, Any], besides: Iterable[str] = ()) -> Options:
        """The options of a command, each value checked, then all of them against each other. `besides` are further
        keywords of the command, so that a misspelt one gets a suggestion."""
        known = dict(options_of(command))
        values = dict(_values(given, known, besides))
        mode = values.pop("mode", None) or USUAL_MODE.get(command, TRAINED)
        sizes = Sizes(**{name: values.pop(name) for name, _ in declared(Sizes) if name in values})
        made = cls(mode=mode, sizes=sizes, **_with_format(values))
        made.check()
        return made

    @cached_property
    def given(self) -> dict[str, Any]:
        """The options that were given, sizes among them, by name."""
        own = {name: getattr(self, name) for name, _ in declared(Options)}
        return {name: value for name, value in own.items() if value is not None} | self.sizes.given()

    @property
    def trains(self) -> bool:
        return self.mode == "train"

    @property
    def typed(self) -> Typed | None:
        """How the weight format was called that is asked for, where that is another name."""
        return self.typed_weights if self.typed_weights and self.typed_weights.format == self.weights else None

    @property
    def weights_words(self) -> str:
        """`int4 (4bit)`."""
        return f"{self.weights} ({self.typed.written})" if self.typed else self.weights or ""

    @property
    def adapted(self) -> tuple[str, ...]:
        """The layers with adapters: those given; else in training the usual ones, in inference all."""
        return self.lora_targets or (() if self.trains else ("all",))

    @property
    def plan(self) -> Plan:
        """How the model is laid out over GPUs."""
        from archcalc.core.mesh import plan
        from archcalc.run.code.zero import stage

        tp, dp, cp, pp, ep = (size or 1 for size in (self.tp, self.dp, self.cp, self.pp, self.ep))
        if "params" in (self.offload or ()):  # in shards, be it a single one
            return replace(plan(tp, dp, 0, bool(self.sp), cp, pp, ep), zero=3)
        return plan(tp, dp, stage(self.zero or 0, dp * cp, self.code), bool(self.sp), cp, pp, ep)

    def changed(self, **values: Any) -> Options:
        """A copy with some options changed, checked again."""
        made = replace(self, **values)
        made.check()
        return made

    def check(self) -> None:
        """Refuse options that have no effect in this mode or contradict another option."""
        for name, one in (*declared(Options), *declared(Sizes)):
            if name in self.given and one.modes and self.mode not in one.modes and self.given[name] not in (0, "none"):
                raise _without_effect(name, one, self.mode)
        if self.lora and self.freeze:
            raise InputError(
                "with --lora everything but the adapters is frozen already", "leave --freeze out", field="--freeze"
            )
        check_offload(self)
        if self.reshard_after_forward and self.plan.zero != 3:
            hint = "add --zero 3, or leave --reshard-after-forward out"
            raise InputError("only ZeRO-3 gathers weights", hint, field="--reshard-after-forward")
        if self.lora_targets and not self.lora:
            raise InputError("needs --lora RANK", "add --lora 16", field="--lora-targets")
        if self.trains and self.weights and not self.lora:
            hint = "add --lora 16 (QLoRA), or leave --weights out"
            raise InputError("quantised weights cannot be trained", hint, field="--weights")
        check_extras(self)
        _ = self.plan  # for its errors


class Typed(NamedTuple):
    """A weight format by the name that was typed, the format's own, and why it is that one."""

    written: str
    format: str
    why: str


def _with_format(values: dict[str, Any]) -> dict[str, Any]:
    """Other names of weight formats become their own."""
    written = values.get("weights")
    if written is None:
        return values
    from archcalc.storage.named_formats import typed_weights

    found = typed_weights(written, values.get("engine") or "")
    return {**values, "weights": found.format, "typed_weights": Typed(written, *found)} if found else values


def options_of(command: str) -> Iterator[tuple[str, Option]]:
    """The options that a command takes, in the order of its help."""
    own = dict(declared(Options))
    ordered = {"mode": own.pop("mode"), **dict(declared(Sizes)), **own}
    return ((name, one) for name, one in ordered.items() if _takes(command, one))


def _takes(command: str, one: Option) -> bool:
    """A comparison takes the options of what it compares."""
    if command == "compare":
        return any(_takes(metric, one) for metric in COMPARED)
    if command == "params":
        return one.of_params
    return not one.commands or command in one.commands


def other_names(options: Iterable[tuple[str, Option]]) -> dict[str, str]:
    """The names that other tools use for an option, and its name here."""
    return {other: name for name, one in options for other in one.also}


def _values(given: Mapping[str, Any], known: Mapping[str, Option], besides: Iterable[str]) -> Iterator[tuple[str, Any]]:
    others, seen = other_names(known.items()), dict[str, str]()
    for written, value in given.items():
        name = others.get(written, written)
        if name not in known:
            raise InputError(f"no option called {written}", did_you_mean(written, [*known, *besides]))
        if value is None:
            continue
        if name in seen:
            raise InputError(f"{seen[name]} and {written} are one option, and both are given", field=flag_of(name))
        seen[name] = written
        yield from _checked(name, value, known[name])


def _checked(name: str, value: Any, one: Option) -> Iterator[tuple[str, Any]]:
    """Whether the option is given: None and an empty list of names are not."""
    found = one.check(value, flag_of(name))
    if found is not None:
        yield name, chosen(found, one.choices, flag_of(name)) if one.choices else found


def _without_effect(name: str, one: Option, mode: str) -> InputError:
    option = flag_of(name)
    hint = f"add --mode {one.modes[0]}, or leave {option} out"
    return InputError(f"has no effect with --mode {mode}", hint, field=option)
