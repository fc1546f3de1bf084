"""How a model is divided over GPUs."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.run.option_words import BYTES, OF_TRAINING, RESHARD, TRAIN
from archcalc.spec.option import option
from archcalc.spec.option_checks import flag, number, size, word


@dataclass(frozen=True)
class ParallelOptions:
    """Tensor, sequence, data, context, pipeline and expert parallelism."""

    tp: int | None = option(
        "Tensor parallelism: GPUs each layer is split over.",
        size,
        metavar="N",
        also=("tensor_parallel_size", "tensor_model_parallel_size", "tensor_parallel_degree"),
    )
    sp: bool | None = option(
        "Sequence parallelism: also shard norms and residuals along the sequence (needs --tp).",
        flag,
        modes=TRAIN,
        also=("sequence_parallel",),
    )
    dp: int | None = option(
        "Data parallelism: replicas, each with its own batch.",
        size,
        metavar="N",
        also=("data_parallel_size", "data_parallel_degree"),
    )
    zero: int | None = option(
        "ZeRO stage: what data-parallel GPUs shard (3: as FSDP does).",
        number,
        metavar="0|1|2|3",
        modes=TRAIN,
        commands=BYTES,
        also=("zero_stage",),
    )
    reshard_after_forward: str | None = option(
        "FSDP: free gathered weights after each block's forward pass, or keep them for the backward pass.",
        word,
        choices=RESHARD,
        **OF_TRAINING,
    )
    cp: int | None = option(
        "Context parallelism: GPUs each sequence is split over.",
        size,
        metavar="N",
        modes=TRAIN,
        also=("context_parallel_size", "context_parallel_degree"),
    )
    pp: int | None = option(
        "Pipeline parallelism: stages that hold some of the layers each; the one with the most is counted.",
        size,
        metavar="N",
        **OF_TRAINING,
        also=("pipeline_parallel_size", "pipeline_model_parallel_size", "pipeline_parallel_degree"),
    )
    ep: int | None = option(
        "Expert parallelism: data-parallel GPUs that the experts are dealt out to.",
        size,
        metavar="N",
        **OF_TRAINING,
        also=("expert_parallel_size", "expert_model_parallel_size", "expert_parallel_degree"),
    )
