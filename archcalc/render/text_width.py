"""How wide a text is, without a font at hand.

A page's font is whatever `system-ui` is where it is read. The widths are those of DejaVu Sans, which is wider than the
fonts of Windows, macOS and Android, so that a text that fits by this table fits there too.
"""

from __future__ import annotations

# Thousandths of the font's size.
_WIDTHS = {
    275: "'",
    278: "ijl",
    295: "IJ",
    318: " ,.·",
    337: "/:;\\|",
    352: "f",
    361: "-",
    390: "()[]⟨⟩t",
    401: "!²",
    411: "r",
    460: '"',
    500: "*_`",
    525: "sz",
    531: "?",
    550: "c",
    575: "LF",
    592: "vxyk",
    611: "PTYo",
    615: "ae",
    636: "ESbdghnpqu$0123456789{}",
    656: "K",
    698: "AVXZBRC",
    732: "U",
    752: "NH",
    780: "DG&",
    787: "OQ",
    838: "w#+<=>^~×→−÷↻",
    863: "M",
    1000: "%mW@",
}
_OF = {character: width for width, characters in _WIDTHS.items() for character in characters}
_UNKNOWN = 1000  # wider than nearly every letter of any script
_BOLD = 1.15


def width(text: str, size: float, *, bold: bool = False) -> float:
    """In the units of `size`."""
    wide = sum(_OF.get(character, _UNKNOWN) for character in text) * size / 1000
    return wide * _BOLD if bold else wide


def wrapped(text: str, size: float, room: float) -> list[str]:
    """In lines of whole words; a word that is wider has a line to itself."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width(longer, size) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def shortened(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """The text, or as much of it as there is room for."""
    if width(text, size, bold=bold) <= room:
        return text
    while text and width(f"{text}…", size, bold=bold) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"
