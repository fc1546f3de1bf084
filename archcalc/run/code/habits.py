"""Habits of training code: what libraries do beside their layers, each choice with its meaning."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_type_hints

from archcalc.core.errors import InputError, did_you_mean


@dataclass(frozen=True)
class Habits:
    """Every choice; the defaults are those of archcalc's own reference. Layers are in `archcalc.styles.ways`."""

    # fused: a kernel that stores no scores, flash attention in 16 bits, PyTorch's memory-efficient one in fp32
    # eager: scores are stored, since the library's class calls no kernel unless it is asked to
    attention: Literal["fused", "eager"] = "fused"
    # freed: each chunk's logits are freed before the next
    # list: the head makes a list of chunks, which all stay; each is cast to fp32 by itself (torchtune)
    # packed: rows with a label stand first; each chunk's logits are freed, and computed again going back (TRL)
    # backward: each chunk's loss goes back before the next chunk's logits are made (torchtitan since April 2026)
    # views: chunks of all logits, each cast to fp32 by itself (torchtitan's pull request 996)
    loss_chunks: Literal["freed", "list", "packed", "backward", "views"] = "freed"
    usual_chunks: int = 1  # of the loss, where no number is asked for
    # log-probabilities of tokens, for DPO and GRPO: of all logits, or tile by tile, by a head that keeps none (TRL)
    token_head: Literal["whole", "fused"] = "whole"
    usual_recompute: Literal["none", "full"] = "none"  # checkpointing, where nothing is asked for
    micro_batches: int = 1  # whose gradients are added up, where no number is asked for
    # what torch.compile takes: the blocks and the loss, the blocks alone, or a loss too if it is in chunks
    compiled: Literal["all", "blocks", "chunked_loss"] = "all"
    # workspaces: kernels take memory for what they compute in too: cuBLAS, and flash attention's backward pass
    kernels: Literal["outputs", "workspaces"] = "outputs"
    # chunks: head and loss read 128 positions after the other; all logits are there, in fp32 (litgpt)
    head: Literal["whole", "chunks"] = "whole"
    # tensor parallelism: logits stay divided by vocabulary, and so does the loss, or every GPU gathers all logits
    # (transformers, colwise_gather_output)
    parallel_head: Literal["divided", "gathered"] = "divided"
    tied: Literal["shared", "never"] = "shared"  # never: the head always has a matrix of its own (litgpt)
    # first: the longest sequence comes first, so that nothing is left of an iteration before it
    longest: Literal["every", "first"] = "every"
    # held: products with 4-bit weights keep what they read as long as the graph lives (bitsandbytes until 0.43.1)
    quantised_inputs: Literal["freed", "held"] = "freed"
    # weights beside quantised ones (norms, embedding, head): cast to fp32 by peft's prepare_model_for_kbit_training,
    # norms alone, or all kept as the checkpoint has them; then adapters may be cast to bf16
    prepared: Literal["fp32", "norms", "kept", "adapters"] = "fp32"
    # until when the logits are held: until the loss is there, by whoever computes it, or by the training loop until the
    # backward pass is done, or until the next forward pass has returned its own
    logits_held: Literal["no", "loss", "backward", "next_forward"] = "no"
    # FSDP: every block frees its gathered weights after its forward pass, or every block but the last, whose weights
    # the backward pass needs first
    reshard: Literal["always", "all_but_last"] = "always"
    # checkpointing by a backward pass inside of the backward pass. Under FSDP of the first version a hook on what
    # enters a block with frozen weights then holds that, and its gradient, until all of the backward pass is done
    reentrant: Literal["no", "yes"] = "no"
    # FSDP: a group for each block, and one for all else, which stays gathered; or groups of their own for the embedding
    # and for the last norm with the head
    fsdp_groups: Literal["blocks", "ends"] = "blocks"
    # sequence parallelism: the gathered input of a product is kept for the backward pass, or each GPU keeps its part,
    # and gathers it again
    gathered: Literal["kept", "again"] = "kept"
    # tensor parallelism divides the sequence too between its layers (sequence parallelism) where that is asked for, or
    # always
    tensor_parallel: Literal["asked", "sequence"] = "asked"
    # context parallelism: keys and values of all GPUs are gathered, travel around a ring of GPUs, or an all-to-all
    # trades positions for heads, and back behind attention
    context: Literal["gathered", "p2p", "a2a"] = "gathered"
    # made: in the backward pass, and freed after the optimizer's step
    # resident: gradients of all parameters are there from the beginning; products add to them without a copy
    gradients: Literal["made", "resident"] = "made"
    reduced: Literal["fp32", "bf16"] = "fp32"  # what resident gradients are kept and summed over GPUs in
    # by_shape: for each shape of a matrix one unused tensor that stands for the gradient, and stays
    dummies: Literal["none", "by_shape"] = "none"
    vocabulary_rows: int = 1  # of which each GPU has a multiple
    # ZeRO's stages 1 to 3, or a distributed optimizer, which is ZeRO's stage 1, or none
    sharding: Literal["zero", "optimizer"] = "zero"
    # equally many consecutive layers for each stage; one forward pass, one backward pass
    pipeline: Literal["none", "one_forward_one_backward"] = "none"
    expert_parallel: Literal["none", "all_to_all"] = "none"  # whether tokens travel to their experts
    optimizer: Literal["adamw", "adamw-fused"] = "adamw"  # over all parameters at once (foreach), or fused
    allocator: Literal["plain", "expandable"] = "plain"  # PyTorch's segments

    def compiles(self, loss_chunks: int) -> str:
        """What torch.compile takes: blocks, or all."""
        if self.compiled == "chunked_loss":
            return "all" if loss_chunks > 1 else "blocks"
        return self.compiled

    @classmethod
    def of(cls, said: dict[str, Any], where: str) -> Habits:
        """Habits by name, each one checked."""
        hints = get_type_hints(cls)
        for name, value in said.items():
            known = get_args(hints[name])
            if known and value not in known:
                raise InputError(f"{name} has no choice {value}", did_you_mean(str(value), known), field=where)
            if not known and (not isinstance(value, int) or value < 1):
                raise InputError(f"expected a whole number for {name}, found {value}", field=where)
        return cls(**said)


NAMES = frozenset(one.name for one in fields(Habits))
