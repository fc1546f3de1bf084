"""What an engine runs before it gives its KV cache a size: encoders, on as many of the largest inputs as a step holds.

Source: vLLM, profile_run in v1/worker/gpu/model_runner.py and MultiModalBudget in multimodal/encoder_budget.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from archcalc.archs.parts.inputs import Input
from archcalc.archs.parts.model import Parts
from archcalc.archs.parts.resolve import resolve
from archcalc.archs.parts.spec import Spec
from archcalc.spec.encoders import Step, Tried
from archcalc.spec.images import LONGEST, Images

MOST_TILES = 64  # along a side, of those that are tried


class _Item(NamedTuple):
    """The largest item of a kind that an input can have."""

    kind: str
    name: str
    one: Input  # with as many images as the item is
    positions: int


def profiled(spec: Spec, model: Parts, step: Step) -> tuple[Parts, Tried] | None:
    """The model with the items that are tried, in one sample and apart from the text, and what they are; None where
    nothing comes in besides text. Of several kinds the one with the largest items is tried."""
    items = [item for name in model.encoded for item in _items(model, name, step) if step.most(item.kind)]
    if not items:
        return None
    kind, name, one, positions = max(items, key=lambda item: item.positions)
    number = step.items(kind, positions)
    inputs = {each: its.model_copy(update={"number": int(its.is_open)}) for each, its in model.inputs.items()}
    inputs[name] = one.model_copy(update={"number": number * one.number})
    tried = resolve(spec.model_copy(update={"inputs": inputs, "input": None}))
    return replace(tried, apart=True), Tried(kind, number, positions)


def apart(spec: Spec, model: Parts) -> Parts:
    """The model with one image at most, which is encoded apart from the text."""
    if not model.encoded:
        return model
    inputs = {name: one.model_copy(update={"number": min(one.number, 1)}) for name, one in model.inputs.items()}
    return replace(resolve(spec.model_copy(update={"inputs": inputs, "input": None})), apart=True)


def _items(model: Parts, name: str, step: Step) -> Iterator[_Item]:
    """An image as large as the processor lets it be, and a video of as many of them as the longest context holds."""
    one = model.inputs[name].model_copy(update={"number": 1})
    if one.processor:
        one = one.model_copy(update={"size": largest_size(one.processor)})
    positions = max(1, one.seen.positions if one.processor else model.positions_of(name))
    yield _Item("image" if one.is_image else "audio", name, one, positions)
    images = min(step.images_of_video, step.longest // positions)
    if one.is_image and images > 1:
        yield _Item("video", name, one.model_copy(update={"number": images}), images * positions)


def largest_size(processor: Images) -> tuple[int, int]:
    """The size of an image that takes most positions: large, or as oblong as tiles allow."""
    side = processor.size or 1
    tiles = range(1, (processor.most or 1) + 1 if processor.size and processor.most else 2)
    oblong = [(side * rows, side * columns) for rows in tiles for columns in tiles if len(tiles) <= MOST_TILES]
    sizes = [(LONGEST, LONGEST), (side, side), *oblong, *(processor.sizes or ())]
    return max(sizes, key=lambda size: processor.seen(*size).positions)
