"""vLLM's groups of layers, against what its start-up logs print of blocks, padding and tokens."""

from __future__ import annotations

import pytest

from archcalc.analyze.memory.vllm_groups import Kind, Layer, Layout, grouped
from archcalc.core.errors import InputError

LONG = 65_536


def full(width: int, positions: int = LONG) -> Layer:
    return Layer(Kind.FULL, width, ((2, width // 4), (2, width // 4)), positions)


def window(width: int, reach: int = 1024, positions: int = LONG) -> Layer:
    return Layer(Kind.WINDOW, width, ((2, width // 4), (2, width // 4)), positions, reach)


def state(size: int) -> Layer:
    return Layer(Kind.STATE, size, ((size // 2,),))


def padding(layout: Layout) -> int:
    return sum(one.places - one.layers for one in layout.placed)


def of_a_token(layout: Layout) -> int:
    """Bytes by which vLLM up to 0.20.0 divides its pool: a block in every group, for the tokens in the shortest."""
    return sum(one.places * one.page for one in layout.placed) // min(one.tokens for one in layout.placed if one.tokens)


@pytest.mark.parametrize(
    ("numbers", "groups", "size", "empty"),
    [
        ((10, 52), 7, 10, 8),  # Gemma 3 27B: "Add 8 padding layers, may waste at most 15.38% KV cache memory"
        ((4, 22), 7, 4, 2),  # Gemma 3 1B: "Add 2 padding layers, may waste at most 9.09% KV cache memory"
        ((8, 40), 6, 8, 0),
        ((12, 12), 2, 12, 0),
        ((13, 12), 2, 13, 1),  # gpt-oss 20B and a drafter: the more numerous decide, if they are not many more
        ((20, 30), 3, 20, 10),
        ((20, 29), 2, 29, 9),
    ],
)
def test_groups_are_as_large_as_the_fewest_layers_of_a_kind(
    numbers: tuple[int, int], groups: int, size: int, empty: int
) -> None:
    """Or as the most, where those are less than half as many again."""
    layout = grouped({full(8192): numbers[0], window(8192): numbers[1]})
    assert (layout.groups, layout.size, padding(layout)) == (groups, size, empty)


def test_layers_that_need_equally_many_blocks_are_one_group_of_any_width() -> None:
    layout = grouped({full(1152): 61, full(132): 61})
    assert (layout.groups, padding(layout)) == (1, 0)
    assert of_a_token(layout) == 61 * (1152 + 132)
    assert str(layout) == "122 full-attention layers as one group"


def test_several_windows_are_several_kinds() -> None:
    layout = grouped({full(4096): 8, window(4096, 512): 16, window(4096, 4096): 24})
    assert (layout.groups, layout.size) == (1 + 2 + 3, 8)
    assert str(layout) == "8 full-attention and 40 sliding-window layers as 6 groups of 8"


def test_narrower_layers_have_more_tokens_in_a_block() -> None:
    """Gemma 4 31B: 16 heads of 256 within windows, 4 of 512 elsewhere. vllm-project/vllm, issue 43308: some 55k tokens
    in some 50 GiB, by 0.20.0."""
    layout = grouped({full(2 * 4 * 512 * 2): 10, window(2 * 16 * 256 * 2): 50})
    wide, narrow = 16 * 2 * 16 * 256 * 2, 32 * 2 * 4 * 512 * 2
    assert {one.page for one in layout.placed} == {wide} == {narrow}
    assert [one.tokens for one in layout.placed] == [32, 16]
    assert 50 * 2**30 // of_a_token(layout) == pytest.approx(55_000, rel=0.01)


def test_widths_that_do_not_divide_are_padded() -> None:
    layout = grouped({full(3000): 10, window(4096): 20})
    assert [(one.tokens, one.page) for one in layout.placed] == [(16, 16 * 4096)] * 2


@pytest.mark.parametrize(
    ("attention", "layers", "recurrent", "others", "tokens", "more"),
    [
        (2 * 2 * 256 * 2, 12, 3 * 8192 * 2 + 32 * 128 * 128 * 2, 36, 544, 1.49),  # Qwen3-Next 80B-A3B
        (2 * 2 * 256 * 2, 10, 3 * 8192 * 2 + 32 * 128 * 128 * 4, 30, 1056, 0.76),  # Qwen3.5 35B-A3B, states in fp32
        (2 * 4 * 256 * 2, 16, 3 * 10240 * 2 + 48 * 128 * 128 * 4, 48, 784, 0.13),  # Qwen3.5 27B
        (2 * 4 * 256, 16, 3 * 10240 * 2 + 48 * 128 * 128 * 4, 48, 1568, 0.13),  # the same, its keys in fp8
        (2 * 8 * 64 * 2, 6, 2 * 2048 * 2, 10, 16, 300.0),  # LFM2 1.2B
    ],
)
def test_a_state_fits_into_a_block(
    attention: int, layers: int, recurrent: int, others: int, tokens: int, more: float
) -> None:
    """`Setting attention block size to 544 tokens`, `Padding mamba page size by 1.49%`."""
    layout = grouped({full(attention): layers, state(recurrent): others})
    assert [one.tokens for one in layout.placed] == [tokens, 0]
    assert {one.page for one in layout.placed} == {tokens * attention}
    assert round(100 * (tokens * attention - recurrent) / recurrent, 2) == more


def test_latent_attention_beside_states_has_longer_blocks() -> None:
    """Multiples of 128, where that of keys and values is 16."""
    latent = Layer(Kind.FULL, 1152, ((512,), (64,)), LONG)
    (tokens,) = (one.tokens for one in grouped({latent: 7, state(130 * 1152): 20}).placed if one.tokens)
    assert tokens == 2 * 128


@pytest.mark.parametrize(("gib", "tokens"), [(4.42, 128_608), (7.46, 217_264)])
def test_states_count_as_tokens_in_old_logs(gib: float, tokens: int) -> None:
    """LFM2 1.2B: 6 attention layers, 10 convolutions in two groups of 6, in all 18 layers' keys and values."""
    layout = grouped({full(2048): 6, state(8192): 10})
    assert (layout.groups, padding(layout)) == (3, 2)
    assert of_a_token(layout) == 18 * 2048
    assert gib * 2**30 / of_a_token(layout) == pytest.approx(tokens, rel=0.005 / gib)


def test_blocks_of_a_request_with_states() -> None:
    """Nemotron 3 Nano 30B-A3B by 0.20.2: 34.32 GiB, 5,769,184 tokens, 22.01 requests of 262,144. 6 attention layers of
    2 heads of 128; 23 of 64 heads of 64 × 128 in fp32 and a convolution over 6,144. Prefix caching, then off, adds a
    second state today."""
    layout = grouped({full(2 * 2 * 128 * 2, 262_144): 6, state(64 * 64 * 128 * 4 + 3 * 6144 * 2): 23})
    attention, recurrent = layout.placed
    assert (attention.tokens, layout.groups, padding(layout)) == (2096, 5, 1)
    assert (attention.blocks(1), recurrent.blocks(1)) == (126, 2)
    pool = int(34.32 * 2**30) // (6 * attention.page)
    assert int(pool / (126 + 4 * 1) * 262_144) == 5_769_184


def test_states_alone_are_kept_once() -> None:
    (alone,) = grouped({state(1000): 24}).placed
    assert (alone.blocks(16_384), alone.places, alone.page) == (1, 24, 1000)


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(InputError, match="attention layers of several widths"):
        grouped({full(2048): 4, window(4096): 4, state(8192): 8})
