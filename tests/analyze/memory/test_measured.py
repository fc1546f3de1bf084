"""`--measured`: what a run took explains itself as far as it can, and shifts the rest of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.core.errors import InputError

if TYPE_CHECKING:
    from conftest import Run

GIB = 2**30
TRAINING: dict[str, Any] = {"mode": "train", "lora": 16, "batch": 1, "seq": 1024}


def memory(model: str = "llama-3-8b", **options: Any) -> dict[str, Any]:
    return archcalc.load(model).memory(**options).record()


@pytest.mark.parametrize(
    ("counter", "figure"),
    [("nvidia-smi", "required_bytes"), ("allocated", "allocated_bytes"), ("reserved", "reserved_bytes")],
)
def test_each_counter_is_held_against_its_own_figure(counter: str, figure: str) -> None:
    """What is missing there is missing on the device."""
    counted = memory(**TRAINING)
    measured = counted[figure] + GIB
    found = memory(**TRAINING, measured=f"{counter}:{measured}")
    assert found["measured"]["counted_bytes"] == counted[figure]
    assert found["required_bytes"] == counted["required_bytes"] + GIB


def test_a_bare_size_is_what_nvidia_smi_shows() -> None:
    assert memory(measured="18 GiB")["required_bytes"] == 18 * GIB
    assert memory(measured=18 * GIB)["measured"]["by"] == "nvidia-smi"


def test_the_difference_is_the_same_at_every_other_size() -> None:
    """A run of a batch of 1 was measured; that of 4 takes as much more."""
    model = archcalc.load("llama-3-8b")
    given = (None, f"{20 * GIB}")
    fits = [archcalc.fit(model, ["a100-40gb"], engine="transformers", measured=one).record() for one in given]
    counted, measured = (found["rows"][0] for found in fits)
    assert measured["required_bytes"] == 20 * GIB
    assert measured["left_bytes"] == counted["left_bytes"] - (20 * GIB - counted["required_bytes"])
    assert measured["max_batch"] < counted["max_batch"]
    assert measured["max_seq"] <= counted["max_seq"]


def test_a_run_that_took_less_than_is_counted_leaves_more() -> None:
    counted, found = memory(), memory(measured="15GiB")
    shift = 15 * GIB - counted["required_bytes"]
    assert shift < 0
    assert found["parts"]["overhead"] == counted["parts"]["overhead"] + shift
    assert found["required_bytes"] == 15 * GIB


def test_another_choice_that_takes_as_much_explains_the_difference() -> None:
    """What was measured is a run with checkpointing, which was not asked for: the rest of the answer is of that run."""
    asked = {**TRAINING, "batch": 4, "seq": 2048}
    other = memory(**asked, recompute="full")
    found = memory(**asked, measured=f"allocated:{other['allocated_bytes']}")
    assert found["measured"]["others"][0] == {
        "options": {"recompute": "full"},
        "counted_bytes": other["allocated_bytes"],
    }
    assert found["measured"]["shift_bytes"] == 0
    assert found["parts"] == other["parts"]
    assert found["marginals"] == other["marginals"]


def test_what_was_asked_for_stays() -> None:
    asked = {**TRAINING, "batch": 4, "seq": 2048, "recompute": "none", "code": "transformers"}
    other = memory(**{**asked, "recompute": "full"})
    found = memory(**asked, measured=f"allocated:{other['allocated_bytes']}")["measured"]
    assert not any({"recompute", "code"} & one["options"].keys() for one in found["others"])


def test_two_choices_are_changed_where_no_single_one_explains_it() -> None:
    asked = {**TRAINING, "batch": 4, "seq": 2048, "code": "transformers"}
    other = memory(**asked, recompute="full", loss_chunks=16)
    (first, *_) = memory(**asked, measured=f"allocated:{other['allocated_bytes']}")["measured"]["others"]
    assert len(first["options"]) == 2
    assert abs(first["counted_bytes"] / other["allocated_bytes"] - 1) < 0.05


def test_fit_judges_by_the_run_that_explains_it(run: Run) -> None:
    """Batches that a card holds are those of the run with checkpointing."""
    asked = ("fit", "llama-3-8b", "--mode", "train", "--lora", "16", "--seq", "2048", "--gpu", "a100-80gb", "--format")
    other = run(*asked, "json", "--recompute", "full").json["rows"][0]
    found = run(*asked, "json", "--measured", str(other["required_bytes"])).json["rows"][0]
    assert found["max_batch"] == other["max_batch"]


def test_what_is_beyond_pytorch_is_named_for_nvidia_smi_alone() -> None:
    """Runs took up to 4.3 GiB beyond it."""
    counted = memory()
    by_driver = memory(measured=counted["required_bytes"] + 2 * GIB)["measured"]["likely"]
    by_pytorch = memory(measured=f"allocated:{counted['required_bytes'] + 2 * GIB}")["measured"]["likely"]
    assert any("beyond PyTorch" in words for words in by_driver)
    assert not any("beyond PyTorch" in words for words in by_pytorch)


def test_a_difference_that_nothing_explains_is_said_to_be_so(run: Run) -> None:
    found = run("memory", "llama-3-8b", "--measured", "170GiB").out
    assert "nothing that is known here explains it" in " ".join(found.split())


def test_an_engine_that_fills_the_card_says_nothing_by_its_total(run: Run) -> None:
    asked = ("fit", "llama-3-8b", "--gpu", "h100", "--engine", "vllm")
    counted, found = run(*asked, "--format", "json").json, run(*asked, "--measured", "74GiB", "--format", "json").json
    assert found["measured"]["shift_bytes"] == 0
    assert found["rows"] == counted["rows"]
    assert "vLLM fills 92 % of the card whatever the model needs" in " ".join(
        run(*asked, "--measured", "74GiB").out.split()
    )


def test_the_shift_is_an_assumption(run: Run) -> None:
    notes = run("memory", "gpt2", "--measured", "2GiB", "--format", "json").json["assumptions"]
    assert [note["topic"] for note in notes if note["option"] == "--measured"] == ["overhead"]


@pytest.mark.parametrize("value", ["smi:2GiB", "2 parrots", "0", "allocated:", "-1GiB"])
def test_what_is_no_measurement_is_refused(run: Run, value: str) -> None:
    answer = run("memory", "gpt2", f"--measured={value}")
    assert answer.code == 2
    assert answer.err.startswith("error: --measured: ")


def test_tables_are_about_many_cases_and_take_none(run: Run) -> None:
    answer = run("fit", "gpt2", "--gpu", "24GB", "--table", "weights,context", "--measured", "2GiB")
    assert (answer.code, answer.err.splitlines()[0]) == (2, "error: --measured: is about one case, and no table")


def test_other_commands_do_not_take_it() -> None:
    with pytest.raises(InputError, match="no option called measured"):
        archcalc.load("gpt2").flops(measured="2GiB")  # type: ignore[call-arg]


def test_less_than_the_weights_is_another_run(run: Run) -> None:
    answer = run("memory", "llama-3-8b", "--weights", "bf16", "--measured", "1GiB")
    assert (answer.code, answer.err.splitlines()[0]) == (
        2,
        "error: --measured: 1.00 GiB are less than the weights of this run, 14.96 GiB",
    )
