"""Characters that LaTeX's usual fonts have only by a command, or that LaTeX would obey."""

from __future__ import annotations

BREAK = "\u200b"  # a zero-width space: where a long word may be broken


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
