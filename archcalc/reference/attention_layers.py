"""Attention and Transformer blocks as layers of a network, on (batch, positions, features)."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import is_flash
from archcalc.reference.block import attentions_of, make_part
from archcalc.reference.stack import Constants, Stack, add_position_table
from archcalc.reference.unsaid import filled, worked_out_stack

Signals = dict[str, Tensor]
ACROSS_ENDS = "#across ends"  # in the place of a name


def remembered(memory: str | None, x: Tensor, signals: Signals) -> dict[str, Tensor]:
    """What cross-attention looks at: an earlier layer, or what comes in."""
    if memory is None:
        return {}
    return {"memory": signals.get(memory, x).contiguous()}


def attentions_in(config: Config) -> list[Config]:
    """The attentions of a layer that has some, with all of their sizes."""
    if config.get("type") == "attention_layer":
        return attentions_of([filled(config["part"], config["width"])])
    if config.get("type") == "transformer_layer":
        return attentions_of([*worked_out_stack(config["stack"])["parts"].values()])
    return []


def hidden_across_ends(
    given: dict[str, Tensor], attentions: list[Config], signals: Signals, options: dict[str, str]
) -> dict[str, Tensor]:
    """The masks of shifted windows, beside those that the attentions have themselves; a flash kernel takes none."""
    if ACROSS_ENDS not in signals:
        return given
    hidden, names = signals[ACROSS_ENDS], [f"mask {part['name']}" for part in attentions if not is_flash(part, options)]
    return given | {name: given[name] | hidden if name in given else hidden for name in names}


def attention(config: Config, options: dict[str, str]) -> nn.Module:
    """The attention of a Transformer, which is handed its memory, its mask and its positions before it runs."""
    (part,) = attentions_in(config)
    made = make_part(part, config["width"], config["memory_width"] or 0, options)
    add_position_table(made, [part], config["width"])

    def given(module: nn.Module, inputs: tuple[Tensor, Signals]) -> tuple[Tensor, dict[str, Tensor]]:
        x, signals = inputs[0].contiguous(), inputs[1]
        constants = Constants(module, x, 0, options)
        constants.add(part)
        found = hidden_across_ends(constants.given, [part], signals, options)
        return x, found | remembered(config["memory"], x, signals)

    made.register_forward_pre_hook(given)
    return made


class Blocks(Stack):
    def __init__(self, config: Config, options: dict[str, str]) -> None:
        super().__init__(worked_out_stack(config["stack"]), config["memory_width"] or 0, options)
        self.memory = config["memory"]

    def forward(self, x: Tensor, signals: Signals) -> Tensor:  # type: ignore[override]
        x, self.signals = x.contiguous(), signals
        found, _ = super().forward(x, remembered(self.memory, x, signals).get("memory"), None, None, None, 0, {})
        self.signals = {}  # which would outlive the forward pass
        return found

    def constants(self, x: Tensor, start: int) -> dict[str, Tensor]:
        return hidden_across_ends(super().constants(x, start), self.attentions, self.signals, self.options)


ATTENTION_LAYERS: dict[str, Callable[[Config, Any], nn.Module]] = {
    "attention_layer": attention,
    "transformer_layer": Blocks,
}
