"""Habits of training code: what libraries do beside their layers, each choice with its meaning."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from archcalc.core.errors import InputError, did_you_mean


def habit(**choices: str) -> Any:
    """A habit's choices with a sentence each; the first one is that of `plain`."""
    return field(default=next(iter(choices)), metadata=choices)


@dataclass(frozen=True)
class Habits:
    """Every choice; the defaults are those of archcalc's own reference. Layers are in `archcalc.styles.ways`."""

    attention: str = habit(
        fused="a kernel that stores no scores: flash attention in 16 bits, PyTorch's memory-efficient one in fp32",
        eager="scores are stored: the library's class calls no kernel unless it is asked to",
    )
    loss_chunks: str = habit(
        freed="each chunk's logits are freed before the next",
        list="the head makes a list of chunks, which all stay; each is cast to fp32 by itself (torchtune)",
        packed="rows with a label stand first; each chunk's logits are freed, and computed again going back (TRL)",
        backward="each chunk's loss goes back before the next chunk's logits are made (torchtitan since April 2026)",
        views="chunks of all logits, each cast to fp32 by itself (torchtitan's pull request 996)",
    )
    usual_chunks: str = habit(
        one="the loss is computed at once unless chunks are asked for",
        eight="the loss is computed in eight chunks unless a number is asked for",
    )
    compiled: str = habit(
        all="torch.compile takes the blocks and the loss",
        blocks="torch.compile takes the blocks alone",
        chunked_loss="torch.compile takes the blocks, and a loss in chunks, but not a whole one",
    )
    kernels: str = habit(
        outputs="kernels take memory for what they return",
        workspaces="and for what they compute in: cuBLAS, and flash attention's backward pass",
    )
    head: str = habit(
        whole="the head reads all positions at once",
        chunks="the head and the loss read 128 positions after the other; all logits are there, in fp32 (litgpt)",
    )
    parallel_head: str = habit(
        divided="tensor parallelism: logits stay divided by vocabulary, and so does the loss",
        gathered="tensor parallelism: every GPU gathers all logits (transformers, colwise_gather_output)",
    )
    tied: str = habit(
        shared="a tied head reads the embedding's table",
        never="the head always has a matrix of its own (litgpt)",
    )
    accumulation: str = habit(
        one="an optimizer's step follows every backward pass",
        several="gradients of several micro-batches are added up unless a number is asked for",
    )
    longest: str = habit(
        every="every iteration is as long as the one that is asked about",
        first="the longest sequence comes first, so that nothing is left of an iteration before it",
    )
    quantised_inputs: str = habit(
        freed="products with 4-bit weights keep nothing of what they read (bitsandbytes since 0.43.2)",
        held="such products keep what they read as long as the graph lives (bitsandbytes until 0.43.1)",
    )
    logits_held: str = habit(
        no="the logits are let go of when the loss has read them",
        loss="whoever computes the loss holds the logits until it is there",
        backward="the training loop holds the logits until the backward pass is done",
        next_forward="the training loop holds the logits until the next forward pass has returned its own",
    )
    reshard: str = habit(
        always="FSDP: every block frees its gathered weights after its forward pass",
        all_but_last="FSDP: every block but the last, whose weights the backward pass needs first",
    )
    fsdp_groups: str = habit(
        blocks="FSDP: a group for each block, and one for all else, which stays gathered",
        ends="FSDP: groups of their own for the embedding and for the last norm with the head",
    )
    gathered: str = habit(
        kept="sequence parallelism: the gathered input of a product is kept for the backward pass",
        again="sequence parallelism: each GPU keeps its part of the input, and gathers it again in the backward pass",
    )
    context: str = habit(
        gathered="context parallelism: keys and values of all GPUs are gathered",
        p2p="context parallelism: keys and values travel around a ring of GPUs",
        a2a="context parallelism: an all-to-all trades positions for heads, and back behind attention",
    )
    gradients: str = habit(
        made="gradients are made in the backward pass, and freed after the optimizer's step",
        resident="fp32 gradients of all parameters are there from the beginning; products add to them without a copy",
    )
    dummies: str = habit(
        none="nothing stands for the gradients of weights",
        by_shape="for each shape of a matrix one unused tensor that stands for the gradient, and stays",
    )
    vocabulary: str = habit(
        exact="as many rows as there are words", padded="padded to a multiple of 128 rows on each GPU"
    )
    sharding: str = habit(
        zero="ZeRO's stages 1 to 3", optimizer="a distributed optimizer, which is ZeRO's stage 1, or none"
    )
    pipeline: str = habit(
        none="layers are not divided among pipeline stages",
        one_forward_one_backward="equally many consecutive layers for each stage; one forward pass, one backward pass",
    )
    expert_parallel: str = habit(none="experts are not dealt out to GPUs", all_to_all="tokens travel to their experts")
    optimizer: str = habit(adamw="AdamW over all parameters at once (foreach)", **{"adamw-fused": "fused AdamW"})
    allocator: str = habit(plain="PyTorch's default segments", expandable="expandable segments")

    @property
    def chunks(self) -> int:
        """Of the loss, where no number is asked for."""
        return 8 if self.usual_chunks == "eight" else 1

    @property
    def micro_batches(self) -> int:
        """Of an optimizer's step, where no number is asked for; in front of the first one no gradients are there."""
        return 2 if self.accumulation == "several" and self.longest == "every" else 1

    def compiles(self, loss_chunks: int) -> str:
        """What torch.compile takes: blocks, or all."""
        if self.compiled == "chunked_loss":
            return "all" if loss_chunks > 1 else "blocks"
        return self.compiled

    @classmethod
    def names(cls) -> frozenset[str]:
        return frozenset(one.name for one in fields(cls))

    @classmethod
    def of(cls, said: dict[str, str], where: str) -> Habits:
        """Habits by name, each one checked."""
        known = {one.name: one.metadata for one in fields(cls)}
        for name, value in said.items():
            if value not in known[name]:
                raise InputError(f"{name} has no choice {value}", did_you_mean(value, known[name]), field=where)
        return cls(**said)
