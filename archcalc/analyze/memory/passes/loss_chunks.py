"""Passes over the loss: which cells are logits, and logits that exist one chunk at a time."""

from __future__ import annotations

from archcalc.analyze.memory.schedule import Node, Pass, steps
from archcalc.core.ir import Region


def mark_logits(nodes: list[Node]) -> None:
    """Whatever the loss reads and makes is booked as logits."""
    for step in steps(nodes):
        if step.module.region == Region.LOSS:
            for cell in (*step.reads, *step.makes):
                cell.is_logits = True


def in_chunks(number: int) -> Pass:
    """Each chunk's logits are freed before the next."""

    def change(nodes: list[Node]) -> None:
        logits = {cell for step in steps(nodes) for cell in (*step.reads, *step.makes) if cell.is_logits}
        for cell in logits:
            cell.bytes = -(-cell.bytes // number)

    return change
