"""Finding identities by the words that people type: `alibi`, `T(k)`, `softmax zero`. Imports no PyTorch.

A word is looked for in names, sections, titles and declared words first, and only where none of them has it in
derivations and sources: what is about a thing comes before what mentions it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from archcalc.identities import about, names, section

SHORTEST = 4  # letters from which a word may be the beginning of another: "grad" finds "gradient"
ENDINGS = ("d", "ed", "ing", "s", "es")
LIKE = 0.7  # how alike a misspelt word and the one that was meant are at least, from 0 to 1
_WORDS = re.compile(r"[^\W_]+")


class NothingFoundError(LookupError):
    """No identity is about a word; `nearest` are known words like it, best first."""

    def __init__(self, word: str) -> None:
        """Looks for known words that are spelt alike."""
        self.word = word
        parts = (part for topic in topics() for part in (topic, *re.split(r"[\s-]", topic)))
        spelt = {_plain(each): each for each in parts if len(each) >= SHORTEST}
        close = get_close_matches(_plain(word), spelt, n=3, cutoff=LIKE)
        self.nearest = tuple(spelt[each] for each in close)
        super().__init__(f"no identity is about {word!r}")


def found(words: Sequence[str]) -> list[str]:
    """Identities of these names in that order; or those about all of the words, or where none is, about any."""
    if all(word in names() for word in words):
        return list(dict.fromkeys(words))
    typed = [part for word in words for part in word.split()]
    by_word = [set(_about(word)) for word in typed]
    chosen = set.intersection(*by_word) or set.union(*by_word)
    return [name for name in names() if name in chosen]


def related(chosen: Sequence[str]) -> list[str]:
    """Identities that were not named, but are about the same words as those that were."""
    return [name for name in names() if name not in chosen and any(_matches(word, _headings(name)) for word in chosen)]


def topics() -> list[str]:
    """Every name, section and declared word, for completion and for guesses."""
    declared = (word for name in names() for word in (name, section(name), *about(name).words))
    return list(dict.fromkeys(declared))


def _about(word: str) -> list[str]:
    """The identities that are about a word, or where none is, those that mention it."""
    says_something = any(character.isalnum() for character in word)
    for texts in (_headings, _derivation):
        matching = [name for name in names() if says_something and _matches(word, texts(name))]
        if matching:
            return matching
    raise NothingFoundError(word)


def _headings(name: str) -> Iterable[str]:
    return name, section(name), about(name).title, *about(name).words


def _derivation(name: str) -> Iterable[str]:
    return *about(name).steps, *about(name).sources


def _matches(word: str, texts: Iterable[str]) -> bool:
    """Words of letters by their beginnings, with or without an ending; formulas such as T(k) wherever they stand."""
    word, told = _plain(word), [_plain(text) for text in texts]
    if not word.isalpha():
        return any(_squeezed(word) in _squeezed(text) for text in told)
    known = [each for text in told for each in _WORDS.findall(text)]
    if len(word) < SHORTEST:
        return word in known
    return any(each.startswith(word.removesuffix("s")) or _inflected(word, each) for each in known)


def _inflected(word: str, known: str) -> bool:
    """Whether a word is a known one with an ending: masked, scaling, transposed."""
    return len(known) >= SHORTEST and word.startswith(known) and word.removeprefix(known) in ENDINGS


def _squeezed(text: str) -> str:
    """Without what people write or leave out as they please."""
    return re.sub(r"[\s·_^-]", "", text)


def _plain(text: str) -> str:
    """In lower case, with W₂ as W2 and ² as 2."""
    return unicodedata.normalize("NFKC", text).casefold()
