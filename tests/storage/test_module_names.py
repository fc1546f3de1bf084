"""Lists of modules: what they hold, and of which layers they say the same."""

from __future__ import annotations

import pytest

from archcalc.core.errors import InputError
from archcalc.storage.module_names import Names

Q, DOWN = ("self_attn.q_proj",), ("mlp.down_proj",)


@pytest.mark.parametrize(
    ("entry", "layer", "modules", "held"),
    [
        ("self_attn", 3, Q, True),
        ("mlp.down", 3, DOWN, False),
        ("model.layers.3", 3, Q, True),
        ("model.layers.3", 30, Q, False),
        ("language_model.model.layers.3.mlp", 3, DOWN, True),
        ("backbone.layers.3.mlp", 3, Q, False),
        ("3.mlp", 3, DOWN, True),
        ("model.layers.1*", 12, Q, True),
        ("model.layers.1.*", 12, Q, False),
        ("model.layers.1.*", 1, Q, True),
        ("model.layers.1.self_attn*", 1, Q, True),
        ("model.layers.1.self_attn*", 1, DOWN, False),
        ("*.mlp.*", 5, DOWN, True),
        ("re:.*layers.1.*", 12, Q, True),
        (r"re:model\.layers\.1\.mlp.*", 1, DOWN, True),
        (r"re:model\.layers\.1\.mlp.*", 11, DOWN, False),
        (r"re:^model\.language_model\.layers\.1\.mlp.*", 1, DOWN, True),
        (r"re:model\.layers\.1\.q|model\.layers\.2\.mlp.*", 2, DOWN, True),
        (r"re:.*\.(?!2\.)\d+\.mlp", 2, DOWN, False),
        (r"re:.*\.(?!2\.)\d+\.mlp", 12, DOWN, True),
    ],
)
def test_what_an_entry_holds(entry: str, layer: int, modules: tuple[str, ...], held: bool) -> None:
    assert Names((entry,)).hold(layer, modules) is held


@pytest.mark.parametrize(
    "listed",
    [
        ("lm_head", "mlp"),
        ("model.layers.0", "model.layers.7.mlp"),
        tuple(f"model.layers.{layer}.self_attn*" for layer in range(20)),
        ("model.layers.1*", "*.mlp.*"),
        (r"re:.*layers\.\d+\.mlp", r"re:.*[.](0|1)[.]self_attn"),
        (r"re:.*\.(?!2\.)\d+\.mlp",),
    ],
)
def test_layers_of_which_a_list_says_the_same_hold_the_same(listed: tuple[str, ...]) -> None:
    names = Names(listed)
    held = {layer: (names.hold(layer, Q), names.hold(layer, DOWN)) for layer in range(40)}
    for one in held:
        for other in held:
            assert names.of_layer(one) != names.of_layer(other) or held[one] == held[other]


def test_layers_that_are_all_named_are_asked_once() -> None:
    """As checkpoints of NVIDIA name them: 78 layers, each with its own entry."""
    names = Names(tuple(f"model.layers.{layer}.self_attn*" for layer in range(78)))
    assert len({names.of_layer(layer) for layer in range(78)}) == 1
    assert len({names.of_layer(layer) for layer in range(80)}) == 2


def test_a_list_that_takes_too_long_is_refused() -> None:
    """By the number of its states, before anything is matched, or by those that were visited."""
    many = tuple(f"re:.*{number}.*{'x' * 40}" for number in range(1000))
    with pytest.raises(InputError, match="1000 expressions are too many"):
        Names(many)
    hard = Names((f"re:(?!z){'(a|.)?' * 800}x",))
    with pytest.raises(InputError, match="take too long to match"):
        hard.hold(0, tuple(f"mlp.{'a' * 50}.{number}" for number in range(200)))
