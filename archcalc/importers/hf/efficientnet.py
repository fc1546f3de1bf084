"""EfficientNet: blocks that widen, convolve each channel alone, weigh the channels, and narrow again."""

from dataclasses import dataclass
from math import ceil

from archcalc.importers.hf._helpers import Config, Fields, conv_like, heads, inert, when

USUAL = "image"
INERT = {inert.NO_SUCH_SIZE: "num_hidden_layers"}
FIRST = 32  # channels of the stem, before they are scaled
LAST = 1280  # channels that are pooled, before they are scaled
SHRINKS = 2  # the stride of blocks that halve the map
DIGITS = 4  # of a rate of dropout
POOLINGS = {"mean": "average", "max": "max"}
LISTS = ("in_channels", "out_channels", "kernel_sizes", "strides", "expand_ratios", "num_block_repeats")


@dataclass(frozen=True)
class Block:
    """One block, in the words of the class."""

    into: int
    out: int
    kernel: int
    stride: int
    expand: int
    is_first: bool  # of its stage

    @property
    def name(self) -> str:
        """Of the block in the spec: what comes in is added to what it gives, unless it is the first of its stage."""
        if self.stride == SHRINKS:
            return "inverted_shrinking"
        if self.is_first:
            return "inverted"
        return "inverted_residual"


def translate(c: Config) -> Fields:
    word, last = conv_like.act(c), _scaled(c, LAST)
    if c.size("hidden_dim") != last:
        raise c.refused("hidden_dim", f"the last convolution gives {last} channels: it can be built but not run")
    stem: conv_like.Items = [
        {"pad": [[0, 1], [0, 1]]},
        {"conv": _scaled(c, FIRST), "kernel": 3, "stride": 2, "act": word},
    ]
    layers = [*stem, *_calls(c), {"conv": last, "kernel": 1, "act": word}, *_end(c)]
    return conv_like.network(c, layers, blocks=_blocks(word), conv=conv_like.NORMED)


def _blocks(word: str) -> Fields:
    """Where the map shrinks, zeros are put around it by a layer of their own; elsewhere by the convolution."""
    parameters: Fields = {"inner": "channels", "expands": "inner > channels", "squeezed": "required"}
    parameters |= {"out": "required", "kernel": 3}
    keeping = _inside(word, [], {"padding": "same"})
    shrinking = _inside(word, [{"pad": "zeros"}], {"stride": SHRINKS})
    skip: Fields = {"residual": [*keeping, {"dropout": "drop", "when": "drop > 0"}]}
    return {
        "inverted": {"parameters": parameters, "layers": keeping},
        "inverted_shrinking": {"parameters": {**parameters, "zeros": "required"}, "layers": shrinking},
        "inverted_residual": {"parameters": {**parameters, "drop": 0}, "layers": [skip]},
    }


def _inside(word: str, before: conv_like.Items, window: Fields) -> conv_like.Items:
    plain: Fields = {"kernel": 1, "bias": True, "norm": "none"}
    gate = [
        {"pool": "average", "to": 1},
        {"conv": "squeezed", **plain, "act": word},
        {"conv": "inner", **plain, "act": "sigmoid"},
    ]
    return [
        {"conv": "inner", "kernel": 1, "act": word, "when": "expands"},
        *before,
        {"conv": "inner", "kernel": "kernel", **window, "groups": "depthwise", "act": word},
        {"multiply": ["input", gate]},
        {"conv": "out", "kernel": 1},
    ]


def _calls(c: Config) -> conv_like.Items:
    found = _found(c)
    shifted = c.get("depthwise_padding")
    if not isinstance(shifted, list):
        raise c.wrong("depthwise_padding", "a list of blocks")
    calls: conv_like.Items = []
    for index, block in enumerate(found):
        squeezed = max(1, int(block.into * conv_like.number(c, "squeeze_expansion_ratio")))
        widened = when(block.expand > 1, inner=block.into * block.expand)
        kernel = when(block.kernel != 3, kernel=block.kernel)
        call: Fields = {"block": block.name, "out": block.out, "squeezed": squeezed, **widened, **kernel}
        if block.name == "inverted_shrinking":
            call |= _zeros(c, block, index not in shifted)
        if block.name == "inverted_residual":
            conv_like.dropout(c, "drop_connect_rate")  # a rate that grows from block to block
            rate = c.get("drop_connect_rate") * (index / len(found))
            call |= when(rate, drop=round(rate, DIGITS))
        calls.append(call)
    return calls


def _zeros(c: Config, block: Block, shifted: bool) -> Fields:
    """One zero less before than behind, unless the config says otherwise."""
    ends = [block.kernel // 2 - shifted, block.kernel // 2]
    if ends[0] < 0:
        raise c.refused("kernel_sizes", "a kernel of 1 at stride 2 cuts the map, which the language has no layer for")
    return {"zeros": [ends, ends]}


def _found(c: Config) -> list[Block]:
    lists = [conv_like.sizes(c, key) for key in LISTS]
    if len({len(each) for each in lists}) != 1:
        raise c.refused("in_channels", f"{', '.join(LISTS)} must have one length")
    found: list[Block] = []
    channels = _scaled(c, FIRST)
    for said_in, said_out, kernel, stride, expand, repeats in zip(*lists, strict=True):
        into, out = _scaled(c, said_in), _scaled(c, said_out)
        if into != channels or stride > SHRINKS:
            why = f"a stage would read {into} channels of {channels}, at stride {stride}: it can be built but not run"
            raise c.refused("in_channels", why)
        times = ceil(conv_like.number(c, "depth_coefficient") * repeats)
        if len(found) + times > conv_like.MOST_BLOCKS:
            raise c.refused("num_block_repeats", f"more than {conv_like.MOST_BLOCKS:,} blocks")
        first, other = Block(into, out, kernel, stride, expand, True), Block(out, out, kernel, 1, expand, False)
        found += [first, *[other] * times][:times]
        channels = out
    return found


def _scaled(c: Config, channels: int) -> int:
    divisor = c.size("depth_divisor")
    return conv_like.divisible(channels * conv_like.number(c, "width_coefficient"), divisor, divisor)


def _end(c: Config) -> conv_like.Items:
    if c.text("pooling_type") not in POOLINGS:
        raise c.wrong("pooling_type", "mean or max")
    pooled: conv_like.Items = [{"pool": POOLINGS[c.text("pooling_type")], "to": 1}, "flatten"]
    heads.only(c, "base", "image")
    if c.task == "base":
        return pooled
    return [*pooled, *conv_like.dropout(c, "dropout_rate"), *conv_like.classifier(c)]
