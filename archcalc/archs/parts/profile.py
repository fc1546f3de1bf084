"""What an engine runs before it gives its KV cache a size: encoders, on as many of the largest inputs as a step holds.

Source: vLLM, profile_run in v1/worker/gpu_model_runner.py and MultiModalBudget in v1/worker/utils.py.
"""

from __future__ import annotations

from archcalc.archs.parts.inputs import Input
from archcalc.archs.parts.model import Parts
from archcalc.archs.parts.spec import Spec
from archcalc.spec.images import LONGEST, Images


def profiled(spec: Spec, model: Parts, tokens: int, samples: int) -> Spec:
    """The spec with so many of the largest images, or recordings, in each of the samples of a step of `tokens`."""
    inputs = {
        name: one if one.is_open else _largest(one, model.positions_of(name), tokens, samples)
        for name, one in model.inputs.items()
    }
    return spec.model_copy(update={"inputs": inputs, "input": None})


def _largest(one: Input, positions: int, tokens: int, samples: int) -> Input:
    if one.processor:
        height, width = largest_size(one.processor)
        one = one.model_copy(update={"size": (height, width)})
        positions = one.seen.positions
    items = max(1, tokens // max(positions, 1))
    return one.model_copy(update={"number": -(-items // samples)})


def largest_size(processor: Images) -> tuple[int, int]:
    """The size of an image that takes most positions: large, or as oblong as tiles allow."""
    side = processor.size or 1
    tiles = range(1, (processor.most or 1) + 1 if processor.size and processor.most else 2)
    oblong = [(side * rows, side * columns) for rows in tiles for columns in tiles if len(tiles) <= MOST_TILES]
    sizes = [(LONGEST, LONGEST), (side, side), *oblong, *(processor.sizes or ())]
    return max(sizes, key=lambda size: processor.seen(*size).positions)


MOST_TILES = 64  # along a side, of those that are tried
