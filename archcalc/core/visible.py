"""Text that others wrote, made safe to show: names of models and tensors come from files that anybody may have written.

What a terminal obeys (escape sequences), what breaks a line and what turns the direction of writing is shown as an
escape, `\\x1b`; what nobody would read to its end is cut.
"""

from __future__ import annotations

import re

# C0 and C1 controls; soft hyphen; marks and overrides of direction, joiners and other signs without a form; separators
# of lines and paragraphs; halves of surrogate pairs; private use (in which `render.style` keeps its marks); BOM; tags.
UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ue000-\uf8ff\ufeff"
    "\ufff0-\uffff\U000e0000-\U000e0fff]"
)
SURROGATES = re.compile("[\ud800-\udfff]")  # halves of pairs: no text to YAML, JSON or UTF-8
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
LONGEST_WORD, LONGEST_LINE, KEPT = 250, 1000, 60  # characters; a path in a message may be long


def escaped(character: str) -> str:
    r"""As Python, JSON and YAML write it: `\n`, `\x1b`, `\u202e`."""
    code = ord(character)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _SHORT.get(character) or (f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}")


def visible(text: str, kept: str = "") -> str:
    """On one line, without anything that a terminal would obey; unless such signs are to be kept."""
    return UNSEEN.sub(lambda found: found[0] if found[0] in kept else escaped(found[0]), text)


def shortened(text: str) -> str:
    """Shorten long words: an error need not repeat five thousand digits."""
    words = re.sub(rf"\S{{{LONGEST_WORD},}}", lambda word: f"{word[0][:KEPT]}… ({len(word[0]):,} characters)", text)
    return words if len(words) <= LONGEST_LINE else f"{words[:LONGEST_LINE]}…"
