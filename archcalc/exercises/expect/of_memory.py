"""Ways of counting memory: GB or GiB, weights alone, bytes for each parameter, the KV cache of one sequence …"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

from archcalc.analyze.memory.report import MemoryReport
from archcalc.exercises.expect.answer import Candidate, Tier, asked, expected
from archcalc.exercises.mistakes.in_the_model import misreadings
from archcalc.exercises.variation import data_of, rebuilt
from archcalc.model import Model
from archcalc.report.expected import Expected

CACHE = "kv_cache"
MANY = 4  # digits of a number that single layers are looked at for
EACH = {  # bytes for each parameter, and where people have them from
    Fraction(4): "fp32 weights",
    Fraction(2): "16-bit weights",
    Fraction(1): "8-bit weights",
    Fraction(1, 2): "4-bit weights",
    Fraction(16): "weights, gradients and Adam in fp32, or mixed precision with fp32 master weights",
    Fraction(12): "fp32 master weights and Adam's moments",
    Fraction(18): "mixed precision with fp32 gradients",
    Fraction(8): "Adam's moments in fp32",
}
_bytes = partial(Candidate, is_bytes=True)
Again = Callable[[Model], MemoryReport]  # the same question about another model


def expect_memory(model: Model, report: MemoryReport, text: str, again: Again) -> Expected:
    """Compare a number with the memory of a run."""
    wanted = asked(text)
    tiers = (
        Tier(lambda: _caches(report)),
        Tier(lambda: _sums(report)),
        Tier(lambda: _for_each_parameter(model)),
        Tier(lambda: _other_models(model, report, again)),
        Tier(lambda: _rows(report), digits=MANY),
    )
    return expected(wanted, list(_figures(report)), tiers)


def _figures(report: MemoryReport) -> Iterator[Candidate]:
    record = report.record()
    yield _bytes("required bytes", record["required_bytes"], "the memory that is needed")
    for name in ("total_bytes", "allocated_bytes", "reserved_bytes"):
        if record.get(name):
            yield _bytes(name, record[name], f"the {name.removesuffix('_bytes')} bytes of this answer")
    for name, size in report.parts.items():
        if size:
            yield _bytes(f"{name} bytes", size, f"the {name.replace('_', ' ')} alone")


def _caches(report: MemoryReport) -> Iterator[Candidate]:
    """Of one sequence, of one token, and keys alone."""
    cache, tokens = report.parts.get(CACHE, 0), max(report.lengths.values(), default=0)
    if cache and report.batch > 1:
        yield _bytes("one sequence", Fraction(cache, report.batch), "the KV cache of one sequence")
    if cache and tokens:
        yield _bytes("one token", Fraction(cache, report.batch * tokens), "the KV cache of one token")
        yield _bytes("keys alone", Fraction(cache, 2), "half of the KV cache: the keys or the values alone")


def _for_each_parameter(model: Model) -> Iterator[Candidate]:
    params = model.params()
    for size, words in EACH.items():
        number = f"{float(size):g} bytes for each"
        yield _bytes(f"{size} bytes each", params.total * size, f"{number} parameter ({words})")
        if params.active != params.total:
            yield _bytes(f"{size} bytes each, active", params.active * size, f"{number} active parameter ({words})")


def _sums(report: MemoryReport) -> Iterator[Candidate]:
    weights, cache = report.parts.get("weights", 0), report.parts.get(CACHE, 0)
    if cache:
        yield _bytes("weights and KV cache", weights + cache, "weights and KV cache together")
    states = sum(report.states.values())
    yield _bytes("weights and states", states, "weights, gradients and optimizer states, without activations")


def _other_models(model: Model, report: MemoryReport, again: Again) -> Iterator[Candidate]:
    """The KV cache of a model that is read in another way: keys and values for every head."""
    if not report.parts.get(CACHE):
        return
    for reading in (one for one in misreadings().mistakes if one.field in ("kv_heads", "head_dim")):
        for changed in reading.changed(data_of(model)):
            other = rebuilt(model, changed)
            if other:
                cache = again(other).parts[CACHE]
                yield _bytes(reading.name, cache, f"the KV cache: {reading.name}")


def _rows(report: MemoryReport) -> Iterator[Candidate]:
    for row in report.record()["rows"][1:]:
        yield _bytes(row["path"], row["bytes"], f"the memory of {row['path']}")
