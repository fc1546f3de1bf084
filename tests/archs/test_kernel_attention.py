"""Kernel attention: feature maps in the place of softmax, their cost, and the length from which on they are cheaper."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
import torch
from support.decoding import cache_bytes
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

import archcalc
from archcalc.analyze.flops.cost import work
from archcalc.analyze.memory.activations import saved_activations
from archcalc.core.execution import never
from archcalc.spec.workload import Workload

if TYPE_CHECKING:
    from conftest import Run


FEATURES = ("poly2", "elu", "relu")
D = M = 64
C = (D + 1) * (D + 2) // 2  # features of (q·k + 1)² on heads of 64


def spec(feature: str, **changes: Any) -> dict[str, Any]:
    sizes = {"vocab": 7, "d_model": 12, "heads": 3, "ffn": 5, "encoder": 1, "head": "none"}
    return {**sizes, "attention": {"feature": feature}, **changes}


def phi(x: Tensor, feature: str) -> Tensor:
    """The feature map, in PyTorch."""
    if feature != "poly2":
        return nn.functional.elu(x) + 1 if feature == "elu" else nn.functional.relu(x)
    i, j = torch.triu_indices(x.shape[-1], x.shape[-1], offset=1)
    crossed = 2**0.5 * x[..., i] * x[..., j]
    return torch.cat([torch.ones_like(x[..., :1]), 2**0.5 * x, x**2, crossed], dim=-1)


class KernelAttention(nn.Module):
    """Multi-head attention with a feature map, as one would write it in PyTorch; it keeps what it computes."""

    def __init__(self, d_model: int, heads: int, feature: str) -> None:
        super().__init__()
        self.heads, self.feature = heads, feature
        self.q, self.k, self.v, self.out = (nn.Linear(d_model, d_model) for _ in range(4))
        self.seen: dict[str, tuple[int, ...]] = {}

    def forward(self, x: Tensor) -> Tensor:
        projected = (layer(x).unflatten(-1, (self.heads, -1)) for layer in (self.q, self.k, self.v))
        q, k, v = (t.transpose(1, 2).contiguous() for t in projected)  # batched products copy them anyway
        q, k = phi(q, self.feature), phi(k, self.feature)
        summed, state = k.sum(2), k.transpose(2, 3) @ v
        normaliser = (q @ summed[..., None]).squeeze(-1)
        named = {"features_of_q": q, "features_of_k": k, "sum_of_features": summed, "state": state}
        self.seen = {name: tuple(t.shape) for name, t in {**named, "normaliser": normaliser}.items()}
        return torch.as_tensor(self.out((q @ state / normaliser[..., None]).transpose(1, 2).flatten(2)))


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize(("heads", "batch", "seq"), [(3, 2, 5), (2, 1, 9)])
def test_it_computes_what_pytorch_computes(feature: str, heads: int, batch: int, seq: int) -> None:
    """Parameters, the shape of every step and the FLOPs of all matrix products, forward and backward."""
    reference = KernelAttention(12, heads, feature)
    x = torch.randn(batch, seq, 12, requires_grad=True)
    with FlopCounterMode(display=False) as forward:
        y = reference(x)
    with FlopCounterMode(display=False) as backward:
        y.sum().backward()
    model = archcalc.load(spec(feature, heads=heads))
    root = model.build(model.workload(batch=batch, seq=seq))
    attention = root["encoder"]["blocks"]["attention"]
    done = work(root).of(attention)
    assert (done.forward, done.backward) == (forward.get_total_flops(), backward.get_total_flops())
    shapes = {row.path.rpartition(".")[2]: row.shape for row in model.shapes(batch=batch, seq=seq).rows}
    assert {name: shapes[name] for name in reference.seen} == reference.seen
    count = {row.path: row.each for row in model.params().rows}["encoder.blocks.attention"]
    assert count == sum(parameter.numel() for parameter in reference.parameters())


@pytest.mark.parametrize("feature", ["elu", "relu"])
def test_a_training_step_keeps_what_pytorch_keeps(feature: str) -> None:
    """Distinct storages, to the byte: features and sums instead of N × N scores."""
    reference = KernelAttention(12, 3, feature)
    weights = {parameter.untyped_storage()._cdata for parameter in reference.parameters()}
    kept: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage()._cdata] = tensor.untyped_storage()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        reference(torch.randn(2, 5, 12, requires_grad=True))
    model = archcalc.load(spec(feature))
    root = model.build(model.workload(batch=2, seq=5))
    ours = saved_activations(root, "fp32").of(root["encoder"]["blocks"]["attention"])
    assert ours.bytes == sum(s.nbytes() for key, s in kept.items() if key not in weights)


@pytest.mark.parametrize("feature", ["softmax", *FEATURES])
@pytest.mark.parametrize("bias", [True, False])
def test_a_feature_map_has_no_parameters(feature: str, bias: bool) -> None:
    """Whatever stands in the place of softmax, attention has the parameters of nn.MultiheadAttention."""
    reference = nn.MultiheadAttention(12, 3, bias=bias)
    report = archcalc.load(spec(feature, bias=bias)).params()
    count = {row.path: row.each for row in report.rows}["encoder.blocks.attention"]
    assert count == sum(parameter.numel() for parameter in reference.parameters())


@pytest.mark.parametrize("head_dim", [1, 2, 5, 64, 192])
def test_poly2_has_as_many_features_as_its_products(head_dim: int) -> None:
    """(q·k + 1)² multiplied out: 1, every x_i, every x_i² and every x_i·x_j."""
    q, k = torch.randn(2, 3, head_dim, dtype=torch.float64)
    assert torch.allclose(phi(q, "poly2") @ phi(k, "poly2").T, (q @ k.T + 1) ** 2)
    report = archcalc.load(spec("poly2", head_dim=head_dim)).kernel(seq=4)
    width = {row.feature: row.features for row in report.rows}["poly2"]
    assert width == phi(q, "poly2").shape[-1] == (head_dim + 1) * (head_dim + 2) // 2


def kernel_rows(run: Run, *arguments: str) -> dict[str, Any]:
    return {row["feature"]: row for row in run("kernel", *arguments, "--format", "json").json["rows"]}


@pytest.mark.parametrize("n", [1, 100, 1024])
def test_the_cost_of_one_head(run: Run, n: int) -> None:
    """Softmax 2N²(D + M), a kernel 4NCM, and 2NC more for its normaliser, which stands apart."""
    rows = kernel_rows(run, "gpt2", "--seq", str(n))
    assert rows["softmax"]["flops"] == 2 * n**2 * (D + M)
    assert rows["poly2"]["flops"] == 4 * n * C * M
    assert rows["poly2"]["normaliser_flops"] == 2 * n * C
    assert rows["elu"]["flops"] == rows["relu"]["flops"] == 4 * n * D * M
    assert rows["elu"]["normaliser_flops"] == 2 * n * D
    assert [rows[feature]["features"] for feature in ("softmax", "poly2", "elu", "relu")] == [None, C, D, D]


def test_the_length_from_which_on_a_kernel_is_cheaper(run: Run) -> None:
    """N > 2CM / (D + M) = 2,145 for heads of 64: equal there, cheaper from 2,146 on; twice that if causal is half."""
    poly2 = kernel_rows(run, "gpt2")["poly2"]
    assert poly2["cheaper_above"] == 2 * C * M / (D + M) == C == 2145
    assert poly2["cheaper_from"] == 2146
    assert poly2["cheaper_from_causal_half"] == 2 * 2145 + 1
    set_length = ("--set", "position.length=4096", "--seq")
    at = {n: kernel_rows(run, "gpt2", *set_length, str(n)) for n in (2145, 2146)}
    assert at[2145]["poly2"]["flops"] == at[2145]["softmax"]["flops"]
    assert at[2146]["poly2"]["flops"] < at[2146]["softmax"]["flops"]


@pytest.mark.parametrize(("d", "m"), [(8, 4), (8, 12), (4, 16)])
@pytest.mark.parametrize("feature", FEATURES)
def test_values_of_another_width_move_the_crossover(feature: str, d: int, m: int) -> None:
    """N > 2CM / (D + M), by the FLOPs that PyTorch counts of both, at the last length below and the first above."""
    row = {row.feature: row for row in archcalc.load(spec("softmax", head_dim=d, attention={"v_dim": m})).kernel().rows}
    c, first = row[feature].features, row[feature].cheaper_from()
    assert c and first
    assert row[feature].limit == Fraction(2 * c * m, d + m)
    assert first == 2 * c * m // (d + m) + 1
    for n in (first - 1, first):
        softmax, kernel = counted_flops(n, d, m), counted_flops(n, d, m, c)
        assert (row["softmax"].products.at(n), row[feature].products.at(n)) == (softmax, kernel)
        assert (kernel < softmax) == (n == first)


def counted_flops(n: int, d: int, m: int, c: int = 0) -> int:
    """What PyTorch counts of softmax attention of one head, or of a kernel of `c` features."""
    q, k, v = (torch.empty(n, width, device="meta") for width in (c or d, c or d, m))
    with FlopCounterMode(display=False) as counter:
        _ = q @ (k.T @ v) if c else torch.softmax(q @ k.T, dim=1) @ v
    return int(counter.get_total_flops())


def test_heads_with_values_of_two_widths_stand_apart(run: Run) -> None:
    """A head of 64 with values of 64 crosses at 2,145, with values of 128 at 2 · 2145 · 128 / 192 = 2,860."""
    changes = ("--set", "head_dim=64", "--set", "decoder.attention.v_dim=128")
    rows = run("kernel", *changes, "--format", "json").json["rows"]
    assert [row["attention"] for row in rows[::4]] == ["encoder attention, decoder cross", "decoder attention"]
    assert [row["cheaper_above"] for row in rows[1::4]] == [2145, 2860]


@pytest.mark.parametrize("position", ["alibi", "{kind: relative, buckets: 8}"])
def test_what_softmax_adds_to_its_scores_is_said_to_be_left_out(run: Run, position: str) -> None:
    """A kernel has no scores, so that the two are compared without; positions of the embedding change nothing."""
    left_out = "positions, which are added to softmax scores: kernel attention has no scores"
    assert left_out in " ".join(run("kernel", "gpt2", "--set", f"position={position}").out.split())
    assert left_out not in " ".join(run("kernel", "gpt2").out.split())


def test_the_normaliser_moves_the_crossover(run: Run) -> None:
    """With its 2NC a kernel is cheaper for N > C(2M + 1) / (D + M): 2,161.76 for heads of 64."""
    n = kernel_rows(run, "gpt2")["poly2"]["cheaper_from_with_normaliser"]
    assert n == C * (2 * M + 1) // (D + M) + 1 == 2162
    costs = [(4 * n * C * M + 2 * n * C, 2 * n**2 * (D + M)) for n in (n - 1, n)]
    assert [kernel < softmax for kernel, softmax in costs] == [False, True]


def test_heads_that_share_keys_share_their_sums(run: Run) -> None:
    """Four query heads of Llama read one state of C × M, summed once: 2NCM + 4 · 2NCM against 4 · 2N²(D + M)."""
    n, d, c = 2048, 128, 129 * 130 // 2
    rows = kernel_rows(run, "llama-3-8b", "--seq", str(n))
    assert rows["softmax"]["flops"] == 4 * 2 * n**2 * (d + d)
    assert rows["poly2"]["flops"] == 2 * n * c * d + 4 * 2 * n * c * d
    assert rows["poly2"]["cheaper_from"] == 5 * c * d // (4 * (d + d)) + 1 == 5241


def test_the_terminal_says_the_crossover_first(run: Run) -> None:
    """Both ways: the bound, and the first length beyond it; the model's own feature map where it has one."""
    first = "poly2 is cheaper than softmax for N > 2,145: from 2,146 positions on"
    assert run("kernel", "gpt2").out.splitlines()[1] == first
    assert run("kernel", "gpt2", "--set", "attention.feature=elu").out.splitlines()[1] == (
        "elu is cheaper than softmax for N > 64: from 65 positions on"
    )
    out = run("kernel", "gpt2").out
    assert "= 2 × N² × (64 + 64)" in out and "= 2 × N × (2145 × 64 + 2145 × 64)" in out


