"""What compiled blocks keep, against what PyTorch's own partitioner saves of the reference, compiled on a CPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.saved_by_blocks import saved_by_blocks
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.functional import cross_entropy

from archcalc import load
from archcalc.analyze.memory.answer import Memory
from archcalc.reference.block import Block
from archcalc.reference.transformer import Transformer
from archcalc.run.tree_changes import traced
from archcalc.verify.plain import plain

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the compiler's own
BACKEND = "aot_eager_decomp_partition"  # the compiler's decompositions and its partitioner, and then no compiler
SMALL = ["vocab=1000", "d_model=256", "heads=8", "ffn.width=1024", "decoder=1"]
MODELS = {"gpt2": SMALL, "llama-3-8b": [*SMALL, "kv_heads=4"], "qwen3-8b": [*SMALL, "kv_heads=4", "head_dim=32"]}
TOKENS = 2 * 64


def saved_by(function: Any, *given: Any, without: tuple[torch.Tensor, ...]) -> int:
    """Bytes of distinct storages that the compiled function saves."""
    found: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        found[tensor.untyped_storage()._cdata] = tensor.untyped_storage().nbytes()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        compiled: Any = torch.compile(function, backend=BACKEND)
        answer = compiled(*given)
    assert answer is not None
    own = {tensor.untyped_storage()._cdata for tensor in without}
    return sum(size for address, size in found.items() if address not in own)


@pytest.mark.parametrize(
    ("name", "precision"), [("gpt2", "bf16"), ("llama-3-8b", "fp32"), ("llama-3-8b", "bf16"), ("qwen3-8b", "bf16")]
)
def test_a_compiled_block_keeps_what_the_partitioner_saves(name: str, precision: str) -> None:
    """Eagerly, so that softmax's output is kept too; bf16 statistics of layer norms are narrower on a CPU."""
    model = load(name, set=[*MODELS[name], "dropout=0"])
    net: Any = Transformer(plain(model.resolved), {"attention": "eager", "recompute": "none"})
    net = net.to({"fp32": torch.float32, "bf16": torch.bfloat16}[precision])
    block = next(module for module in net.modules() if isinstance(module, Block))
    x = torch.randn(2, 64, 256, dtype=next(net.parameters()).dtype, requires_grad=True)
    given = {label: tensor for label, tensor in net.decoder.constants(x, 0).items() if tensor is not None}
    truth = saved_by(
        lambda x, *rest: block(list(given), None, x, *rest), x, *given.values(), without=tuple(net.parameters())
    )
    ask = Memory(model, mode="train", precision=precision, attention="eager", compile="blocks")
    root = traced(ask.deployment.network, ask.deployment.run, model.workload(batch=2, seq=64))
    ours = saved_by_blocks(ask, root)
    narrower = 2 * 2 * 2 * TOKENS if (name, precision) == ("gpt2", "bf16") else 0
    assert ours - narrower == truth


def test_a_compiled_loss_keeps_16_bit_logits() -> None:
    """And two numbers for each token, where the plain one keeps fp32 log-probabilities."""
    logits = torch.randn(TOKENS, 1000, dtype=torch.bfloat16, requires_grad=True)
    targets = torch.zeros(TOKENS, dtype=torch.long)
    truth = saved_by(lambda logits, targets: cross_entropy(logits.float(), targets), logits, targets, without=())
    report = load("gpt2", set=SMALL).memory(mode="train", precision="bf16", batch=2, seq=64, compile="all")
    assert report.rows[0].parts["logits"] == truth - 4 == TOKENS * (2 * 1000 + 2 * 4 + 8)  # a scalar: how many targets


def test_compiling_is_an_estimate_and_never_needs_more() -> None:
    """Blocks alone, then the loss too."""
    model = load("llama-3-8b")
    asked: dict[str, Any] = {"mode": "train", "batch": 8, "seq": 4096}
    none, blocks, whole = (model.memory(compile=what, **asked) for what in ("none", "blocks", "all"))
    assert whole.total_bytes < blocks.total_bytes < none.total_bytes
    assert any("torch.compile" in words for words in blocks.estimates) and not none.estimates


def test_a_kernel_that_bends_scores_stands_apart_too() -> None:
    """It reads and writes what PyTorch's own does, which keeps three random numbers more."""

    def of_blocks(*changes: str) -> int:
        model = load("llama-3-8b", set=[*MODELS["llama-3-8b"], *changes])
        ask = Memory(model, mode="train", precision="bf16", attention="flash", compile="blocks")
        root = traced(ask.deployment.network, ask.deployment.run, model.workload(batch=2, seq=64, attention="flash"))
        return saved_by_blocks(ask, root)

    assert of_blocks() - of_blocks("attention.softcap=30.0") == 3 * 8
