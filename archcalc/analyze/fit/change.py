"""A change that makes a model take less memory: what it sets, how a user writes it, what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from archcalc.spec.option import flag_of


@dataclass(frozen=True)
class Change:
    """The options and sizes that it sets, and its price in words.

    `cost` says how dear it is to the user: combinations are looked for in the order of their sums. One that `cuts` does
    less than was asked for, and comes after all that do not. An `exact` change costs time or devices, and changes
    nothing about the results. `needs` is the property of `Facts` that allows it."""

    name: str
    cost: int
    price: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    exact: bool = False
    needs: str = ""
    cuts: bool = False
    batch: int | None = None
    length: int | None = None
    length_option: str = "seq"  # by which the length is written
    typed: str = ""  # how a user writes it, where that does not follow from what it sets

    @property
    def option(self) -> str:
        """As a user types it: `--lora 16 --weights nf4`."""
        return self.typed or " ".join(words(self._values))

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
        return {flag_of(name).removeprefix("--"): _text(value) for name, value in self._values.items()}

    @property
    def _values(self) -> dict[str, Any]:
        sizes = {"batch": self.batch, self.length_option: self.length}
        return {**self.options, **{name: size for name, size in sizes.items() if size}}


def words(options: Mapping[str, Any]) -> list[str]:
    """As they are typed, one by one: a flag that is set has no value."""
    found = ([flag_of(name)] if value is True else [flag_of(name), _text(value)] for name, value in options.items())
    return [word for each in found for word in each]


def _text(value: Any) -> str:
    if value is True:
        return "true"
    return ",".join(value) if isinstance(value, tuple) else str(value)


def joined(chosen: list[Change]) -> Change:
    """All of them as one."""
    return Change(
        name=" and ".join(one.name for one in chosen),
        cost=sum(one.cost for one in chosen),
        price="; ".join(one.price for one in chosen),
        options={name: value for one in chosen for name, value in one.options.items()},
        exact=all(one.exact for one in chosen),
        cuts=any(one.cuts for one in chosen),
        batch=next((one.batch for one in chosen if one.batch), None),
        length=next((one.length for one in chosen if one.length), None),
        typed=" ".join(one.option for one in chosen),
    )