def test_attentions_that_come_to_the_same_stand_together(run: Run) -> None:
    """The textbook's three attentions have heads of one width; those of another width stand apart."""
    assert "encoder attention, decoder attention, decoder cross" in run("kernel").out
    changes = ("--set", "decoder.attention.head_dim=64", "--set", "cross.head_dim=192")
    rows = run("kernel", *changes, "--format", "json").json["rows"]
    assert [row["attention"] for row in rows[::4]] == ["encoder attention, decoder cross", "decoder attention"]
    assert [row["cheaper_from"] for row in rows[1::4]] == [193 * 194 // 2 + 1, 2146]


def test_the_state_does_not_grow_with_the_sequence() -> None:
    """Kernel attention keeps C × M and C numbers a head for the next token, softmax attention 2D for each token."""
    for feature, width in (("poly2", C), ("elu", D)):
        kept = [decode_cache(feature, context) for context in (10, 1000)]
        assert kept == [12 * 12 * (width * M + width)] * 2
    assert [decode_cache("softmax", context) for context in (10, 1000)] == [12 * 12 * 2 * D * n for n in (11, 1001)]


def decode_cache(feature: str, context: int) -> int:
    """Numbers that GPT-2 small keeps after a decode step: 12 blocks of 12 heads."""
    model = archcalc.load("gpt2", set=[f"attention.feature={feature}"])
    return cache_bytes(model, decoding(model, context), "fp32") // 4


def decoding(model: archcalc.Model, context: int) -> Workload:
    return model.workload(mode="decode", context=context)


def test_a_decode_step_costs_the_same_at_any_length() -> None:
    """One more token: 2CM to add to the state, 2CM and 2C to read it, and four projections."""
    decoder_alone = {"vocab": 7, "d_model": 12, "heads": 3, "ffn": 5, "decoder": 1, "head": "none"}
    for context in (10, 1000):
        model = archcalc.load({**decoder_alone, "attention": {"feature": "elu"}})
        root = model.build(decoding(model, context))
        c = m = 4
        attention = work(root, trainable=never).of(root["decoder"]["blocks"]["attention"])
        assert attention.forward == 3 * (2 * c * m + 2 * c * m + 2 * c) + 4 * (2 * 12 * 12)


def test_a_decode_step_finds_the_source_summed_up() -> None:
    """Cross-attention's state was made before the first token: what is left is to read it, and two projections."""
    model = archcalc.load(spec("softmax", decoder=1, cross={"feature": "elu"}))
    root = model.build(decoding(model, 9))
    c = m = 4
    cross = work(root, trainable=never).of(root["decoder"]["blocks"]["cross"])
    assert cross.forward == 3 * (2 * c * m + 2 * c) + 2 * (2 * 12 * 12)


def test_cross_attention_by_a_kernel() -> None:
    """The state is as wide as the features of the source, however long source and target are."""
    model = archcalc.load(spec("softmax", decoder=1, cross={"feature": "elu"}))
    shapes = {row.path: row.shape for row in model.shapes(batch=2, src_seq=5, tgt_seq=8).rows}
    assert shapes["decoder.blocks.cross.features_of_k"] == (2, 3, 5, 4)
    assert shapes["decoder.blocks.cross.state"] == (2, 3, 4, 4)
    assert shapes["decoder.blocks.cross.normaliser"] == (2, 3, 8)
    assert "decoder.blocks.cross.scores" not in shapes
    assert shapes["decoder.blocks.attention.scores"] == (2, 3, 8, 8)


@pytest.mark.parametrize(("feature", "width"), [("poly2", 4), ("elu", 4), ("relu", 4)])
def test_rope_works_without_scores(feature: str, width: int) -> None:
    """(q·k + 1)² reads rotated queries and keys; other features are rotated themselves, behind the normaliser."""
    rows = [row for row in archcalc.load(spec(feature, position="rope")).shapes(seq=6).rows if "attention." in row.path]
    order = [row.path.rpartition(".")[2] for row in rows]
    assert (order.index("q_rotated") < order.index("features_of_q")) == (feature == "poly2")
    assert {row.path.rpartition(".")[2]: row.shape for row in rows}["k_rotated"] == (1, 3, 6, width)


@pytest.mark.parametrize("position", ["alibi", "{kind: relative, buckets: 8}"])
def test_what_needs_scores_is_refused(run: Run, position: str) -> None:
    """ALiBi and relative positions add to scores that a kernel never computes."""
    answer = run("params", "gpt2", "--set", f"position={position}", "--set", "attention.feature=elu")
    assert answer.code == 2
    assert "adds to the scores, which elu attention never computes" in answer.err and "use rope" in answer.err


def test_an_unknown_feature_map_is_refused(run: Run) -> None:
    """With the ones there are."""
    answer = run("params", "gpt2", "--set", "attention.feature=exp")
    assert answer.code == 2
    assert "'exp' is not one of softmax, poly2, elu, relu" in answer.err


def test_a_model_without_attention_is_refused(run: Run) -> None:
    """There is nothing to compare."""
    answer = run("kernel", "linear-autoencoder")
    assert (answer.code, answer.out) == (2, "")
    assert "kernel attention is for Transformers" in answer.err


def test_values_of_another_width_by_an_option(run: Run) -> None:
    """The spec's attention.v_dim and `--v-dim` are one question: for GPT-2 with values of 128, N > 2,860."""
    by_option, by_spec = (
        kernel_rows(run, "gpt2", *words) for words in (("--v-dim", "128"), ("--set", "attention.v_dim=128"))
    )
    assert by_option == by_spec
    assert by_option["poly2"]["cheaper_above"] == 2860
    answer = run("kernel", "gpt2", "--v-dim", "0")
    assert answer.code == 2 and "--v-dim" in answer.err


@pytest.mark.parametrize(("d", "m"), [(6, 6), (6, 10), (6, 3)])
def test_memory_is_every_matrix_once(d: int, m: int) -> None:
    """Counted beside PyTorch's tensors: softmax 2N² + 2N(D + M), a kernel 2N(C + D + M) + N + CM + C."""
    model = archcalc.load({**spec("softmax", d_model=2 * d, heads=2), "attention": {"v_dim": m}})
    row = {row.feature: row for row in model.kernel(seq=9).rows}
    for n in (1, 9, 50):
        q, k, v = (torch.empty(n, width) for width in (d, d, m))
        scores = q @ k.T
        weights = scores.softmax(dim=1)
        stored = [q, k, v, scores, weights, weights @ v]
        assert row["softmax"].memory.elements.at(n) == sum(one.numel() for one in stored)
        for feature in FEATURES:
            of_q, of_k = (torch.empty(n, row[feature].features or 0) for _ in "qk")
            state, total = of_k.T @ v, of_k.sum(dim=0)
            stored = [q, k, v, of_q, of_k, state, total, of_q @ state, of_q @ total]
            assert row[feature].memory.elements.at(n) == sum(one.numel() for one in stored)


@pytest.mark.parametrize("measure", ["memory", "cache"])
@pytest.mark.parametrize("name", ["gpt2", "llama-3-8b"])
def test_the_first_length_with_less_memory(name: str, measure: str) -> None:
    """One position less, and softmax attention stores no more than the kernel."""
    softmax, *kernels = (getattr(row, measure) for row in archcalc.load(name).kernel().rows)
    for held in kernels:
        assert held.elements.at(held.less_from) < softmax.elements.at(held.less_from)
        assert held.elements.at(held.less_from - 1) >= softmax.elements.at(held.less_from - 1)


def test_the_cache_is_the_one_that_memory_counts(run: Run) -> None:
    """12 blocks of 12 heads; an encoder alone decodes nothing, and has none."""
    row = kernel_rows(run, "gpt2", "--seq", "1001")
    for feature in ("softmax", "poly2", "elu"):
        assert 144 * row[feature]["cache_elements"] == decode_cache(feature, 1000)
    assert row["poly2"]["cache_less_from"] == C * (M + 1) // (D + M) + 1 == 1090
    assert kernel_rows(run, "bert-base")["poly2"]["cache_elements"] is None


def test_inference_says_what_it_assumes_of_a_kernel(run: Run) -> None:
    """A decoder keeps sums; an encoder without a fused kernel stores the features of all positions."""
    kernel = ("--set", "attention.feature=poly2")
    decoding = " ".join(run("memory", "gpt2", *kernel, "--mode", "decode", "--context", "9", "--notes").out.split())
    assert "caches sums, no keys and values: 2,145 × 64 + 2,145 numbers" in decoding
    encoding = " ".join(run("memory", "bert-base", *kernel, "--mode", "prefill", "--notes").out.split())
    assert "2,145 features of every position are stored at once" in encoding
