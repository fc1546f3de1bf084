"""The preset that a model's name means: `Llama-3-8B`, `meta-llama/Llama-3.1-8B-Instruct`, `qwen-2.5-72b`, `gpt-2`.

Case, signs, the owner and words of how a model was trained are forgiven; numbers never are. Which words these are is
data (`presets/typed/models.yaml`). A name that says how weights are stored stands for no preset.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from archcalc.core.errors import InputError
from archcalc.spec import paths
from archcalc.spec.data_files import shipped

_WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)*")  # 3.1 is one number, so that llama-3.1-8b is no llama-3-1.8b
_DECIMAL = re.compile(r"(?<![\d.])(\d+)_(?=\d)")  # stablelm-2-1_6b, but not llama3_8b: both readings are tried
_OWNED = re.compile(r"[\w.-]+/[\w.-]+")  # owner/name, as on the Hub
MOST = 3  # suggestions

Words = tuple[str, ...]


@dataclass(frozen=True)
class Known:
    """A preset, and how its name differs from the one that was typed."""

    preset: str
    typed: str
    is_tuned: bool  # words of how it was trained were left out

    @property
    def told(self) -> str:
        """Which preset was taken, and what it may not say."""
        context = "; a fine-tune has the same shapes, but may have another context length" if self.is_tuned else ""
        config = f"; hf:{self.typed} reads its own config" if _OWNED.fullmatch(self.typed) else ""
        return f"model: preset {self.preset} for {self.typed}{context}{config}"


def known(name: str, presets: Iterable[str]) -> Known | None:
    """The one preset that is called so; None if there is none, or more than one. Raises for quantised weights."""
    if not name.isprintable():
        return None
    bare = name.strip().rpartition("/")[2].lower()
    formats = {*paths.presets("formats"), *paths.presets("files")}  # every kind of GGUF file too
    stored = {*shipped("typed", "models")["stored"], *formats} & set(_whole_words(bare))
    readings = [_words(form, without=stored) for form in dict.fromkeys((bare, _DECIMAL.sub(r"\1.", bare)))]
    hits = {preset: tuned for words in readings for preset, tuned in _hits(words, tuple(presets)).items()}
    if not hits:
        return None
    preset, tuned = next(iter(hits.items()))
    if stored:
        own = f", or hf:{name.strip()} for its own config" if _OWNED.fullmatch(name.strip()) else ""
        fact = f"{name.strip()} has quantised weights, which the preset {preset} has not"
        raise InputError(fact, f"name {preset} and the format of its weights (--weights){own}")
    return Known(preset, name.strip(), tuned) if len(hits) == 1 else None


def trained() -> set[str]:
    """Words that say nothing of the sizes, and those that suggest a model without deciding."""
    habits = shipped("typed", "models")
    return {*habits["trained"], *habits["alike"]}


def _hits(words: Words, presets: Words) -> dict[str, bool]:
    """Presets by those words, and whether words of training were left out: all words count first."""
    also = shipped("typed", "models")["also"]
    spelled = [(_words(form), preset) for preset in presets for form in (preset, *also.get(preset, ()))]
    exact = {preset: False for form, preset in spelled if form == words}
    return exact or {preset: True for form, preset in spelled if _untuned(form) == _untuned(words)}


def _untuned(words: Words) -> Words:
    """Without how it was trained; a name that is nothing else is kept."""
    tuned = set(shipped("typed", "models")["trained"])
    return tuple(word for word in words if word not in tuned) or words


def _words(name: str, without: Iterable[str] = ()) -> Words:
    """`Qwen2.5-72B` and `qwen-2.5 72b` have the same words."""
    kept = [word for word in _whole_words(name) if word not in without]
    return tuple(_WORD.findall(" ".join(kept)))


def _whole_words(name: str) -> list[str]:
    """Between dashes and spaces: `q4_k_m` is one."""
    return re.findall(r"[a-z0-9._]+", name)


def hint(name: str, presets: Iterable[str]) -> str:
    """`did you mean llama-3-8b?`, and how a model of the Hub is named where it may be one."""
    found = likely(name, presets)
    meant = f"did you mean {' or '.join(found)}? " if found else ""
    if _OWNED.fullmatch(name):
        return f"{meant}hf:{name} reads it from the Hub; `archcalc presets` lists what ships"
    return f"{meant}`archcalc presets` lists all; a spec of your own is named by its file"


def likely(name: str, presets: Iterable[str]) -> list[str]:
    """The preset that is spelled so but for case, signs and owner; else those that begin so; else those near it."""
    squeezed = {_squeezed(preset): preset for preset in presets}
    own, tuned = name.rpartition("/")[2], trained()  # without the owner, then without words of how it was trained
    untuned = "-".join(word for word in re.split(r"[-_]", own.lower()) if word not in tuned)
    forms = [_squeezed(form) for form in (name, own, untuned)]
    for form in filter(None, forms):
        if form in squeezed:
            return [squeezed[form]]
    for form in filter(None, forms):
        begins = [other for other in squeezed if other.startswith(form)]
        if begins:
            return [squeezed[other] for other in sorted(begins, key=lambda other: (len(other), other))[:MOST]]
    return [squeezed[other] for other in difflib.get_close_matches(forms[-1], squeezed, MOST, cutoff=0.6)]


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
