"""Mistakes about the model itself: another convention, another structure. Each is a change of the spec, and the wrong
value is what the changed model really has. A change that makes no valid model of the family is no mistake of it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

from archcalc.core.windows import Rule, Window

Data = dict[str, Any]
Place = tuple[str | int, ...]
GONE = object()  # in the place of a value: the field is taken out


@dataclass(frozen=True)
class Misreading:
    """A field is taken to have another value than it has; `instead_of` are the values that it is taken for."""

    name: str
    sentence: str
    field: str
    value: Any
    instead_of: tuple[Any, ...] = ()  # any, where none is named
    unsaid: bool = False  # also where the spec leaves it out
    each: bool = False  # also in one place alone, such as the stride of one layer
    beside: str = ""  # also where a layer has this field and leaves the other out
    like: str = ""  # the value is that of another field, and not `value`

    def changed(self, data: Data) -> Iterator[Data]:
        """The specs that somebody has in mind who makes it."""
        value = next((found for _, found in _places(data, _path(self.like))), GONE) if self.like else self.value
        if self.like and value is GONE:
            return
        places = self._places(data, value)
        if places:
            yield _with(data, places, value)
        if self.each and len(places) > 1:
            yield from (_with(data, [place], value) for place in places)

    def _places(self, data: Data, value: Any) -> list[Place]:
        path = _path(self.field)
        found = dict(_places(data, path))
        places = [place for place, said in found.items() if self._differs(said, value)]
        if self.beside:
            layers = [place[:-1] for place, _ in _places(data, _path(self.beside))]
            places += [(*layer, *path) for layer in layers if (*layer, *path) not in found]
        return [*places, path] if self.unsaid and path not in found else places

    def _differs(self, found: Any, value: Any) -> bool:
        return found != value and (not self.instead_of or found in self.instead_of)


def _path(field: str) -> Place:
    return tuple(field.split("."))


def _places(value: Any, field: Place, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every place where a field is written, at the top or within others, and what it has there."""
    for name, inner in _inside(value):
        if (*path, name)[-len(field) :] == field:
            yield (*path, name), inner
        yield from _places(inner, field, (*path, name))


def _inside(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def _with(data: Data, places: list[Place], value: Any) -> Data:
    """A copy with a field changed, or taken out, in these places; a value in short form, `ffn: 512`, has no fields."""
    copy = deepcopy(data)
    for *above, name in places:
        node: Any = copy
        for key in above:
            node = node.setdefault(key, {}) if isinstance(node, dict) else node[key]
        if isinstance(node, dict):
            node.pop(name, None)
            node |= {} if value is GONE else {name: value}
    return copy


def _flag(name: str, field: str, counted: str, forgotten: str) -> tuple[Misreading, Misreading]:
    """What a model has or has not, counted where it has none and forgotten where it has."""
    return (
        Misreading(f"{name} forgotten", forgotten, field, False, unsaid=True),
        Misreading(f"{name} where there is none", counted, field, True, unsaid=True),
    )


_HEADS = "the heads together are taken to be as wide as the model; here heads × head_dim is another width"
_NORM = "a layer norm has a scale and a shift, an RMS norm a scale alone"
_CELLS = "an LSTM has four gates (the candidate included), a GRU three, a plain RNN one"
_TIED = "the output layer uses the embedding's table and has no matrix of its own"
_GROUPS = "with groups, an output channel sees only the input channels of its own group"
_SAME = "the map keeps its size only with padding; here there is none"
_DEPTHS = "encoder and decoder have different numbers of blocks"
_ONE = "⌊(n + 2p − k)/s⌋ + 1: the 1 for the first place is missing"
_BIASES = "how many bias vectors a gate has is a convention: here it is another"

MISREADINGS = (
    Misreading("d_model for the heads' width", _HEADS, "head_dim", GONE),
    Misreading("keys and values for every head", "keys and values have fewer heads than queries", "kv_heads", GONE),
    *_flag("bias in every layer", "bias", "biases are counted, but the model has none", "all biases are missing"),
    *_flag(
        "gate of the feed-forward layer",
        "ffn.gated",
        "the feed-forward layer is not gated: it has two matrices, not three",
        "the feed-forward layer is gated: it has three matrices, not two",
    ),
    *_flag(
        "sharing of the embedding",
        "embedding.shared",
        "source and target have a table each: there are two, not one",
        "source and target share one table",
    ),
    *_flag("second direction", "bidirectional", "the layers run in one direction", "the layers run in both directions"),
    *_flag("peepholes", "peephole", "the gates have no peepholes", "the peepholes are missing"),
    Misreading("RMS norm for layer norm", _NORM, "norm.kind", "rms", unsaid=True),
    Misreading("layer norm for RMS norm", _NORM, "norm.kind", "layer"),
    Misreading("output layer where it is tied", _TIED, "head.kind", "lm", ("tied",)),
    Misreading("position table forgotten", "the position table is missing", "position", []),
    Misreading("class token forgotten", "the class token in front is missing", "embedding.tokens", 0, unsaid=True),
    Misreading("one channel for all", "a patch has all channels of the image", "embedding.channels", 1, unsaid=True),
    Misreading("one bias vector instead of two", _BIASES, "biases", "one", unsaid=True),
    Misreading("two bias vectors instead of one", _BIASES, "biases", "two", unsaid=True),
    Misreading("three gates for four", _CELLS, "cell", "gru"),
    Misreading("four gates for three", _CELLS, "cell", "lstm"),
    Misreading("no gates", _CELLS, "cell", "rnn"),
    Misreading("projection forgotten", "the state is projected to a narrower one", "projection", GONE),
    Misreading("stride forgotten", "the stride is taken to be 1", "stride", 1, each=True),
    Misreading("padding forgotten", "the padding is missing", "padding", 0, each=True),
    Misreading("dilation forgotten", "the dilation is missing: the kernel reaches further", "dilation", 1, each=True),
    Misreading("groups forgotten", _GROUPS, "groups", 1, each=True),
    Misreading("`same` padding assumed", _SAME, "padding", "same", (0, "valid"), each=True, beside="conv"),
    Misreading("the encoder's blocks for the decoder's", _DEPTHS, "decoder.blocks", None, like="encoder.blocks"),
    Misreading("the decoder's blocks for the encoder's", _DEPTHS, "encoder.blocks", None, like="decoder.blocks"),
)


class Misremembered(NamedTuple):
    """Another formula for the size of a map behind a convolution or a pool."""

    name: str
    sentence: str
    rule: Rule


def _without_one(window: Window) -> int:
    return window.right_places - 1


def _without_one_where_they_overlap(window: Window) -> int:
    """A pool that halves a map is not worked out by the formula."""
    return window.right_places - (window.stride < window.kernel)


def _rounded_up(window: Window) -> int:
    return -(-(window.size + window.before + window.after - window.reach) // window.stride) + 1


MISREMEMBERED = (
    Misremembered("size without + 1", _ONE, _without_one),
    Misremembered("size without + 1", _ONE, _without_one_where_they_overlap),
    Misremembered("size rounded up", "the division is rounded down, not up", _rounded_up),
)
