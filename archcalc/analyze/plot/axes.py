"""What a chart goes through: an option of `archcalc memory` and `flops`, or a field of the spec, and its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from archcalc.analyze.plot.values import Value, in_order, numbered, values
from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.ladders import ladder
from archcalc.run.options import options_of
from archcalc.spec.option import Option, other_names
from archcalc.spec.option_checks import flag, memory_size
from archcalc.spec.overrides import is_field

if TYPE_CHECKING:
    from archcalc.analyze.plot.subject import Subject

Written = str | Mapping[str, Any]  # seq=1k..128k, or {"seq": [1024, 2048]}
HALVED = (8, 4)  # bits of a weight: the widths that people choose from
_SWITCHED = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


@dataclass(frozen=True)
class Axis:
    """`option` is the option that changes; empty where it is a field of the spec. A value may stand for what a model
    has anyway, without the option (`as_it_is`)."""

    name: str  # as people write it: seq, kv-dtype, decoder.blocks
    option: str
    values: tuple[Value, ...]
    as_it_is: Value | None = None
    of_bytes: bool = False

    @property
    def numeric(self) -> bool:
        return numbered(self.values)

    def changed(self, subject: Subject, value: Value) -> Subject:
        """The same question with this value."""
        if value == self.as_it_is:
            return subject
        if self.option:
            return replace(subject, given={**subject.given, self.option: value})
        return replace(subject, model=subject.model.changed(f"{self.name}={value}"))

    def told(self, value: Value) -> str:
        """As a label: numbers with what they are numbers of, names alone."""
        if isinstance(value, str):
            return value
        return f"{self.name} {str(value).lower() if isinstance(value, bool) else format(value, ',')}"


def axis(written: Written, flag: str, subjects: Sequence[Subject]) -> Axis:
    """The axis that `--x` or `--by` writes down; `--by weights` needs no values."""
    name, found = _parted(written, flag)
    known = dict(options_of("plot"))
    written_so = name.removeprefix("--").replace("-", "_")
    option = other_names(known.items()).get(written_so, written_so)
    option = option if option in known else ""
    if not option and not any(is_field(one.model.spec, name) for one in subjects):
        raise _unknown(name, flag, subjects, known)
    if found is None:
        return _usual(name, option, flag, subjects[0])
    where = f"{flag} {name}"
    if isinstance(found, str):
        found = values(found, where)
    wrong = [each for each in found if not isinstance(each, int | str)]  # a list in Python may have anything
    if wrong:
        raise InputError(f"expected whole numbers or names, found a {type(wrong[0]).__name__}", field=where)
    taken = in_order([str(each).lower() if isinstance(each, bool) else each for each in found], where)
    if option:
        taken = in_order([_checked(value, known[option], where) for value in taken], where)
    if len(taken) < 2 and flag == "--x":
        raise InputError("one value makes no curve", f"name several: {flag} {name}=1k..128k", field=where)
    return Axis(name, option, taken, of_bytes=bool(option) and known[option].check is memory_size)


def _parted(written: Written, flag: str) -> tuple[str, Any]:
    """The name, and its values; None where it has none."""
    if isinstance(written, str):
        name, equals, text = written.partition("=")
        if name.strip():
            return name.strip(), text if equals else None
    elif isinstance(written, Mapping) and len(written) == 1:
        (name, found), *_ = written.items()
        if isinstance(name, str) and isinstance(found, str | Sequence) and found:
            return name, found
    raise InputError("expected a name and its values", f"write {flag} seq=1k..128k", field=flag)


def _checked(value: Value, one: Option, where: str) -> Value:
    """As the option itself takes it; a word that it makes several of stays one."""
    if one.check is flag:
        if str(value).lower() not in _SWITCHED:
            raise InputError(f"expected true or false, found {value}", field=where)
        return _SWITCHED[str(value).lower()]
    found = one.read(value, where)
    return found if isinstance(found, int) else str(value)


def _usual(name: str, option: str, flag: str, subject: Subject) -> Axis:
    """Values of `--by` where none are named: whatever an option can be; formats as they are now, and what is narrower
    by its name."""
    if flag == "--by" and option in ("weights", "kv_dtype"):
        run, engine = subject.deployment.run, str(subject.given.get("engine") or "").partition("@")[0]
        rungs = ladder(engine or None)
        now, formats = run.cache_name, [one.format for one in rungs.kv]
        if option == "weights":
            now, formats = run.format.name.lower(), [one.format for one in rungs.weights if one.bits in HALVED]
        if now:
            return Axis(name, option, (now, *(one for one in formats if one != now)), now)
    elif flag == "--by" and option and (choices := dict(options_of("plot"))[option].choices):
        return Axis(name, option, choices)
    example = "1k..128k" if flag == "--x" else "VALUE,VALUE"
    raise InputError("its values are missing", f"write {flag} {name}={example}", field=f"{flag} {name}")


def _unknown(name: str, flag: str, subjects: Sequence[Subject], known: Mapping[str, Option]) -> InputError:
    fields = [field for one in subjects for field in type(one.model.spec).model_fields]
    options = [option.replace("_", "-") for option in known]
    fact = f"neither an option nor a field of the spec is called {name}"
    more = f"`archcalc memory --help` lists options, `archcalc show {subjects[0].label} --resolved` fields"
    return InputError(fact, did_you_mean(name, [*options, *fields]), more=more, field=flag)
