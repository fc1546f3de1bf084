"""Encoder, decoder and attention between them: counted against PyTorch and published sizes, traced beside a loop."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import torch
from support.decoding import cache_bytes
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

import archcalc
from archcalc.analyze.flops.cost import work

if TYPE_CHECKING:
    from conftest import Run, Write

BATCH, SOURCE, TARGET = 3, 5, 4
VOCAB, EMBEDDING, HIDDEN, WIDTH = 13, 7, 6, 9


def spec(*, both_ways: bool = True, attention: Any = None, **changes: Any) -> dict[str, Any]:
    sizes = {"vocab": VOCAB, "embedding": EMBEDDING, "cell": "gru", "hidden": HIDDEN, "biases": "two"}
    sides = {"encoder": {"bidirectional": both_ways}, "decoder": {}}
    return {"family": "recurrent", **sizes, **sides, **({"attention": attention} if attention else {}), **changes}


def total(**changes: Any) -> int:
    return int(archcalc.load(spec(**changes)).params().total)


def scored(score: str, when: str = "after") -> dict[str, Any]:
    return {"score": score, "when": when, **({"width": WIDTH} if score in ("additive", "concat") else {})}


def shapes(model: archcalc.Model) -> dict[str, tuple[int, ...]]:
    return {row.path: row.shape for row in model.shapes(batch=BATCH, src_seq=SOURCE, tgt_seq=TARGET).rows}


class Seq2seq(nn.Module):
    """As a PyTorch user writes it: a GRU encoder, and a decoder that attends before or after its step."""

    def __init__(self, score: str, when: str, *, both_ways: bool) -> None:
        super().__init__()
        keys = HIDDEN * (2 if both_ways else 1)
        self.score, self.when = score, when
        self.source, self.target = nn.Embedding(VOCAB, EMBEDDING), nn.Embedding(VOCAB, EMBEDDING)
        self.encoder = nn.GRU(EMBEDDING, HIDDEN, bidirectional=both_ways, batch_first=True)
        self.cell = nn.GRUCell(EMBEDDING + (keys if when == "before" else 0), HIDDEN)
        if score == "general":
            self.between = nn.Linear(HIDDEN, keys, bias=False)
        if score == "additive":
            self.w, self.u = nn.Linear(HIDDEN, WIDTH, bias=False), nn.Linear(keys, WIDTH, bias=False)
        if score == "concat":
            self.w = nn.Linear(HIDDEN + keys, WIDTH, bias=False)
        if score in ("additive", "concat"):
            self.v = nn.Linear(WIDTH, 1, bias=False)
        if when == "after":
            self.combine = nn.Linear(keys + HIDDEN, HIDDEN, bias=False)
        self.head = nn.Linear(HIDDEN, VOCAB)

    def attend(self, h: torch.Tensor, states: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        if self.score in ("dot", "general"):
            query = self.between(h) if self.score == "general" else h
            scores = torch.bmm(states, query.unsqueeze(2))
        elif self.score == "additive":
            scores = self.v(torch.tanh(keys + self.w(h).unsqueeze(1)))
        else:
            scores = self.v(torch.tanh(self.w(torch.cat([states, h.unsqueeze(1).expand(-1, SOURCE, -1)], dim=2))))
        return torch.bmm(torch.softmax(scores, dim=1).transpose(1, 2), states).squeeze(1)

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.encoder(self.source(source))[0]
        return states

    def forward(self, states: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        keys = self.u(states) if self.score == "additive" else states
        x, h, outputs = self.target(target), torch.zeros(BATCH, HIDDEN), []
        for t in range(TARGET):
            if self.when == "before":
                h = self.cell(torch.cat([x[:, t], self.attend(h, states, keys)], dim=1), h)
                outputs.append(h)
            else:
                h = self.cell(x[:, t], h)
                outputs.append(torch.tanh(self.combine(torch.cat([self.attend(h, states, keys), h], dim=1))))
        logits: torch.Tensor = self.head(torch.stack(outputs, dim=1))
        return logits


GRID = [
    (score, when, both_ways)
    for score in ("dot", "general", "additive", "concat")
    for when in ("before", "after")
    for both_ways in (False, True)
    if not (score == "dot" and both_ways)
]


@pytest.mark.parametrize(("score", "when", "both_ways"), GRID)
def test_a_model_as_pytorch_users_write_it(score: str, when: str, both_ways: bool) -> None:
    """The same parameters, and the same logits' shape, for every score in both orders."""
    reference = Seq2seq(score, when, both_ways=both_ways)
    model = archcalc.load(spec(both_ways=both_ways, attention=scored(score, when)))
    assert model.params().total == sum(parameter.numel() for parameter in reference.parameters())
    states = reference.encode(torch.zeros(BATCH, SOURCE, dtype=torch.long))
    logits = reference(states, torch.zeros(BATCH, TARGET, dtype=torch.long))
    traced = shapes(model)
    assert traced["encoder.layer_1.outputs"] == states.shape
    assert traced["head"] == logits.shape


