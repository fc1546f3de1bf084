"""A value that is worked out when somebody looks at it, once. A copy or a pickle of it has the value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Later(Generic[T]):
    """`make` is called once, and may hold what cannot be pickled: reports carry answers, not what answers them."""

    make: Callable[[], T]

    @cached_property
    def value(self) -> T:
        return self.make()

    def __reduce__(self) -> tuple[Any, ...]:
        return _known, (self.value,)


def _known(value: T) -> Later[T]:
    return Later(lambda: value)
