"""Config keys that change no parameter, shape or cost, each with the reason.

`presets/hf/inert.json` has those that are inert for every model type, by their whole name or by how they end. A family
adds its own as a mapping from a reason to keys; the sentences below are reasons that many families share.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from archcalc.spec.paths import data_root

Inert = Mapping[str, str]  # a reason, and the keys that it holds for, with blanks between them

NO_SUCH_SIZE = "the class has no such size of its own, and takes it from others"
ROUTING = "decides which experts a token gets and how they are weighed, not how many"
SCALING = "multiplies, shifts or limits numbers, which is not counted"
ORDER = "changes the order of steps that are all counted"
STARTING = "how weights start"
TRAINING = "of losses and of what is hidden or disturbed while training"
USUAL_LAYERS = "only says which layers there are where the file does not list them"
NOT_HERE = "read where a model has what it is about, and without effect otherwise"
PREDICTING = "layers that predict further tokens, which are reported as left out"
RUNNING = "how a class runs, in which numbers, and what it gives out besides"
APPROXIMATE = "of an approximation that is counted as the whole"
SUMMARY = "of a head that sums up a text or an image, read where a class has such a head"
FEATURES = "names the features that a backbone gives out"
SEGMENTING = "of classes for segmentation, whose heads are refused"
TOKENS = "of tokens, and of how texts are generated"
CELLS = "of choosing cells of a table, which is not counted"
UNREAD = "stands in files, and no class reads it"


def keys_of(inert: Inert) -> Iterator[str]:
    for keys in inert.values():
        yield from keys.split()


@cache
def _everywhere() -> tuple[frozenset[str], tuple[str, ...]]:
    """Whole names, and endings."""
    file = data_root() / "hf" / "inert.json"
    found: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    names, endings = ([key for keys in found[kind].values() for key in keys] for kind in ("keys", "endings"))
    return frozenset(names), tuple(endings)


def is_inert(key: str) -> bool:
    """Whether a key is inert for every model type."""
    names, endings = _everywhere()
    return key in names or key.endswith(endings)
