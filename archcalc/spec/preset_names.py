"""The preset that a model's name means: `Llama-3-8B`, `meta-llama/Llama-3.1-8B-Instruct`, `qwen-2.5-72b`, `gpt-2`.

A repository of the Hub that a preset names (its field `hub`) is that preset. Of other names case, signs, the owner and
words of how a model was trained are forgiven; numbers never are. Which words these are is data
(`presets/typed/models.yaml`). A name that says how weights are stored stands for no preset.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from archcalc.core.errors import InputError
from archcalc.spec import paths
from archcalc.spec.data_files import shipped
from archcalc.spec.release import REPOSITORY
from archcalc.spec.repositories import repositories

_WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)*")  # 3.1 is one number, so that llama-3.1-8b is no llama-3-1.8b
_DECIMAL = re.compile(r"(?<![\d.])(\d+)_(?=\d)")  # stablelm-2-1_6b, but not llama3_8b: both readings are tried
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
        config = f"; hf:{self.typed} reads its own config" if REPOSITORY.fullmatch(self.typed) else ""
        return f"model: preset {self.preset} for {self.typed}{context}{config}"


def known(name: str, presets: Iterable[str]) -> Known | None:
    """The one preset that is called so; None if there is none, or more than one. Raises for quantised weights."""
    if not name.isprintable():
        return None
    presets = tuple(presets)
    if preset := _of_repository(name, presets):
        return Known(preset, name.strip(), is_tuned=False)
    bare = name.strip().rpartition("/")[2].lower()
    formats = {*paths.presets("formats"), *paths.presets("files")}  # every kind of GGUF file too
    stored = {*shipped("typed", "models")["stored"], *formats} & set(_whole_words(bare))
    readings = [_words(form, without=stored) for form in dict.fromkeys((bare, _DECIMAL.sub(r"\1.", bare)))]
    hits = {preset: tuned for words in readings for preset, tuned in _hits(words, presets).items()}
    if not hits:
        return None
    preset, tuned = next(iter(hits.items()))
    if stored:
        own = f", or hf:{name.strip()} for its own config" if REPOSITORY.fullmatch(name.strip()) else ""
        fact = f"{name.strip()} has quantised weights, which the preset {preset} has not"
        raise InputError(fact, f"name {preset} and the format of its weights (--weights){own}")
    return Known(preset, name.strip(), tuned) if len(hits) == 1 else None


def trained() -> set[str]:
    """Words that say nothing of the sizes, and those that suggest a model without deciding."""
    habits = shipped("typed", "models")
    return {*habits["trained"], *habits["alike"]}


def _hits(words: Words, presets: Words) -> dict[str, bool]:
    """Presets by those words, and whether words of training were left out: all words count first. Of a repository's
    name they all do: Mixtral-8x22B-Instruct-v0.1 has another vocabulary than Mixtral-8x22B-v0.1."""
    own = [(_words(form), preset) for form, preset in _own_forms(presets)]
    exact = {preset: False for form, preset in own if form == words}
    exact |= {preset: False for form, preset in _hub_forms(presets) if _words(form) == words}
    return exact or {preset: True for form, preset in own if _untuned(form) == _untuned(words)}


def _own_forms(presets: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What each preset is called: its own name, and those of papers."""
    also = shipped("typed", "models")["also"]
    yield from ((form, preset) for preset in presets for form in (preset, *also.get(preset, ())))


def _hub_forms(presets: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names of its repositories, without the owner."""
    owned = repositories()
    for preset in presets:
        yield from ((name.rpartition("/")[2].lower(), preset) for name in owned.get(preset, ()))


def _of_repository(name: str, presets: Iterable[str]) -> str:
    """The preset that names this repository as its own."""
    wanted, owned = name.strip().lower(), repositories()
    return next((preset for preset in presets if wanted in map(str.lower, owned.get(preset, ()))), "")


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
    if REPOSITORY.fullmatch(name):
        return f"{meant}hf:{name} reads it from the Hub; `archcalc presets` lists what ships"
    return f"{meant}`archcalc presets` lists all; a spec of your own is named by its file"


def likely(name: str, presets: Iterable[str]) -> list[str]:
    """The preset that is spelled so but for case, signs and owner; else those that begin so; else those near it."""
    presets = tuple(presets)
    spelled = {squeezed(form): preset for form, preset in (*_hub_forms(presets), *_own_forms(presets))}
    own, tuned = name.rpartition("/")[2], trained()  # without the owner, then without words of how it was trained
    untuned = "-".join(word for word in re.split(r"[-_]", own.lower()) if word not in tuned)
    forms = [squeezed(form) for form in (name, own, untuned)]
    for form in filter(None, forms):
        if form in spelled:
            return [spelled[form]]
    for form in filter(None, forms):
        begins = [other for other in spelled if other.startswith(form)]
        if begins:
            shortest_first = sorted(begins, key=lambda other: (len(other), other))
            return list(dict.fromkeys(spelled[other] for other in shortest_first))[:MOST]
    near = difflib.get_close_matches(forms[-1], spelled, 2 * MOST, cutoff=0.6)  # several may be names of one preset
    return list(dict.fromkeys(spelled[other] for other in near))[:MOST]


def squeezed(name: str) -> str:
    """Its letters and digits: gpt-2 and GPT2 are spelled alike."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
