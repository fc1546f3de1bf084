"""The options of a question, each value checked, then all of them against each other.

    Options.of("memory", {"mode": "train", "batch": "8", "tensor_parallel_size": 2})

They are declared in `archcalc.run.all_options`. This file is loaded to print help, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.all_options import AllOptions
from archcalc.run.commands import COMMANDS, Command
from archcalc.spec.option import Option, declared, flag_of, other_names
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from archcalc.core.mesh import Plan
    from archcalc.run.engine.on_device import DeviceFacts

NOTHING = (0, "none")  # values of an option that are as good as none


@dataclass(frozen=True)
class Options(AllOptions):
    """The options as given, with what was found out about them."""

    device: DeviceFacts | None = None  # on which it runs, where one is named
    typed_weights: Typed | None = None  # where --weights was another name for a format
    trains: bool = False  # whether that is its mode
    shift: int = 0  # bytes that a measured run took beyond what is counted
    is_planned: bool = False  # whether the plan was chosen for that device, and not given

    @classmethod
    def of(cls, command: str | Command, given: Mapping[str, Any], besides: Iterable[str] = ()) -> Self:
        """The options of a command. `besides` are further keywords of it, so that a misspelt one gets a suggestion."""
        asked = COMMANDS[command] if isinstance(command, str) else command
        holder: type = cls
        values = dict(_values(given, dict(options_of(asked, holder)), besides))
        mode = values.pop("mode", None) or asked.mode or "train"
        sizes = Sizes(**{name: values.pop(name) for name, _ in declared(Sizes) if name in values})
        if "weights" in values:
            from archcalc.storage.named_formats import meaning

            written = values["weights"]
            found = meaning(written, values.get("engine") or "")
            if found.why:  # another name of a format
                values |= {"weights": found.format, "typed_weights": Typed(written, *found)}
        made = cls(mode=mode, sizes=sizes, trains=mode == "train", **values)
        made.check()
        return made

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

    @cached_property
    def plan(self) -> Plan:
        """How the model is laid out over GPUs."""
        from archcalc.core.mesh import plan

        tp, dp, cp, pp, ep = (size or 1 for size in (self.tp, self.dp, self.cp, self.pp, self.ep))
        if "params" in (self.offload or ()):  # in shards, be it a single one
            return replace(plan(tp, dp, 0, bool(self.sp), cp, pp, ep), zero=3)
        zero = self.zero or 0
        if zero == 1 and dp * cp == 1 and self.code:
            from archcalc.run.code.library import code

            # a distributed optimizer may be on while there is nobody to share with; then nothing is divided
            zero = 0 if code(self.code).habits.sharding == "optimizer" else zero
        return plan(tp, dp, zero, bool(self.sp), cp, pp, ep)

    def changed(self, **values: Any) -> Self:
        """A copy with some options changed, checked again."""
        made = replace(self, **values)
        made.check()
        return made

    def check(self) -> None:
        """Refuse options that have no effect in this mode or contradict another option."""
        if self.given.keys() == {"mode"}:
            return
        from archcalc.run.offload import check_offload

        holder: type = type(self)
        for name, one in (*declared(holder), *declared(Sizes)):
            if one.modes and self.mode not in one.modes and self.given.get(name, 0) not in NOTHING:
                hint = f"add --mode {one.modes[0]}, or leave {flag_of(name)} out"
                raise InputError(f"has no effect with --mode {self.mode}", hint, field=flag_of(name))
        check_offload(self)
        if self.reshard_after_forward and self.plan.zero != 3:
            hint = "add --zero 3, or leave --reshard-after-forward out"
            raise InputError("only ZeRO-3 gathers weights", hint, field="--reshard-after-forward")
        if self.lora_targets and not self.lora:
            raise InputError("needs --lora RANK", "add --lora 16", field="--lora-targets")
        if self.trains and self.weights and not self.lora:
            hint = "add --lora 16 (QLoRA), or leave --weights out"
            raise InputError("quantised weights cannot be trained", hint, field="--weights")
        _check_extras(self)
        _ = self.plan  # for its errors


class Typed(NamedTuple):
    """A weight format by the name that was typed, the format's own, and why it is that one."""

    written: str
    format: str
    why: str


@cache
def options_of(command: str | Command, holder: type = AllOptions) -> tuple[tuple[str, Option], ...]:
    """The options that a command takes, in the order of its help; `holder` declares them."""
    asked = COMMANDS[command] if isinstance(command, str) else command
    mode, *own = declared(holder)
    asks = set(asked.asks)
    return tuple((name, one) for name, one in (mode, *declared(Sizes), *own) if not asks.isdisjoint(one.about))


def _values(given: Mapping[str, Any], known: Mapping[str, Option], besides: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Each option that is given, under its own name: None and an empty list of names are not given."""
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
        found = known[name].read(value, flag_of(name))
        if found is not None:
            yield name, found


OF_METHODS = ("reference", "rollout", "rollout_memory")
KNOWN_CODE = ("transformers", "trl", "plain")  # TRL trains the classes of transformers
NOT_TRACED = ("loss_chunks", "sp", "cp", "pp", "ep")  # with a loss that reads the log-probability of every token


def _check_extras(asked: AllOptions) -> None:
    """Refuse options of draft models, adapters and training methods that have no effect or contradict each other; the
    model is not looked at."""
    if asked.adapters and not asked.lora:
        raise InputError("needs --lora RANK, the rank of a slot", "add --lora 16", field="--adapters")
    if asked.shared_prefix and asked.kv_rule == "window+batch":
        hint = "choose another --kv-rule, or leave --shared-prefix out"
        raise InputError("how llama.cpp shares a prefix in windows is not known here", hint, field="--shared-prefix")
    if (asked.method or "sft") == "sft":
        _refuse(asked, OF_METHODS, "is about DPO and GRPO", "add --method grpo, or leave {} out")
        return
    name = (asked.method or "").upper()
    fact = f"archcalc does not know how {name} computes its loss so"
    _refuse(asked, NOT_TRACED, fact, "leave {} out")
    if asked.compile == "all":
        raise InputError(fact, "use --compile blocks", field="--compile")
    if asked.code and asked.code.partition("@")[0] not in KNOWN_CODE:
        fact = f"{name} is counted as TRL computes it, with the classes of transformers"
        raise InputError(fact, "leave --code out", field="--code")
    if asked.method == "dpo":
        _refuse(asked, ("rollout", "rollout_memory"), "DPO generates nothing", "leave {} out, or use --method grpo")
    if asked.rollout_memory is not None and (asked.rollout or "policy") == "policy":
        hint = "add --rollout same, sleep or other"
        raise InputError("the policy itself generates, and no inference engine", hint, field="--rollout-memory")


def _refuse(asked: AllOptions, names: tuple[str, ...], fact: str, hint: str) -> None:
    for name in names:
        if asked.given.get(name):
            raise InputError(fact, hint.format(flag_of(name)), field=flag_of(name))
