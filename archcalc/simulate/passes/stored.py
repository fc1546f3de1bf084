"""What passes ask about parameters: how they are stored, and which of them are trained."""

from __future__ import annotations

from typing import Protocol

from archcalc.core.ir import Param
from archcalc.storage.places import Place


class Stored(Protocol):
    """The storage of a run's parameters."""

    def quantised(self, param: Param) -> bool:
        """Whether it is stored quantised, and dequantised for its matrix products."""

    def trained(self, param: Param) -> bool:
        """Whether it has a gradient and optimizer states."""

    def weights(self, place: Place, elements: int) -> int:
        """Bytes of all copies."""
