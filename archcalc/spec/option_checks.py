"""Checks of option values, for the command line and for Python alike.

    @checked
    def shapes(model, *, batch=None, symbolic=False): ...

Each value is checked and converted by its option: `8k` becomes 8000, `q,v` two names, a numpy integer a plain int.
None means that the option is not given. Anything else is an InputError, as is an option that the function lacks.
`partial(checked, …)` names the checks of parameters whose types do not say them. Options that are declared
(`archcalc.spec.option`) have one of these checks each.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from archcalc.core.errors import InputError, did_you_mean
from archcalc.spec.units import LARGEST, parse_bytes, parse_size

Asks = ParamSpec("Asks")
Answer = TypeVar("Answer")
Check = Callable[[Any, str], Any]  # a value and the option as it is written -> the value as it is computed with

SHOWN = 40  # characters of a value that a message repeats


def size(value: Any, option: str) -> int:
    """A whole number from 1 up, as an int or as people write it: `8k`, `30_000`."""
    return _whole(
        value, option, parse_size, "a whole number such as 512, 30_000 or 8k", f"a size from 1 to {LARGEST:.0e}"
    )


def number(value: Any, option: str) -> int:
    """A whole number from 0 up."""
    return _whole(value, option, parse_size, "a whole number", f"a number from 0 to {LARGEST:.0e}", lowest=0)


def memory_size(value: Any, option: str) -> int:
    """Bytes, or a text such as `1GiB`."""
    wanted = "bytes as a whole number, or a memory size such as 1GiB"
    return _whole(value, option, parse_bytes, wanted, f"from 0 to {LARGEST:.0e} bytes", lowest=0)


def _whole(value: Any, option: str, parse: Callable[[str], int], wanted: str, bounds: str, lowest: int = 1) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        found = parse(value) if isinstance(value, str) else int(operator.index(value))
    except ValueError as reason:
        raise _refused(str(reason), value, option) from None
    except TypeError:
        raise _refused(f"expected {wanted}", value, option) from None
    if not lowest <= found <= LARGEST:
        raise _refused(f"expected {bounds}", value, option)
    return found


def fraction(value: Any, option: str) -> float:
    """A share of something: `0.9`, or `90%`."""
    is_percent = isinstance(value, str) and value.strip().endswith("%")
    try:
        found = float(value.strip().removesuffix("%") if isinstance(value, str) else value)
    except (TypeError, ValueError, OverflowError):
        raise _refused("expected a share such as 0.9", value, option) from None
    found = found / 100 if is_percent else found
    if not 0 < found <= 1:
        raise _refused("expected a share between 0 and 1, such as 0.9", value, option)
    return found


def flag(value: Any, option: str) -> bool:
    if not isinstance(value, bool):
        raise _refused("expected True or False", value, option)
    return value


def word(value: Any, option: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _refused("expected a name", value, option)
    return value


def text(value: Any, option: str) -> str:
    if not isinstance(value, str):
        raise _refused("expected a text", value, option)
    return value


def names(value: Any, option: str) -> tuple[str, ...] | None:
    """`q,v`, or a list of names; an empty list means not given."""
    found = [part.strip() for one in texts(value, option) for part in one.split(",")]
    if not all(found):
        raise _refused("expected names such as q,v", value, option)
    return tuple(found) or None


def texts(value: Any, option: str) -> tuple[str, ...]:
    """One text, or several in a list."""
    found = (value,) if isinstance(value, str) else value
    if not isinstance(found, Sequence) or not all(isinstance(one, str) for one in found):
        raise _refused("expected a text, or a list of texts", value, option)
    return tuple(found)


def chosen(value: str, choices: Iterable[str], option: str) -> str:
    """One of a few words, or the error that lists them."""
    if value not in choices:
        fact = f"expected one of {', '.join(choices)}, found {value[:SHOWN]}"
        raise InputError(fact, did_you_mean(value, choices), field=option)
    return value


def a_model(value: Any, option: str) -> Any:
    if not (hasattr(value, "spec") and hasattr(value, "build")):  # the class itself stands above this package
        raise _refused("expected a model", value, option, 'archcalc.load("gpt2") makes one')
    return value


def _refused(fact: str, value: Any, option: str, hint: str = "") -> InputError:
    """With the value itself if it is a string or a number, else its type; shortened if long."""
    told = f"a {type(value).__name__}"
    if isinstance(value, str):
        told = f"'{value}'" if len(value) <= SHOWN else f"'{value[:SHOWN]}…'"
    elif isinstance(value, int) and value.bit_length() > 3 * SHOWN:  # Python itself writes no more than 4300 digits
        told = "a number of more digits"
    elif isinstance(value, int | float):
        told = f"{value}"
    return InputError(f"{fact}, found {told}", hint, field=option)


MODEL = "model"  # which is no option: it is always given, and goes by its name alone
CHECKS: dict[str, Check] = {  # by the type that a parameter is annotated with, which may also be None
    "int": size,
    "bool": flag,
    "str": word,
    "Sequence[str]": texts,
    "Sequence[str] | str": texts,
    "Network": a_model,
}


def checked(function: Callable[Asks, Answer], **own: Check) -> Callable[Asks, Answer]:
    """Check a function's arguments by their types: an int is a size, a str a name. `own` are checks of parameters that
    take something else; `**keywords` are not checked here."""
    signature = inspect.signature(function)
    known = signature.parameters
    types = {name: str(each.annotation).removesuffix(" | None") for name, each in known.items()}
    checks = {name: CHECKS[kind] for name, kind in types.items() if kind in CHECKS} | own
    passes_on = any(each.kind is each.VAR_KEYWORD for each in known.values())

    @wraps(function)
    def called(*args: Asks.args, **options: Asks.kwargs) -> Answer:
        unknown = [name for name in options if name not in known and not passes_on]
        if unknown:
            raise InputError(f"no option called {unknown[0]}", did_you_mean(unknown[0], known.keys() - {"self"}))
        try:
            bound = signature.bind(*args, **options)
        except TypeError as reason:
            hint = f"options go by their names, such as {function.__name__}(…, batch=8)"
            raise InputError(f"{function.__name__}: {reason}", hint) from None
        given = bound.arguments
        for name in [name for name in given if name in checks]:
            if name == MODEL:
                given[name] = checks[name](given[name], MODEL)
            elif given[name] is None:
                del given[name]
            else:
                given[name] = checks[name](given[name], f"--{name.replace('_', '-')}")
        return function(*bound.args, **bound.kwargs)

    return called
