"""Tracks beside the rows, for wires around a stretch of the main way and for what one step hands to the next."""

from __future__ import annotations

from archcalc.render.diagram.area import Wire
from archcalc.render.diagram.entries import is_box
from archcalc.render.diagram.rows import Hop, Rows, Slot

TRACK = 12.0  # between lines that run beside each other


class Tracks:
    """A place beside the rows for each such wire; `left_of` and `right_of` are how far each row then reaches."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows.rows
        self.left_of = [min((slot.x - slot.left for slot in row), default=0.0) for row in self.rows]
        self.right_of = [max((slot.x + slot.right for slot in row), default=0.0) for row in self.rows]
        self._places: dict[tuple[Slot, Wire, bool], float] = {}
        targets: dict[tuple[Slot, Wire, bool], list[Slot]] = {}
        for hop in rows.beside:
            targets.setdefault((hop.source, hop.wire, hop.is_back), []).append(hop.target)
        spans = {key: max(abs(slot.rank - key[0].rank) for slot in reached) for key, reached in targets.items()}
        for key in sorted(targets, key=spans.__getitem__):  # the shortest nearest to the boxes
            (source, _, is_back), reached = key, targets[key]
            ranks = [slot.rank for slot in reached]
            low, high = min(source.rank + (not is_back), *ranks), max(source.rank, *ranks)
            passed, rows_of = slice(low, high + 1), [(slot, self.rows[slot.rank]) for slot in reached]
            # At the right, unless only the left sides of all targets are open.
            if all(is_box(slot) and row[0] is slot is not row[-1] for slot, row in rows_of):
                self._places[key] = x = min(self.left_of[passed]) - TRACK
                self.left_of[passed] = [x - 2] * len(self.left_of[passed])
            else:
                self._places[key] = x = max(self.right_of[passed]) + TRACK
                self.right_of[passed] = [x + 2] * len(self.right_of[passed])

    def of(self, hop: Hop) -> float:
        return self._places[hop.source, hop.wire, hop.is_back]

    def lead_to_the_side(self, hop: Hop) -> bool:
        """Whether nothing stands between the track and the box."""
        slot = hop.target
        is_left = self.of(hop) < slot.x
        return is_box(slot) and self.rows[slot.rank][0 if is_left else -1] is slot