@pytest.mark.parametrize(("score", "when", "both_ways"), GRID)
def test_the_decoder_costs_what_its_loop_costs(score: str, when: str, both_ways: bool) -> None:
    """Matrix products of attention, cells and head, step by step, as PyTorch counts them."""
    reference = Seq2seq(score, when, both_ways=both_ways)
    states = torch.zeros(BATCH, SOURCE, HIDDEN * (2 if both_ways else 1))
    with FlopCounterMode(display=False) as counted:
        reference(states, torch.zeros(BATCH, TARGET, dtype=torch.long))
    model = archcalc.load(spec(both_ways=both_ways, attention=scored(score, when)))
    root = model.build(model.workload(batch=BATCH, src_seq=SOURCE, tgt_seq=TARGET))
    done = work(root)
    assert done.of(root["decoder"]).forward + done.of(root["head"]).forward == counted.get_total_flops()


# What each score learns


def test_the_parameters_of_each_score() -> None:
    """dot none; general d_d × d_e; additive and concat (d_e + d_d) × d_a + d_a, in two matrices or in one."""
    wide = {"hidden": 2 * HIDDEN}  # as wide as both directions of the encoder, so that dot can be compared
    counts = {
        score: total(attention=scored(score, "before"), decoder=wide)
        for score in ("dot", "general", "additive", "concat")
    }
    key = query = 2 * HIDDEN
    assert counts["general"] - counts["dot"] == query * key
    assert counts["additive"] - counts["dot"] == (key + query) * WIDTH + WIDTH
    assert counts["concat"] == counts["additive"]


def test_both_orders() -> None:
    """Before: the cell's gates read c as well. After: W_c takes [c; h] back to the width of h."""
    key, none = 2 * HIDDEN, total(both_ways=True, decoder={"hidden": 2 * HIDDEN})
    wide = {"hidden": 2 * HIDDEN}
    before = total(attention=scored("dot", "before"), decoder=wide)
    after = total(attention=scored("dot", "after"), decoder=wide)
    assert before - none == 3 * key * (2 * HIDDEN)
    assert after - none == (key + 2 * HIDDEN) * (2 * HIDDEN)


def test_input_feeding_widens_the_first_layer_alone() -> None:
    """h̃ of the step before stands beside x; the layers above read as before."""
    fed = total(attention={**scored("general"), "feed": True}, layers=2)
    assert fed - total(attention=scored("general"), layers=2) == 3 * HIDDEN * HIDDEN


def test_between_the_layers_all_above_the_first_read_the_context() -> None:
    """GNMT's way: the first layer asks, the others hear the answer."""
    between = total(attention=scored("general", "between"), layers=3)
    none = total(attention=scored("general", "after"), layers=3) - (2 * HIDDEN + HIDDEN) * HIDDEN  # without its W_c
    assert between - none == 2 * 3 * (2 * HIDDEN) * HIDDEN


