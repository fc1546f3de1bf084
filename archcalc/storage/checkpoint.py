"""How a checkpoint stores its weights, module by module, according to its quantization_config.

A method quantises linear layers except some: the head, the router, and modules listed by their names in the
checkpoint. Every matrix is looked up layer by layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from archcalc.core.budget import Budget
from archcalc.core.mesh import Plan
from archcalc.core.roles import SHARED, TABLES, Role
from archcalc.storage.format import Format, plain, shape_on
from archcalc.storage.layer_numbers import LayerNumbers
from archcalc.storage.module_names import Names
from archcalc.storage.places import Facts, Place

HEAD = "lm_head"
LINEAR = "Linear"  # the target that stands for every linear layer
MOST_LAYERS = 10_000  # of which each may be stored in its own way; the deepest models that are published have some 200


@dataclass(frozen=True)
class Group:
    """Modules stored in one format; unquantised if the format is None."""

    format: Format | None
    targets: Names = field(default_factory=lambda: Names((LINEAR,)))
    whole: int = 0  # matrices whose inputs are no multiple of it stay as they are; 0: all are quantised


@dataclass(frozen=True)
class Checkpoint:
    """`name` is shown to users; `unknown` says why the bytes of a method cannot be counted."""

    name: str
    groups: tuple[Group, ...] = ()
    skipped: Names = field(default_factory=lambda: Names(()))
    quantises: str = "linear"  # or "experts", or "linear and tables", which is every matrix, the router too
    head: bool = False  # is quantised too
    rest: str = ""
    source: str = ""  # where it is said, where that is not in the spec
    unknown: str = ""
    dequantised_copies: int = 0  # 16-bit copies of a matrix that a product of several tokens allocates
    layout: str = ""  # the named format that engines' kernels may lay out anew
    parts: tuple[str, ...] = ()  # of a model of several parts: those that are quantised, where not all are

    _asked: dict[int, Hashable] = field(default_factory=dict, init=False, compare=False, repr=False)

    is_quantised = True
    has_buffers = False
    file_kind = ""
    estimate = ""  # how a GPU's share is worked out, where that is an assumption

    @property
    def note(self) -> str:
        """A note for reports of bytes."""
        stored = f"the weights are stored quantised ({self.name})"
        return f"{stored}: {self.unknown}; set the format to count with --weights" if self.unknown else stored

    def holds(self, place: Place) -> bool:
        """Whether a parameter is quantised in at least one layer; `total` decides layer by layer."""
        if self.parts and place.part not in self.parts:
            return False
        if self.quantises == "linear and tables":
            return place.role.is_linear or place.role.is_table
        if self.quantises == "experts":
            return place.role.is_expert
        if place.role is Role.ROUTER:
            return False
        return place.role.is_linear and (self.head or not place.role.gives_scores)

    def total(self, place: Place, model: Facts, plan: Plan) -> int:
        """Bytes of all copies on one GPU; layers to which the same rules apply are computed once."""
        shape = shape_on(plan, place.param.axes)
        if not any(names.by_layer for names in self._lists):
            return place.copies * self._format(place, 0).bytes(shape)
        numbers = place.layers or LayerNumbers.up_to(place.copies)
        what, hint = f"layers, for which {self.source} has rules", "choose the format to count, such as --weights bf16"
        Budget(what, MOST_LAYERS, hint, field="--weights").spend(numbers.number)
        layers = list(numbers)
        for layer in layers:  # the rules that apply to it, looked up once for all its matrices
            if layer not in self._asked:
                self._asked[layer] = tuple(names.of_layer(layer) for names in self._lists)
        rules = [self._asked[layer] for layer in layers]
        times = Counter(rules)
        first = dict(zip(reversed(rules), reversed(layers), strict=True))
        return sum(times[said] * self._format(place, layer).bytes(shape) for said, layer in first.items())

    def unfound(self, places: Iterable[Place]) -> tuple[str, ...]:
        """Modules excluded from quantisation that the model does not have, or has under another name."""
        return self.skipped.unfound(name for place in places if place.role.is_linear for name in modules(place))

    @cached_property
    def _lists(self) -> tuple[Names, ...]:
        return (self.skipped, *(group.targets for group in self.groups))

    def _format(self, place: Place, layer: int) -> Format:
        """The format of the first group that matches the module; none if the module is excluded."""
        called, outside = modules(place), not place.layers

        def named(names: Names) -> bool:
            return any(map(names.hold_outside, called)) if outside else names.hold(layer, called)

        if named(self.skipped) or (self.parts and place.part not in self.parts):
            return plain(self.rest)
        for group in self.groups:
            if LINEAR in group.targets.listed or named(group.targets):
                # unquantised if the group says so, or if its group size does not divide the inputs
                columns = shape_on(Plan(), place.param.axes).columns
                divides = not group.whole or columns % group.whole == 0
                return (group.format if divides else None) or plain(self.rest)
        return plain(self.rest)


# What modules are called in checkpoints: `model.layers.3.self_attn.q_proj`, by what they do. Families spell them in
# several ways. A list of modules is matched with all spellings, of which a checkpoint has one.

_FUSED = ("qkv_proj", "query_key_value", "c_attn", "Wqkv", "W_pack")
_ATTENTION = {
    Role.ATTENTION_Q: ("q_proj", "query", "wq", *_FUSED),
    Role.ATTENTION_K: ("k_proj", "key", "wk", *_FUSED),
    Role.ATTENTION_V: ("v_proj", "value", "wv", *_FUSED),
    Role.ATTENTION_OUT: ("o_proj", "out_proj", "dense", "wo", "c_proj"),
    Role.ATTENTION_Q_DOWN: ("q_a_proj",),
    Role.ATTENTION_Q_UP: ("q_b_proj",),
    Role.ATTENTION_KV_DOWN: ("kv_a_proj_with_mqa",),
    Role.ATTENTION_KV_UP: ("kv_b_proj",),
    Role.ATTENTION_GATE: ("gate_proj", "g_proj", "output_gate"),
}
_FFN = {
    Role.FFN_GATE: ("gate_proj", "w1", "gate_up_proj"),
    Role.FFN_UP: ("up_proj", "w3", "gate_up_proj", "fc1", "c_fc", "dense_h_to_4h"),
    Role.FFN_DOWN: ("down_proj", "w2", "fc2", "c_proj", "dense_4h_to_h"),
}
_BARE = {Role.FFN_UP: ("fc1",), Role.FFN_DOWN: ("fc2",)}  # OPT and BART have them directly in a layer
_MIXERS = {
    Role.MAMBA_IN: ("in_proj",),
    Role.MAMBA_SELECT: ("x_proj",),
    Role.MAMBA_DT: ("dt_proj",),
    Role.MAMBA_OUT: ("out_proj",),
    Role.LATENT_IN: ("fc1_latent_proj",),
    Role.LATENT_OUT: ("fc2_latent_proj",),
}
_DELTA = {
    Role.DELTA_IN: ("in_proj", "in_proj_qkvz", "in_proj_qkv", "in_proj_z"),
    Role.DELTA_RATES: ("in_proj_ba", "in_proj_a", "in_proj_b"),
    Role.DELTA_GATES: ("f_a_proj", "f_b_proj", "g_a_proj", "g_b_proj", "g_proj", "b_proj"),
    Role.DELTA_OUT: ("out_proj", "o_proj"),
}
_WHOLE = {  # with what stands before them
    Role.ROUTER: ("mlp.gate", "mlp.router"),
    Role.SHARED_SCALE: ("mlp.shared_expert_gate",),
    Role.INDEXER_Q: ("self_attn.indexer.wq_b",),
    Role.INDEXER_K: ("self_attn.indexer.wk",),
    # GLM 5's lists drop `.weight` wherever it stands
    Role.INDEXER_WEIGHTS: ("self_attn.indexer.weights_proj", "self_attn.indexers_proj"),
    **dict.fromkeys((Role.HEAD, Role.CLASSIFIER), ("lm_head",)),
    **dict.fromkeys(TABLES, ("embed_tokens", "wte", "word_embeddings", "tok_embeddings", "embeddings")),
}
_IN_ATTENTION = ("self_attn", "attention", "attn", "self_attention", "mixer")
_IN_EXPERTS = ("mlp", "block_sparse_moe", "feed_forward", "moe", "mixer")
_IN_FFN = ("mlp", "feed_forward", "ffn", "mixer")


def modules(place: Place) -> tuple[str, ...]:
    """Every spelling of the module that holds a matrix, as it is called in a layer or, for the head, in the model."""
    role = place.role
    if role.plain in _ATTENTION:
        return _joined(_IN_ATTENTION, _ATTENTION[role.plain])
    if role.plain in _FFN:
        names = _FFN[role.plain]
        if role.is_expert:
            return _joined(_joined(_IN_EXPERTS, ("experts.0", "experts")), names)
        if role in SHARED:
            return _joined(_joined(_IN_EXPERTS, ("shared_experts", "shared_expert", "shared_mlp")), names)
        return (*_joined(_IN_FFN, names), *_BARE.get(role, ()))
    if role in _MIXERS:
        return _joined(("mamba", "mixer"), _MIXERS[role])
    return _joined(("linear_attn", "self_attn"), _DELTA[role]) if role in _DELTA else _WHOLE.get(role, ())


def _joined(above: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{one}.{name}" for one in above for name in names)
