"""A library's code in place of the traced model's ops: the change to a tree that its habits make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from archcalc.core.ir import Module, Op, walk
from archcalc.core.mesh import Plan
from archcalc.run.code import (
    adapters,
    attention_functions,
    checkpointing,
    context,
    dropouts,
    dropped_adapters,
    ends,
    experts,
    functions,
    gated,
    head_chunks,
    heads,
    interleaved,
    kernels,
    loss_chunks,
    losses,
    losses_in_place,
    merged,
    mixture,
    norms,
    relative_bias,
    rotary,
)
from archcalc.run.code.activations import GELUS, WRITTEN
from archcalc.run.code.facts import NOTHING_SAID, Facts
from archcalc.run.code.habits import Habits
from archcalc.run.code.linear import join_biases
from archcalc.run.code.routers import Routing

Lowered = Callable[..., list[Op]]

LAYERS: dict[tuple[str, str], Callable[[Module, Plan], None]] = {  # habit and choice: code of several ops, in order
    ("experts", "weighed_inside"): mixture.exchange,
    ("linears", "merged"): merged.merge,
    ("gated", "fused"): gated.fuse,
    ("context", "a2a"): context.trade_heads,
}

OPS: dict[tuple[str, str], dict[str, Lowered]] = {  # kind of op and habit: the code for each choice
    ("rms_norm", "rms_norm"): {
        "fused": norms.fused,
        "upcast": norms.upcast,
        "upcast_product": norms.upcast_product,
        "upcast_statistics": norms.upcast_statistics,
        "narrow": norms.in_16_bits,
        "upcast_weight": norms.upcast_weight,
    },
    ("layer_norm", "layer_norm"): {"steps": norms.layer_norm_in_steps, "fp32": norms.layer_norm_in_fp32},
    ("rotate", "rotary"): {
        **{name: rotary.lowered_by(turn) for name, turn in rotary.TURNS.items()},
        "pairs": rotary.as_pairs,
        "joined": rotary.joined,
    },
    ("flash", "kv_heads"): {"copy": heads.copied},
    ("bent_flash", "capped"): {"flash_attn": kernels.with_random_state},
    ("cross_entropy", "loss"): {
        "in_place": losses_in_place.in_place,
        "in_place_fp32": losses_in_place.in_place_fp32,
    },
}
NO_DROPOUT = Facts(dropout=())
ONE_GPU = Plan()
WHEN_COMPILED = ("kv_heads",)  # a compiler fuses elementwise code, however it is written


@dataclass(frozen=True)
class Lowering:
    """`narrow`: activations have fewer than 32 bits. `is_compiled`: torch.compile takes the blocks. `is_recomputed`: so
    does activation checkpointing. `plan`: what layers that talk to other GPUs are divided by."""

    habits: Habits
    narrow: bool
    is_compiled: bool = False
    compiles_loss: bool = False
    loss_chunks: int = 1
    facts: Facts = NOTHING_SAID
    is_recomputed: bool = False  # blocks, in the backward pass
    plan: Plan = ONE_GPU

    def __call__(self, root: Module) -> None:
        """Raises NotLowered for a model with a layer that the library's code, as it is known here, does not have."""
        chosen = dict(self._chosen())
        self._lower_layers(root)
        if not self.is_compiled:
            self._lower_modules(root)
            self._add_functions(root)
        for module, _ in walk(root):
            module.body[:] = [new for item in module.body for new in self._lowered(item, chosen)]

    def _lower_layers(self, root: Module) -> None:
        """What changes layers themselves, before their ops."""
        habits = self.habits
        if habits.dropout == "none":
            dropouts.put_in_place(root, NO_DROPOUT)
        if habits.adapters == "dropped":
            interleaved.lower_attention(root, is_interleaved=habits.qkv == "interleaved")
            dropped_adapters.drop_inputs(root)
        if habits.head == "chunks":
            head_chunks.chunk_head(root, narrow=self.narrow)
        if habits.model_casts_logits(self.loss_chunks):
            losses.cast_by_model(root)
        if habits.qkv == "copied":
            interleaved.copy_parts(root)
        if self.loss_chunks > 1 and habits.loss_chunks == "backward":
            loss_chunks.copy_hidden(root, narrow=self.narrow)
        if self.loss_chunks > 1 and habits.loss_chunks == "packed":
            loss_chunks.pack_hidden(root, narrow=self.narrow)
        if self.loss_chunks > 1 and habits.loss_chunks in ("list", "views"):
            by_head = habits.loss_chunks == "list"
            loss_chunks.chunk_loss(root, self.loss_chunks, by_head=by_head, is_compiled=self.compiles_loss)

    def _lower_modules(self, root: Module) -> None:
        """What is more than one op in place of another."""
        for (habit, choice), change in LAYERS.items():
            if getattr(self.habits, habit) == choice:
                change(root, self.plan)
        if self.habits.experts == "grouped":
            experts.group_experts(root, self._routing, narrow=self.narrow)
        if self.habits.adapters in ("fp32", "narrow"):
            adapters.lower_adapters(root, narrow=self.narrow and self.habits.adapters == "fp32")
        self._lower_ends(root)
        if self.is_recomputed and self.habits.embeddings == "asked":
            checkpointing.ask_embeddings(root)
        if self.habits.bias == "joined":
            join_biases(root)
        if self.facts.dropout is not None:
            dropouts.put_in_place(root, self.facts)

    @property
    def _routing(self) -> Routing:
        habit = self.habits.router
        return Routing(
            is_divided=habit == "divided" or self.facts.divides_chosen,
            is_cast=habit == "cast",
            reads_fp32=self.habits.router_product == "fp32",
        )

    def _lower_ends(self, root: Module) -> None:
        if self.habits.embedding_scale != "plain":
            ends.scale_embeddings(root, has_buffer=self.habits.embedding_scale == "buffer")
        if self.habits.logits_scale == "number":
            ends.scale_logits(root)
        if self.facts.caps_logits:
            ends.cap_logits(root)

    def _add_functions(self, root: Module) -> None:
        if self.habits.qk_norm == "at_once":
            attention_functions.normalise_at_once(root)
        if self.habits.variables == "held":
            functions.add_functions(root, self.habits, narrow=self.narrow)
        if self.habits.zeros == "leaf" and self.is_recomputed:
            relative_bias.want_gradients(root)
        if self.habits.loss in losses.WAYS:
            losses.lower_losses(root, losses.WAYS[self.habits.loss])

    def _chosen(self) -> list[tuple[str, Lowered]]:
        found = []
        for (kind, habit), ways in OPS.items():
            way = ways.get(getattr(self.habits, habit))
            if way and (habit in WHEN_COMPILED or not self.is_compiled):
                found.append((kind, way))
        written = WRITTEN.get(GELUS.get(self.habits.gelu, self.facts.activation))
        return [*found, written] if written and not self.is_compiled else found

    def _lowered(self, item: Op | Module, chosen: dict[str, Lowered]) -> list[Op | Module]:
        if isinstance(item, Module) or item.kind not in chosen:
            return [item]
        return [*chosen[item.kind](item, narrow=self.narrow)]