def test_shapes_of_attention() -> None:
    """A score and a weight for every position of the source; the context is as wide as the encoder's states."""
    traced = shapes(archcalc.load(spec(attention=scored("additive", "before"))))
    assert traced["decoder.keys"] == (BATCH, SOURCE, WIDTH)
    for signal in ("scores", "weights"):
        assert traced[f"decoder.step.attention.{signal}"] == (BATCH, SOURCE)
    assert traced["decoder.step.attention.context"] == (BATCH, 2 * HIDDEN)
    assert traced["decoder.step.layer_1.joined"] == (BATCH, EMBEDDING + 2 * HIDDEN)
    assert traced["decoder.outputs"] == (BATCH, TARGET, HIDDEN)


def test_the_order_is_said(run: Run) -> None:
    """Both are called attention."""
    assert "h⟨t−1⟩ → α → c → h⟨t⟩" in run("params", "rnnsearch").out
    assert "h⟨t⟩ → α → c → h̃⟨t⟩" in run("params", "luong").out


# Published sizes


def test_a_bidirectional_encoder_with_additive_attention(run: Run) -> None:
    """Bahdanau's sizes, line by line."""
    embedding, encoder = 30_000 * 620, 2 * 3 * ((620 + 1000) * 1000 + 1000)
    attention, decoder = (2000 + 1000) * 1000 + 1000, 3 * ((620 + 2000 + 1000) * 1000 + 1000)
    report = run("params", "rnnsearch", "--format", "json").json
    rows = {row["path"]: row["total"] for row in report["rows"]}
    assert rows["encoder"] == encoder
    assert rows["decoder.attention_in_all"] == attention
    assert rows["decoder"] == attention + decoder
    assert report["total"] == 2 * embedding + encoder + attention + decoder + 1000 * 30_000 + 30_000 == 90_820_000


def test_gnmt_as_mlperf_trains_it_tensor_by_tensor() -> None:
    """NVIDIA's submission lists the shapes of all its 44 tensors: 160,671,297 parameters."""
    gate, lstm = [(4096, 1024), (4096,), (4096,)], [(4096, 1024), (4096, 1024), (4096,), (4096,)]
    encoder = [*lstm, *lstm, (4096, 2048), *gate, *lstm, *lstm]
    attention = [(1024,), (1,), (1024,), (1024, 1024), (1024, 1024)]
    decoder = [*lstm, *attention, *[(4096, 2048), *gate] * 3]
    published = [*encoder, (32320, 1024), *decoder, (32320, 1024), (32320,)]
    report = archcalc.load("gnmt-mlperf").params()
    counted: Counter[tuple[int, ...]] = Counter()
    for row in report.rows:
        if row.kind == "tensor" and not row.tied_to:
            counted[row.shape or ()] += int(row.repeat)
    assert len(published) == 44
    assert counted == Counter(published)
    assert report.total == 160_671_297


def test_gnmt_comes_to_278_million_with_a_little_more_than_32_000_tokens() -> None:
    """The paper says 32K; with MLPerf's 32,320 the count rounds to the published one."""
    assert round(archcalc.load("gnmt").params().total / 1e6, 1) == 276.7
    assert round(archcalc.load("gnmt", set=["vocab=32320"]).params().total / 1e6) == 278


def test_sequence_to_sequence_without_attention() -> None:
    """Sutskever et al.: 384M parameters, 32M recurrent ones on each side."""
    rows = {row.path: row.total for row in archcalc.load("seq2seq").params().rows}
    assert rows["encoder"] == rows["decoder"] == 4 * 4 * (1000 * 1000 + 1000 * 1000) == 32_000_000
    assert rows["model"] == (160_000 + 80_000 + 80_000) * 1000 + 2 * 32_000_000 == 384_000_000


def test_keras_guide_hands_the_encoders_state_to_the_decoder() -> None:
    """https://keras.io/guides/working_with_rnns: 64,000 + 128,000 + 33,024 + 33,024 + 650."""
    model = {"family": "recurrent", "embedding": 64, "cell": "lstm", "hidden": 64, "biases": "keras"}
    sides = {"encoder": {"vocab": 1000}, "decoder": {"vocab": 2000}}
    report = archcalc.load({**model, **sides, "head": {"kind": "classifier", "classes": 10}}).params()
    assert report.total == 64_000 + 128_000 + 33_024 + 33_024 + 650 == 258_698


