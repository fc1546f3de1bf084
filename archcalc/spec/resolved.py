"""The interface of a resolved spec, with all its values filled in, common to all families."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from archcalc.spec.workload import Longest


class Resolved(Protocol):
    """All else of it is for its own family's `build`."""

    @property
    def kind(self) -> str: ...  # which kind of its family, such as encoder-decoder; empty where there is one kind
    @property
    def lengths(self) -> Mapping[str, Longest]: ...  # that a user chooses, what is decoded last
