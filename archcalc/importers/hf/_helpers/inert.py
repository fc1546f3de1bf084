"""Config keys that change no parameter, shape or cost, each with the reason.

`presets/hf/inert.json` has those that need no translator to say so: `keys` (whole names) and `endings` are of no
architecture at all; `uncounted` ones are, and change no count in any class that has them; `undeclared` ones go without
a note in files of classes that do not have them. A family adds its own as a mapping from a reason to keys; the
sentences below are reasons that several families share.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache

from archcalc.core.errors import InputError
from archcalc.spec.paths import data_root

Inert = Mapping[str, str]  # a reason, and the keys that it holds for, with blanks between them

NO_SUCH_SIZE = "the class has no such size of its own, and takes it from others"
ORDER = "changes the order of steps that are all counted"
STARTING = "how weights start"
TRAINING = "of losses and of what is hidden or disturbed while training"
USUAL_LAYERS = "only says which layers there are where the file does not list them"
NOT_HERE = "read where a model has what it is about, and without effect otherwise"
RUNNING = "how a class runs, in which numbers, and what it gives out besides"
APPROXIMATE = "of an approximation that is counted as the whole"
SUMMARY = "of a head that sums up a text or an image, read where a class has such a head"
FEATURES = "names the features that a backbone gives out"
SEGMENTING = "of classes for segmentation, whose heads are refused"
TOKENS = "of tokens, and of how texts are generated"
UNREAD = "stands in files, and no class reads it"


def keys_of(inert: Inert) -> Iterator[str]:
    for keys in inert.values():
        yield from keys.split()


@cache
def listed(section: str) -> tuple[str, ...]:
    """The keys of one section of the file."""
    file = data_root() / "hf" / "inert.json"
    by_reason = json.loads(file.read_text(encoding="utf-8")).get(section)
    if not isinstance(by_reason, dict) or not all(isinstance(keys, list) for keys in by_reason.values()):
        raise InputError(f"{file}: expected lists of keys, each under the reason for it", field=section)
    return tuple(str(key) for keys in by_reason.values() for key in keys)


def is_inert(key: str) -> bool:
    """Whether a key is of no architecture, whatever the model type."""
    return key in listed("keys") or key.endswith(listed("endings"))


def changes_no_count(key: str) -> bool:
    """Whether no class is counted differently for this key."""
    return is_inert(key) or key in listed("uncounted")
