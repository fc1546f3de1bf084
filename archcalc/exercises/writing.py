r"""Ways of writing numbers, made one: Persian and Arabic digits, `30 721 024`, `30'721'024`, `\times`, 2¹⁰."""

from __future__ import annotations

import re
import unicodedata

_SIGNS = {
    **dict.fromkeys("×⋅·∙•✕✖∗", "*"),
    **dict.fromkeys("−–—‒﹣-", "-"),
    **dict.fromkeys("÷∕⁄", "/"),
    **dict.fromkeys("٬،", ","),
    **dict.fromkeys("’‘`", "'"),
    **dict.fromkeys("≃≅∼~", "≈"),
    "٫": ".",
}
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED = re.compile(f"[{_SUPERSCRIPTS}]+")
_LATEX = (
    (re.compile(r"\\(?:times|cdot|ast|bullet)(?![A-Za-z])"), "*"),
    (re.compile(r"\\(?:div)(?![A-Za-z])"), "/"),
    (re.compile(r"\\(?:approx|sim|simeq)(?![A-Za-z])"), "≈"),
    (re.compile(r"\\(?:left|right|displaystyle|quad|qquad)(?![A-Za-z])|\\[,;:! ]|\$|\\[()\[\]]"), " "),
    (re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r"((\1)/(\2))"),
    (re.compile(r"\\(?:text|mathrm|mathit|mathbf|operatorname)\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\^\s*\{([^{}]*)\}"), r"^(\1)"),
    (re.compile(r"_\s*\{([^{}]*)\}"), r"_\1"),
)
_BY_SPACES = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?! ?\d)")
_BY_MARKS = re.compile(r"(?<![\d.,])\d{1,3}(?:['_]\d{3})+(?!\d)")
_BY_COMMAS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{2,3})*,\d{3}(?![\d,])")  # also 3,07,21,024
_BY_POINTS = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d.])")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d+)(?![\d,.])")


def unified(text: str) -> str:
    """Digits and signs as a keyboard has them; LaTeX as plain signs."""
    for pattern, plain in _LATEX:
        text = pattern.sub(plain, text)
    text = "".join(map(_character, text))
    return _RAISED.sub(lambda found: f"^{found[0].translate(_LOWERED)}", text).strip()


_LOWERED = str.maketrans(_SUPERSCRIPTS, "0123456789")


def _character(character: str) -> str:
    if character in _SIGNS or character.isascii():
        return _SIGNS.get(character, character)
    plain = {"Zs": " ", "Cf": ""}.get(unicodedata.category(character))  # narrow spaces, marks of direction
    if plain is not None:
        return plain
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def ungrouped(text: str) -> str:
    """Without separators of thousands; a comma that separates none is one of decimals."""
    for pattern in (_BY_SPACES, _BY_MARKS, _BY_COMMAS, _BY_POINTS):
        text = pattern.sub(lambda found: re.sub(r"[ '_,.]", "", found[0]), text)
    return _DECIMAL_COMMA.sub(r"\1.\2", text)
