"""Reports and models are copied and pickled, so that other processes and caches can have them."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.render import as_json, render
from archcalc.report.base import Report
from archcalc.verify.presets import AllReport

if TYPE_CHECKING:
    from conftest import Run, Write

LINES = (
    "params gpt2 --explain --names",
    "params sentiment-lstm --depth 9",
    "shapes textbook --explain --parameters",
    "shapes resnet-18 --symbolic",
    "flops gpt2 --explain",
    "flops llama-3-8b --mode decode --gpu h100",
    "memory gpt2 --mode train --timeline --gpu a100",
    "memory llama-3-8b --weights q4_k_m --ngl 10",
    "memory llama-3-8b --mode decode --engine vllm --gpu h100",
    "memory sentiment-lstm --mode train",
    "fit gpt2 --gpu a100 --mode train",
    "fit llama-3-8b --gpu rtx-4090 --gpu 2xrtx-3090 --gpu rtx-5070-ti+rtx-5090",
    "fit gpt2 --gpu a100 --table weights,context",
    "fit gpt2 --gpu a100 --models",
    "plot gpt2 --x seq=64..512 --y memory",
    "compare gpt2 textbook --metric memory",
    "about gpt2",
    "card gpt2",
    "summary gpt2",
    "walk gpt2",
    "kernel textbook",
    "gpus",
    "gpus h100",
    "presets",
    "identities --list",
    "identities softmax",
    "explain window",
    "check answers.yaml",
    "check .",
    "explain 6ND",
    "params gpt2 --expect 117M",
    "verify lenet-5",
    "oom gpt2 --mode train --gpu 24GB --log error.txt",
)
MESSAGE = "CUDA out of memory. Tried to allocate 196.00 MiB. GPU 0 has a total capacity of 23.69 GiB"
MADE_OTHERWISE = {"DiagramReport", "AllReport", "RunReport"}  # which no command prints as JSON in a moment, or at all
COPIES: list[Callable[[Any], Any]] = [lambda made: pickle.loads(pickle.dumps(made)), copy.deepcopy, copy.copy]


def subclasses(of: type[Report]) -> Iterator[type[Report]]:
    for one in of.__subclasses__():
        yield from (one, *subclasses(one))


def kinds() -> set[str]:
    """Every report that archcalc has: whatever file it is in."""
    for module in pkgutil.walk_packages(archcalc.__path__, "archcalc."):
        if not module.name.startswith("archcalc.reference") and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {one.__name__ for one in subclasses(Report) if one.__module__.startswith("archcalc.")}


@pytest.fixture
def made(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Report]:
    """What a command makes, before it is printed."""
    write(run("worksheet", "lenet-5", "--answers").out, "answers.yaml")
    write(MESSAGE, "error.txt")
    seen: list[Report] = []

    def kept(report: Report, width: int) -> str:
        seen.append(report)
        return "{}"

    monkeypatch.setattr(as_json, "render", kept)

    def made(line: str) -> Report:
        answer = run(*line.split(), "--format", "json")
        assert seen, answer.err
        return seen.pop()

    return made


def check_copies(report: Report) -> None:
    for copied in (make(report) for make in COPIES):
        assert copied == report or report.command in ("explain", "check", "verify")  # of which nobody asks that
        assert copied.record() == report.record()
        for style in ("table", "html", "csv"):
            assert render(copied, style) == render(report, style)


@pytest.mark.parametrize("line", LINES)
def test_a_copy_of_a_report_gives_the_same_answers(line: str, made: Callable[[str], Report]) -> None:
    check_copies(made(line))


def test_so_do_copies_of_diagrams_pages_and_of_many_reports(made: Callable[[str], Report]) -> None:
    model = archcalc.load("textbook")
    diagram = model.diagram(symbolic=True)
    assert [(make(diagram), str(make(diagram))) for make in COPIES] == [(diagram, str(diagram))] * len(COPIES)
    check_copies(AllReport("all", (), {"lenet-5": made("verify lenet-5")}, {}))  # type: ignore[dict-item]
    page = model.report(gpus="h100")
    assert [make(page).html() for make in COPIES] == [page.html()] * len(COPIES)


@pytest.mark.wide
def test_every_kind_of_report_is_copied_here(made: Callable[[str], Report]) -> None:
    assert {type(made(line)).__name__ for line in LINES} | MADE_OTHERWISE == kinds()


@pytest.mark.parametrize("name", ["gpt2", "resnet-18", "sentiment-lstm", "gpt-oss-20b", "clip-vit-base-patch32"])
def test_equal_models_hash_equally_and_copies_are_small(name: str) -> None:
    model, again = archcalc.load(name), archcalc.load(name)
    before = len(pickle.dumps(model))
    model.params()  # which keeps its trees
    assert len(pickle.dumps(model)) == before
    for other in (again, *(make(model) for make in COPIES)):
        assert (other, hash(other)) == (model, hash(model))
        assert other.params() == model.params()
    assert len({model, again}) == 1


def test_models_are_compared_by_what_they_say_not_by_their_files(write: Write) -> None:
    text = archcalc.load("gpt2").yaml()
    one, other = write(text, "one.yaml"), write(f"# the same\n{text}", "other.yaml")
    assert len({archcalc.load(one), archcalc.load(other)}) == 1
    assert archcalc.load(one) != archcalc.load(one, set=["d_model=1536"])
    assert archcalc.load(one) != archcalc.load("gpt2").changed("decoder.blocks=13")
