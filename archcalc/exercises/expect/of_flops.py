"""Ways of counting FLOPs: multiply-adds, the forward pass alone, without masked scores, 2ND and 6ND, one sample …"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from archcalc.analyze.flops.report import FlopsReport
from archcalc.core.tree import ops_in
from archcalc.exercises.expect.answer import Candidate, Tier, asked, expected
from archcalc.model import Model
from archcalc.report.expected import Expected

MANY = 4  # digits of a number that single layers are looked at for
SCORES, HEADS = "attention scores", ("head", "classifier")  # kinds of work in the report


def expect_flops(model: Model, report: FlopsReport, text: str) -> Expected:
    """Compare a number with the FLOPs, or the bytes moved, of a step."""
    wanted = asked(text)
    usual = [*_passes(report), *_parts(model, report)]
    tiers = (
        Tier(lambda: [_as_macs(one) for one in _passes(report)]),
        Tier(lambda: _parts(model, report)),
        Tier(lambda: _rules(model, report)),
        Tier(lambda: [_one_sample(one, report) for one in usual if report.batch > 1]),
        Tier(lambda: [_as_macs(one) for one in _parts(model, report)], digits=MANY),
        Tier(lambda: _rows(report), digits=MANY),
    )
    leading = 2 if report.mode == "train" else 1
    return expected(wanted, [*_passes(report), *_moved(report)], tiers, leading=leading)


def _passes(report: FlopsReport) -> Iterator[Candidate]:
    decodes = report.mode == "decode"
    yield Candidate("FLOPs", report.forward, f"the FLOPs of a {'decode step' if decodes else 'forward pass'}")
    if report.mode == "train":
        yield Candidate("training step", report.total, "the FLOPs of a training step")
        yield Candidate("backward", report.backward, "the FLOPs of a backward pass")
    unit = "token" if report.lengths else "sample"
    yield Candidate(f"per {unit}", Fraction(report.forward, report.tokens), f"the FLOPs of a forward pass per {unit}")
    if report.mode == "train":
        yield Candidate(f"step per {unit}", report.per_token, f"the FLOPs of a training step per {unit}")
    if report.training and report.rule:
        yield Candidate("training", report.training, "the FLOPs of the whole training")
        yield Candidate("6ND", report.rule, "the rule 6ND for the whole training")


def _moved(report: FlopsReport) -> Iterator[Candidate]:
    for name, number in vars(report.traffic).items():
        if number:
            yield Candidate(f"{name} bytes", number, f"the bytes moved of {name.replace('_', ' ')}", is_bytes=True)


def _as_macs(one: Candidate) -> Candidate:
    sentence = f"multiply-adds, MACs, of {one.sentence.removeprefix('the FLOPs of ')}"
    return Candidate(f"MACs: {one.name}", Fraction(one.value, 2), sentence)


def _one_sample(one: Candidate, report: FlopsReport) -> Candidate:
    sentence = f"{one.sentence} for one sample of the batch of {report.batch:,}"
    return Candidate(f"one sample: {one.name}", Fraction(one.value, report.batch), sentence)


def _parts(model: Model, report: FlopsReport) -> Iterator[Candidate]:
    """Both passes and the forward pass, without and with what people leave out or add."""
    besides = report.elementwise + int(report.amounts.elementwise_backward)
    forward = report.forward + report.elementwise
    yield Candidate("with elementwise", forward, "a forward pass with elementwise operations")
    yield Candidate("with elementwise", report.total + besides, "the whole step with elementwise operations")
    kinds = {name: amounts.total for name, amounts in report.kinds.items()}
    yield from _without("the whole step", report.total, kinds, is_masked=_is_masked(model))
    if report.mode == "train":
        forwards = {name: int(amounts.forward) for name, amounts in report.kinds.items()}
        again = report.total + report.forward
        yield Candidate("with recomputation", again, "a training step that recomputes all of it")
        yield from _without("the forward pass", report.forward, forwards, is_masked=_is_masked(model))


def _without(words: str, whole: int, kinds: Mapping[str, int], *, is_masked: bool) -> Iterator[Candidate]:
    scores, head = kinds.get(SCORES, 0), sum(kinds.get(kind, 0) for kind in HEADS)
    if scores:
        yield Candidate("without scores", whole - scores, f"{words} without attention scores: the weights alone")
    if scores and is_masked:
        half = whole - Fraction(scores, 2)
        yield Candidate("causal half", half, f"{words} with half of the scores, as a causal mask leaves them")
    if head:
        yield Candidate("without head", whole - head, f"{words} without the output layer")


def _is_masked(model: Model) -> bool:
    root = model.build(model.workload(mode="prefill"))
    return any(op.seen is not None and op.seen[0] < op.seen[1] for op in ops_in(root))


def _rules(model: Model, report: FlopsReport) -> Iterator[Candidate]:
    """2ND and 6ND, by what people take for N, for one token and for all of the step."""
    params = model.params()
    counts = {"all parameters": params.total, "non-embedding parameters": params.non_embedding}
    counts |= {"active parameters": params.active, "parameters without the output layer": params.without_head}
    for times in (2, 6):
        for words, count in counts.items():
            name = f"{times}ND"
            yield Candidate(name, times * int(count) * report.tokens, f"the rule {name} with N = {words}")
            yield Candidate(f"{times}N", times * int(count), f"the rule {times}N for one token, with N = {words}")


def _rows(report: FlopsReport) -> Iterator[Candidate]:
    for row in report.rows[1:]:
        yield Candidate(row.path, int(row.amounts.forward), f"the forward pass of {row.path}")
        yield Candidate(row.path, row.amounts.total, f"the FLOPs of {row.path}")
