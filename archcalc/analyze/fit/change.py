"""A change that makes a model take less memory: what it sets, how a user writes it, what it costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from archcalc.spec.option import flag_of


@dataclass(frozen=True)
class Change:
    """The options and sizes that it sets, how a user writes them, and its price in words.

    `cost` says how dear it is to the user: combinations are looked for in the order of their sums. One that `cuts` does
    less than was asked for, and comes after all that do not. An `exact` change costs time or devices, and changes
    nothing about the results. `needs` is the property of `Facts` that allows it."""

    name: str
    option: str
    price: str
    options: dict[str, Any] = field(hash=False)
    cost: int = 0
    batch: int | None = None
    length: int | None = None
    exact: bool = False
    needs: str = ""
    length_option: str = "seq"  # by which the length is written
    cuts: bool = False

    @property
    def price_order(self) -> tuple[bool, int]:
        """By which changes are compared."""
        return self.cuts, self.cost

    @property
    def gpu_layers(self) -> int | None:
        """How many layers it leaves on the GPU."""
        return self.options.get("ngl")

    def settings(self) -> dict[str, str]:
        """What it sets, by the names of options."""
        sizes = {"batch": self.batch, self.length_option: self.length}
        values = {**self.options, **{name: size for name, size in sizes.items() if size}}
        return {flag_of(name).removeprefix("--"): _value(value) for name, value in values.items()}


def written(options: dict[str, Any]) -> str:
    """As a user types them: `--lora 16 --weights nf4`."""
    return " ".join(
        flag_of(name) if value is True else f"{flag_of(name)} {_value(value)}" for name, value in options.items()
    )


def _value(value: Any) -> str:
    if value is True:
        return "true"
    return ",".join(value) if isinstance(value, tuple) else str(value)


def change(
    name: str,
    cost: int,
    price: str,
    options: dict[str, Any],
    *,
    exact: bool = False,
    needs: str = "",
    cuts: bool = False,
) -> Change:
    """A change that sets these options."""
    return Change(name, written(options), price, options, cost, exact=exact, needs=needs, cuts=cuts)


def joined(chosen: list[Change]) -> Change:
    """All of them as one."""
    options = {name: value for one in chosen for name, value in one.options.items()}
    batch = next((one.batch for one in chosen if one.batch), None)
    length = next((one.length for one in chosen if one.length), None)
    text, price = " ".join(one.option for one in chosen), "; ".join(one.price for one in chosen)
    name = " and ".join(one.name for one in chosen)
    cost, exact = sum(one.cost for one in chosen), all(one.exact for one in chosen)
    return Change(name, text, price, options, cost, batch, length, exact, cuts=any(one.cuts for one in chosen))
