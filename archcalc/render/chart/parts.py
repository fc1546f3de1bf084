"""The parts of memory in charts: their order from the ground up, and their colours.

What is there all the time stands at the bottom, so that what comes and goes is seen on top of it.
"""

from __future__ import annotations

from archcalc.render.inks import SERIES, Ink

_INKS = {ink.name: ink for ink in SERIES}
_COLOURS = {
    "weights": "blue",
    "adapters": "sky",
    "draft": "sky",
    "reference": "sky",
    "rollout": "sky",
    "master": "sky",
    "optimizer": "purple",
    "overhead": "grey",
    "buffers": "grey",
    "kv_cache": "orange",
    "state": "orange",
    "draft_cache": "yellow",
    "rollout_cache": "yellow",
    "gradients": "orange",
    "activations": "green",
    "logits": "vermilion",
    "temporary": "yellow",
}
ORDER = tuple(_COLOURS)


def ink(part: str) -> Ink:
    return _INKS[_COLOURS[part]]
