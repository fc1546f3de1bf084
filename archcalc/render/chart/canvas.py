"""A canvas of characters: lines in braille dots, two by four in a character, and glyphs over them."""

from __future__ import annotations

from dataclasses import dataclass, field

from archcalc.render.style import DIM, painted, styled

GLYPHS = "●○■□▲△◆◇"  # the points of curves, told apart without colour
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a character, by row and column (Unicode braille)
BLANK = 0x2800
RULE = "╌"
PLAIN = -1  # the colour of what belongs to no curve


@dataclass
class Canvas:
    """`wide` × `high` characters; dots are counted from the upper left."""

    wide: int
    high: int
    dots: dict[tuple[int, int], int] = field(default_factory=dict)
    owner: dict[tuple[int, int], int] = field(default_factory=dict)
    over: dict[tuple[int, int], tuple[str, int]] = field(default_factory=dict)  # glyphs and their colours

    def line(self, start: tuple[float, float], end: tuple[float, float], number: int) -> None:
        """A dot at every step along the longer side."""
        (x, y), (to_x, to_y) = start, end
        steps = max(1, round(max(abs(to_x - x), abs(to_y - y))))
        for step in range(steps + 1):
            column, row = round(x + (to_x - x) * step / steps), round(y + (to_y - y) * step / steps)
            cell = (row // 4, column // 2)
            if 0 <= cell[0] < self.high and 0 <= cell[1] < self.wide:
                self.dots[cell] = self.dots.get(cell, 0) | DOTS[row % 4][column % 2]
                self.owner[cell] = number

    def glyph(self, x: float, y: float, glyph: str, number: int = PLAIN) -> None:
        """At the character that holds this dot."""
        self.over[self.cell(x, y)] = (glyph, number)

    def cell(self, x: float, y: float) -> tuple[int, int]:
        row, column = round(y) // 4, round(x) // 2
        return min(max(row, 0), self.high - 1), min(max(column, 0), self.wide - 1)

    def rule(self, y: float) -> None:
        """A horizontal line behind everything."""
        row, _ = self.cell(0, y)
        for column in range(self.wide):
            if self.is_free(row, column):
                self.over[(row, column)] = (RULE, PLAIN)

    def is_free(self, row: int, column: int) -> bool:
        inside = 0 <= row < self.high and 0 <= column < self.wide
        return inside and (row, column) not in self.dots and self.over.get((row, column), (RULE,))[0] == RULE

    def write(self, row: int, column: int, text: str) -> bool:
        """Words where there is room for them, and a blank around; whether there was."""
        if not all(self.is_free(row, place) for place in range(column - 1, column + len(text) + 1)):
            return False
        self.over |= {(row, column + offset): (letter, PLAIN) for offset, letter in enumerate(text)}
        return True

    def row(self, row: int) -> str:
        shown = ""
        for cell in ((row, column) for column in range(self.wide)):
            drawn = (chr(BLANK + self.dots[cell]), self.owner[cell]) if cell in self.dots else (" ", PLAIN)
            glyph, number = self.over.get(cell, drawn)
            if number != PLAIN:
                glyph = painted(glyph, number)
            elif glyph == RULE:
                glyph = styled(glyph, DIM)
            shown += glyph
        return shown
