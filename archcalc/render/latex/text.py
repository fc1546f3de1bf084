r"""Any text as LaTeX, and how wide it is. What LaTeX would obey is escaped; what its fonts lack, commands write.

    >>> text("50 % of d_model · Γu ≤ 1 & --seq")
    '50 \\% of d\\_model $\\cdot$ $\\Gamma$u $\\le$ 1 \\& -{}-seq'

Needs no encoding and no font package. A character that no command writes is given by its number: `[U+4E2D]`.
"""

from __future__ import annotations

import re
import unicodedata

USUAL, CAPITAL, WIDE, SPELT = 0.53, 0.73, 0.9, 5.3  # em of a character
_NARROW = {**dict.fromkeys("ijl.,:;'!|", 0.3), **dict.fromkeys("frst()[]-` ", 0.4), **dict.fromkeys("0123456789", 0.5)}
_WIDE = dict.fromkeys("mMwW%…@×−+=<>≤≥→÷", WIDE)
SCRIPT = 0.8  # of a subscript, against what it stands under
BOLD = 1.17
LONG_WORD = 24
_PLACES = re.compile(r"(?<=[/._=,-]|[^\x00-\x7f])(?![\u0300-\u036f])")  # never before an accent
_COMMAND = re.compile(r"`([^`]+)`")
BREAK = "\u200b"  # a zero-width space: where a long word may be broken


# Characters that LaTeX's usual fonts have only by a command, or that LaTeX would obey.
def _pairs(table: str) -> dict[str, str]:
    """Characters, each with its command behind it."""
    words = table.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_COMMANDS = _pairs(r"""
    \ \textbackslash   ~ \textasciitilde   ^ \textasciicircum   < \textless   > \textgreater   | \textbar
    … \dots   ✓ \checkmark   § \S   © \copyright   ß \ss   æ \ae
    Æ \AE   ø \o   Ø \O   ł \l   Ł \L   ı \i
    å \aa   Å \AA
""")
TEXT = {
    **{character: f"\\{character}" for character in "%&#$_{}"},
    **{character: f"{command}{{}}" for character, command in _COMMANDS.items()},
    **_pairs("– -- — --- ‘ ` ’ ' “ `` ” ''"),
    "`": "{\\ttfamily\\char96}",
    "\n": " ",
    BREAK: "\\allowbreak{}",
    "\xa0": "~",
    "\u2044": "/",  # the slash of ¾, which Unicode takes apart
}
# Between dollar signs.
MATHS = _pairs(r"""
    · \cdot   × \times   − -   ÷ \div   ± \pm   ∗ *   √ \surd   ∂ \partial
    ∞ \infty   ′ '   ° ^\circ   ≤ \le   ≥ \ge   ≪ \ll   ≫ \gg   ≈ \approx
    ≠ \ne   ≡ \equiv   ∝ \propto   ∈ \in   → \to   ← \leftarrow   ↦ \mapsto   ⇒ \Rightarrow
    ⟨ \langle   ⟩ \rangle   ⌊ \lfloor   ⌋ \rfloor   ⌈ \lceil   ⌉ \rceil   ‖ \|   ∑ \sum
    ∏ \prod   ⊙ \odot   ⊕ \oplus   ⊗ \otimes   ⊤ \top   ✗ \times
""")
# Combining characters, and the commands that put them on a letter.
ACCENTS = dict(
    zip("\u0300\u0301\u0302\u0303\u0308\u0304\u0307\u0306\u030c\u030b\u030a\u0327\u0323", "`'^~\"=.uvHrcd", strict=True)
)
# Commands, by the letters' names in Unicode.
_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa mu nu xi pi rho sigma tau upsilon phi chi psi omega"
)
GREEK = {"LAMDA": "lambda", "FINAL SIGMA": "varsigma", **{name.upper(): name for name in _LETTERS.split()}}
# All others look like Latin ones.
GREEK_CAPITALS = frozenset(["GAMMA", "DELTA", "THETA", "LAMDA", "XI", "PI", "SIGMA", "UPSILON", "PHI", "PSI", "OMEGA"])
LIKE_LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))


def text(words: str) -> str:
    """Exactly these words, whatever characters they have."""
    written: list[str] = []
    for character in unicodedata.normalize("NFC", words):
        is_known = character in TEXT or character in MATHS
        pieces = character if is_known else unicodedata.normalize("NFD", character)
        for piece in pieces:
            if piece in ACCENTS and written:
                written.append(f"\\{ACCENTS[piece]}{{{written.pop()}}}")
            elif piece == "-" and written[-1:] in (["-"], ["{}-"]):
                written.append("{}-")  # or TeX makes a dash of two hyphens
            else:
                written.append(_character(piece))
    return "".join(written)


def sentence(words: str) -> str:
    """A sentence of ours: `commands` in typewriter type, and long words may be broken."""
    parts = _COMMAND.split(words)
    return "".join(f"\\texttt{{{breaking(part)}}}" if i % 2 else breaking(part) for i, part in enumerate(parts))


def breaking(words: str) -> str:
    """Long words, such as addresses, may be broken behind their signs and foreign characters."""
    parts = (_PLACES.sub(BREAK, word) if len(word) > LONG_WORD else word for word in words.split(" "))
    return text(" ".join(parts))


def _character(character: str) -> str:
    if character in TEXT:
        return TEXT[character]
    if character in MATHS:
        return f"${MATHS[character]}$"
    if character.isascii() and character.isprintable():
        return character
    return _greek(character) or _composed(character) or spelt(character)


def spelt(character: str) -> str:
    """A character that no command writes, by its number."""
    return f"\\texttt{{[U+{ord(character):04X}]}}"


def _greek(character: str) -> str:
    if character in LIKE_LATIN:
        return LIKE_LATIN[character]
    kind, _, letter = unicodedata.name(character, "").partition(" LETTER ")
    if kind == "GREEK CAPITAL" and letter in GREEK_CAPITALS:
        return f"$\\{GREEK[letter].capitalize()}$"
    if kind == "GREEK SMALL" and letter in GREEK:
        return f"$\\{GREEK[letter]}$"
    return ""


def _composed(character: str) -> str:
    """What Unicode says a character stands for: ² for a raised 2, ₁ for a lowered 1, ﬁ for fi."""
    kind, *codes = unicodedata.decomposition(character).split() or [""]
    if not kind.startswith("<"):
        return ""
    inner = "".join(_character(chr(int(code, 16))) for code in codes)
    script = {"<super>": "^", "<sub>": "_"}.get(kind)
    return f"${script}{{\\text{{{inner}}}}}$" if script else inner


def width(words: str) -> float:
    """In TeX's own font, in em: near enough to choose a size of type, and rather too wide."""
    return sum(map(_wide, words))


def _wide(character: str) -> float:
    known = _NARROW.get(character) or _WIDE.get(character)
    if known:
        return known
    if unicodedata.combining(character):
        return 0.0
    if character.isascii():
        return CAPITAL if character.isupper() else USUAL
    return SPELT if text(character) == spelt(character) else WIDE
