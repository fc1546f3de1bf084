"""Cost never follows a number in the input: an absurd one is answered with little more work, or refused in words."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from support.work import TooMuchWork, lines_run

import archcalc
from archcalc.core.errors import InputError, Path, dotted
from archcalc.exercises.sheet import worksheet
from archcalc.spec.overrides import at, put
from archcalc.spec.paths import data_root
from archcalc.spec.yaml_reader import read

ABSURD = 10**15
MORE = 8  # times the work of the model as it is: other choices are made for large models, each with notes of its own
LEAST = 300_000  # lines
STARTERS = sorted(file.stem for file in (data_root() / "starters").iterdir())
BESIDE = ("published", "scope")  # fields that nothing is computed from
QUESTIONS: dict[str, Any] = {
    "params": lambda model: model.params(),
    "shapes": lambda model: model.shapes(),
    "flops": lambda model: model.flops(),
    "diagram": lambda model: model.diagram(),
    "inference": lambda model: model.memory(mode="infer"),
    "training": lambda model: model.memory(mode="train"),
    "mixture": lambda model: model.memory(weights="q4_k_m"),
    "worksheet": lambda model: worksheet(model),
}


@cache
def starter(name: str) -> dict[str, Any]:
    return read((data_root() / "starters" / f"{name}.yaml").read_bytes(), name).data


def numbers(data: Any, above: Path = ()) -> Iterator[Path]:
    """Where a whole number stands."""
    if isinstance(data, int) and not isinstance(data, bool):
        yield above
    for key, value in data.items() if isinstance(data, dict) else ():
        yield from numbers(value, (*above, key)) if key not in BESIDE else ()
    for place, value in enumerate(data) if isinstance(data, list) else ():
        yield from numbers(value, (*above, place))


def net(*layers: Any, **fields: Any) -> archcalc.Model:
    return archcalc.load({"family": "network", "input": [3, 8, 8], "layers": list(layers), **fields})


def dense(times: int) -> dict[str, Any]:
    """Layers that are never equal: each reads one channel more."""
    return {"concat": ["input", [{"conv": 1, "kernel": 1}]], "repeat": times}


NETWORKS: dict[str, Any] = {
    "repeat": lambda number: [{"conv": 3, "kernel": 1, "repeat": number}],
    "repeat in repeat": lambda number: [{"layers": [{"conv": 3, "kernel": 1, "repeat": number}], "repeat": number}],
    "repeat without weights": lambda number: [{"layers": [{"layers": ["relu"], "repeat": number}], "repeat": number}],
    "unequal repeat": lambda number: [dense(number)],
    "unequal repeat in repeat": lambda number: [{"layers": [dense(number)], "repeat": number}],
    "adaptive pooling": lambda number: [{"pool": "average", "to": number}],
    "kernel": lambda number: [{"conv": 3, "kernel": number, "padding": number}],
    "stride": lambda number: [{"transposed_conv": 3, "kernel": 2, "stride": number}],
    "upsampling": lambda number: [{"upsample": number}],
    "groups": lambda number: [{"conv": number, "kernel": 1}, {"conv": number, "kernel": 1, "groups": number}],
}


@pytest.mark.parametrize("number", [20_000, 278 * 10**6, ABSURD])
@pytest.mark.parametrize("question", ["params", "shapes", "inference", "training"])
@pytest.mark.parametrize("layers", NETWORKS)
@pytest.mark.wide(30)
def test_work_does_not_follow_a_number_of_a_network(layers: str, question: str, number: int) -> None:
    """Equal layers are read once; what is left has a budget."""
    try:
        lines_run(lambda: QUESTIONS[question](net(*NETWORKS[layers](number))), 6_000_000)
    except InputError as error:
        assert error.field


def test_blocks_within_blocks_have_a_budget() -> None:
    """Ten calls in each of twelve blocks: 10¹² layers in a file of fifteen lines."""
    names = [f"b{number}" for number in range(12)]
    inner = {name: {"layers": [after] * 10} for name, after in zip(names, [*names[1:], "relu"], strict=True)}
    with pytest.raises(InputError, match="more than 5,000 layers once blocks are opened and repeated"):
        lines_run(lambda: net(names[0], blocks=inner), 6_000_000)


def test_stages_of_a_pipeline_have_a_budget() -> None:
    model = archcalc.load("llama-3-8b", set=["decoder.blocks=10000"])
    with pytest.raises(InputError, match="--pp: more than 500 pipeline stages"):
        lines_run(lambda: model.memory(mode="train", code="megatron", pp=10_000), 6_000_000)


@pytest.mark.parametrize("name", ["batch", "seq", "context"])
@pytest.mark.parametrize("mode", ["infer", "train"])
def test_work_does_not_follow_a_size_of_the_run(name: str, mode: str) -> None:
    model, absurd = archcalc.load("gpt2", set=["position=rope"]), dict[str, Any]({name: ABSURD})
    usual = lines_run(lambda: model.memory(mode=mode))
    try:
        lines_run(lambda: model.memory(mode=mode, **absurd), MORE * usual + LEAST)
    except InputError as error:
        assert error.field


@pytest.mark.parametrize(
    ("name", "gpu", "asked"),
    [
        ("linear-autoencoder", "a100", {"batch": ABSURD}),
        ("lenet-5", "100000xa100", {"batch": ABSURD, "mode": "train"}),
    ],
)
def test_the_work_of_a_fit_does_not_follow_a_number(name: str, gpu: str, asked: dict[str, Any]) -> None:
    """Nor the sizes that fit, nor the number of devices."""
    lines_run(lambda: archcalc.fit(archcalc.load(name), gpus=[gpu], **asked), 12_000_000)


@pytest.mark.wide(16)
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", STARTERS)
def test_work_does_not_follow_a_number_of_the_spec(name: str, question: str) -> None:
    data = starter(name)
    most = MORE * lines_run(lambda: QUESTIONS[question](archcalc.load(data))) + LEAST
    for path in numbers(data):
        changed = put(copy.deepcopy(data), path, ABSURD)
        try:
            lines_run(lambda: QUESTIONS[question](archcalc.load(changed)), most)  # noqa: B023
        except InputError:
            continue
        except TooMuchWork as place:
            pytest.fail(f"{dotted(path)} was {at(data, path)}: more than {most:,} lines, at {place}")
