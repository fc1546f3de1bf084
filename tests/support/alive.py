"""Bytes of all storages that are alive while PyTorch runs, op by op: the truth for a timeline."""

from __future__ import annotations

import torch

from archcalc.reference.lifetimes import Lifetimes, peaks


class Alive(Lifetimes):  # type: ignore[no-untyped-call]  # PyTorch leaves it untyped
    """`peak` is the most that was alive behind any op; what exists before is added by hand."""

    def __init__(self, *there: torch.Tensor) -> None:
        super().__init__(in_place=False)
        for tensor in there:
            self.add(tensor, "given")

    @property
    def now(self) -> int:
        return sum(storage.bytes for storage in self.alive())

    @property
    def peak(self) -> int:
        return max(peak.bytes for peak in peaks(self.events))
