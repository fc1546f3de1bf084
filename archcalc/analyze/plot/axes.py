"""What a chart goes through: an option of `archcalc memory` and `flops`, or a field of the spec, and its values.

Values are lists, ranges, and lists of both:

1k,2k,8k            three sizes
1k..128k            doubled from the first to the last; in equal steps where that gave fewer than four
512..4096:512       in steps of 512
1k..1M:x10          ten times as many from one to the next
bf16,q8_0,q4_k_m    names
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any, TypeGuard

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.ladders import ladder
from archcalc.run.options import options_of
from archcalc.spec.option import Option, other_names
from archcalc.spec.option_checks import flag, memory_size, names, number
from archcalc.spec.overrides import is_field
from archcalc.spec.units import parse_size

if TYPE_CHECKING:
    from archcalc.analyze.plot.subject import Subject

Written = str | Mapping[str, Any]  # seq=1k..128k, or {"seq": [1024, 2048]}
HALVED = (8, 4)  # bits of a weight: the widths that people choose from
_SWITCHED = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
Value = int | str
MOST = 100  # values of an axis
DOUBLED = 8  # times the first: from there on, doubling has four values at the least
FEW = 12  # values in equal steps
_COMMA = re.compile(r",(?![^{\[]*[}\]])")  # not those within {width: 512, act: relu}
_RANGE = re.compile(r"(\d[^:]*?)\.\.([^:]*)(?::\s*([x×*]?)(.*))?")
SCALES = ("x", "y")
FAR = 8  # times the first value: from there on an axis may be one of doublings


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


def values(text: str, option: str) -> tuple[Value, ...]:
    """Whole numbers, in their order, if all of them are such; else names as they stand."""
    parts = [part.strip() for part in _COMMA.split(text)]
    if not all(parts):
        raise InputError("a value is missing", "write such as 1k,2k,8k or 1k..128k", field=option)
    return in_order([value for part in parts for value in _part(part, option)], option)


def in_order(found: Sequence[Value], option: str) -> tuple[Value, ...]:
    """Each once; numbers from the smallest on."""
    once = list(dict.fromkeys(found))
    if len(once) > MOST:
        raise InputError(f"more than {MOST} values", "take larger steps, such as 1k..128k:8k", field=option)
    return tuple(sorted(once) if numbered(once) else once)


def _part(part: str, option: str) -> list[Value]:
    found = _RANGE.fullmatch(part)
    if found:
        low, high = (number(text.strip(), option) for text in found.group(1, 2))
        if low == high:
            raise InputError(f"{part} is a single value", "name a range such as 1k..128k", field=option)
        if low > high:
            first, _, rest = part.partition("..")
            last, colon, step = rest.partition(":")
            raise InputError(f"{part} runs backwards", f"write {last}..{first}{colon}{step}", field=option)
        return list(_range(low, high, found[3] or "", found[4], option))
    try:
        return [parse_size(part)]
    except ValueError:
        return [part]


def _range(low: int, high: int, times: str, step: str | None, option: str) -> Iterator[int]:
    if step is not None:
        by = number(step.strip(), option)
        if by < 1 + bool(times):
            raise InputError(f"a step of {step.strip()} leads nowhere", "such as 512..4096:512", field=option)
        yield from _multiplied(low, high, by, option) if times else _stepped(low, high, by)
    elif low and high >= DOUBLED * low:
        yield from (*_multiplied(low, high - 1, 2, option), high)
    else:
        yield from (*_stepped(low, high - 1, _round_step(high - low)), high)


def _multiplied(low: int, high: int, by: int, option: str) -> Iterator[int]:
    if not low:
        raise InputError("0 stays 0 however often it is multiplied", "begin with 1", field=option)
    while low <= high:
        yield low
        low *= by


def _stepped(low: int, high: int, by: int) -> Iterator[int]:
    """One more than a chart takes, if there are as many, so that they can be counted."""
    return iter(range(low, min(high, low + by * MOST) + 1, by))


def _round_step(span: int) -> int:
    """The smallest that is counted in easily and comes out even, in few steps: a power of two, or a digit with zeros
    behind; if there is none, one with zeros that does not come out even."""
    tens: list[int] = [digit * 10**power for power in range(len(str(span)) + 1) for digit in (1, 2, 4, 5, 8)]
    twos: list[int] = [2**power for power in range(span.bit_length() + 1)]
    few = [step for step in sorted({*tens, *twos}) if span <= step * FEW]
    return next((step for step in few if span % step == 0), min(step for step in tens if span <= step * FEW))


def numbered(found: Sequence[Value]) -> TypeGuard[Sequence[int]]:
    return all(isinstance(value, int) and not isinstance(value, bool) for value in found)


@dataclass(frozen=True)
class Scales:
    """Axes that were asked to be log or linear; others are as their values are spread."""

    log: tuple[str, ...] = ()
    linear: tuple[str, ...] = ()

    @classmethod
    def of(cls, log: str | Sequence[str] | None, linear: str | Sequence[str] | None) -> Scales:
        found = cls(_axes(log, "--log"), _axes(linear, "--linear"))
        both = [name for name in found.log if name in found.linear]
        if both:
            raise InputError(f"{both[0]} is log or linear, not both", "leave one out", field="--linear")
        return found

    def wanted(self, name: str) -> bool | None:
        """Whether log; None where that is left open."""
        if name in (*self.log, *self.linear):
            return name in self.log
        return None


def _axes(written: str | Sequence[str] | None, flag: str) -> tuple[str, ...]:
    if written is None:
        return ()
    found = tuple(name.lower() for name in names(written, flag) or ())
    for name in found:
        if name not in SCALES:
            raise InputError(f"no axis is called {name}", f"write {flag} x, {flag} y or {flag} x,y", field=flag)
    return found


def is_log(x: Axis, scales: Scales) -> bool:
    """Where it was left open: whether the values are far apart, and the middle ones are nearer to what lies between the
    ends by ratio than to what lies between them by difference."""
    wanted = scales.wanted("x")
    sizes = [value for value in x.values if isinstance(value, int)]
    if wanted and (not x.numeric or not sizes[0]):
        raise InputError("0 and names have no place on a log axis", "leave x out", field="--log")
    if not x.numeric or wanted is not None:
        return bool(wanted)
    first, last = sizes[0], sizes[-1]
    median = (sizes[(len(sizes) - 1) // 2] + sizes[len(sizes) // 2]) / 2
    return first > 0 and last >= FAR * first and median**2 < sqrt(first * last) * (first + last) / 2