# What a decode step keeps


def test_a_decode_step_keeps_states_and_what_it_looks_at() -> None:
    """h and c of every layer, the encoder's states and the keys made of them; nothing grows with the target."""
    model = archcalc.load(spec(cell="lstm", layers=2, attention=scored("additive", "before")))
    for target in (1, 50):
        asked = model.workload(batch=BATCH, src_seq=SOURCE, tgt_seq=target)
        step = replace(asked, mode="decode", lengths={"src_seq": SOURCE, "tgt_seq": 1}, context=target)
        states = 2 * 2 * BATCH * HIDDEN
        memory = BATCH * SOURCE * (2 * HIDDEN + WIDTH)
        assert cache_bytes(model, step, "fp32") == 4 * (states + memory)


# What a user can get wrong

TOP = "family: recurrent\nvocab: 100\nembedding: 8\ncell: lstm\nhidden: 16\n"
PAIR = TOP + "encoder: 1\ndecoder: 1\n"
BOTH_WAYS = TOP + "encoder: {bidirectional: true}\ndecoder: 1\n"


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        (
            BOTH_WAYS + "attention: dot\n",
            "model.yaml:8: attention: dot needs states of one width, but the encoder's are 32 wide",
            "use `score: general`, which has a matrix between them, or `decoder: {hidden: 32}`",
        ),
        (PAIR + "attention: additive\n", "model.yaml:8: attention.width: missing", "width: 16"),
        (PAIR + "attention: {when: after}\n", "model.yaml:8: attention.score: missing", "dot, general"),
        (PAIR + "attention: {score: dot, width: 4}\n", "model.yaml:8: attention.width: dot has no", "take it out"),
        (
            PAIR + "attention: {score: dot, when: between}\n",
            "model.yaml:8: attention.when: `when: between` needs a decoder",
            "a second layer",
        ),
        (
            PAIR + "attention: {score: concat, width: 4, feed: true}\n",
            "model.yaml:8: attention.feed: only h̃ is fed back",
            "use `when: after`",
        ),
        (
            PAIR + "attention: {score: concat, width: 4, normed: true}\n",
            "model.yaml:8: attention.normed: concat has no v",
            "`score: additive`",
        ),
        (TOP + "encoder: 2\n", "model.yaml:6: encoder: the spec has only the encoder", "add `decoder:`"),
        (
            TOP + "bidirectional: true\nencoder: 1\ndecoder: 1\nattention: general\n",
            "model.yaml:6: bidirectional: a decoder is causal and cannot be bidirectional",
            "under `encoder`",
        ),
        (
            TOP + "encoder: 1\ndecoder: {start: zeros}\n",
            "model.yaml:7: decoder.start: a decoder that starts from zeros",
            "give `attention:`",
        ),
        (BOTH_WAYS, "model.yaml:7: decoder: the encoder's last states are 32 wide", "`decoder: {hidden: 32}`"),
        (TOP + "encoder: 2\ndecoder: 3\n", "model.yaml:7: decoder: 2 lstm layers cannot pass", "make them equal"),
        (
            TOP.replace("embedding: 8", "embedding: {width: 8, shared: true}")
            + "encoder: {vocab: 7}\ndecoder: {vocab: 9}\n",
            "model.yaml:3: embedding.shared: a shared table needs one vocab, but the encoder has 7 and the decoder 9",
            "make them equal",
        ),
        (
            TOP + "encoder: 1\ndecoder: 1e9\nattention: general\n",
            "model.yaml:7: decoder.layers: more than 1,000 attending layers",
            "fewer layers",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_and_the_way_out(
    run: Run, write: Write, text: str, where: str, said: str
) -> None:
    """File, line, field, fact, and what to do."""
    answer = run("params", write(text))
    assert answer.code == 2
    assert where in answer.err
    assert said in answer.err
