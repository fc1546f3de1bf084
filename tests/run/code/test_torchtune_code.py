"""torchtune's code: a training step beside the same written in PyTorch, and what it compiles."""

from __future__ import annotations

from collections import Counter

import pytest
from support.simulated_steps import asked, peaks, sizes
from support.torchtune_twin import Sizes, made, trained

from archcalc import load
from archcalc.model import Model
from archcalc.reference.lifetimes import Phase
from archcalc.run.code import code
from archcalc.simulate.passes.workspaces import PRODUCTS

LEAST = 4096  # bytes of tensors that are compared one by one: all but scalars and statistics
BATCH, SEQ = 2, 320


def decoder(given: Sizes) -> Model:
    return load(
        {
            "name": "a decoder",
            "vocab": given.vocab,
            "d_model": given.width,
            "heads": given.heads,
            "kv_heads": given.groups,
            "bias": False,
            "norm": "rms",
            "position": "rope",
            "head": "lm",
            "decoder": given.layers,
            "ffn": {"width": given.inner, "act": "silu", "gated": True},
        }
    )


def beside(given: Sizes) -> Counter[int]:
    """What PyTorch's side does not count: a kernel's workspace, a table that was there, ids and labels."""
    ids, table = BATCH * SEQ * 8, SEQ * given.head // 2 * 4
    return Counter({PRODUCTS: 1, table: 1, ids: 2 if given.chunks == 1 else 1})


@pytest.mark.parametrize("phase", ["forward", "backward"])
@pytest.mark.parametrize("groups", [4, 2])
@pytest.mark.parametrize("vocab", [320, 3200])
def test_a_step_allocates_what_pytorch_allocates(phase: str, groups: int, vocab: int) -> None:
    given = Sizes(vocab=vocab, groups=groups)
    ours = peaks(asked(decoder(given), code="torchtune", recompute="none"), BATCH, SEQ)[phase]
    theirs = trained(given, BATCH, SEQ)[Phase(phase, 1)]
    assert Counter(sizes(ours, LEAST)) - beside(given) == Counter(made(theirs, LEAST))


@pytest.mark.parametrize("phase", ["forward", "backward"])
@pytest.mark.parametrize("vocab", [320, 3200])
def test_a_loss_in_chunks_keeps_a_list_of_all_logits(phase: str, vocab: int) -> None:
    """PyTorch saves a copy of each chunk that the head reads, where ours saves the whole that they are chunks of."""
    given = Sizes(vocab=vocab, chunks=4)
    ours = peaks(asked(decoder(given), code="torchtune", recompute="none", loss_chunks=4), BATCH, SEQ)[phase]
    theirs = trained(given, BATCH, SEQ)[Phase(phase, 1)]
    assert sum((Counter(sizes(ours, LEAST)) - beside(given)).elements()) == sum(made(theirs, LEAST))


def test_a_loss_is_compiled_in_chunks_alone() -> None:
    """The recipe for full finetuning drops what compile_loss gives it, so that a whole loss stays as it is."""
    model = decoder(Sizes())
    whole, chunks = (
        asked(model, code="torchtune", compile="code", loss_chunks=number).deployment.run for number in (1, 8)
    )
    assert (whole.compile, chunks.compile) == ("blocks", "all")


@pytest.mark.parametrize(
    ("version", "habits"),
    [
        ("2024-06", {"logits_held": "next_forward", "optimizer": "adamw", "rms_norm": "upcast"}),
        ("2024-10", {"logits_held": "loss", "optimizer": "adamw-fused", "rms_norm": "upcast"}),
        ("2025-01", {"rms_norm": "plain"}),
        ("2025-06", {"rms_norm": "upcast", "loss": "model_fp32", "loss_chunks": "list"}),
    ],
)
def test_a_version_has_the_habits_of_its_day(version: str, habits: dict[str, str]) -> None:
    found = code(f"torchtune@{version}")
    assert vars(found.habits) | dict(found.layers) | habits == vars(found.habits) | dict(found.layers)
