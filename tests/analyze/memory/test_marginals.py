"""What a little more takes, and which limit comes next: by asking for the larger size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc.analyze.memory.marginals import Marginals

if TYPE_CHECKING:
    from conftest import Run

GIB = 2**30
TOKEN = 2 * 32 * 8 * 128 * 2  # bytes that Llama 3 8B caches for one: keys and values of 32 layers with 8 heads of 128


def marginals(name: str, **options: Any) -> Marginals:
    found = archcalc.load(name).memory(**options).marginals
    assert found
    return found


def test_in_decode_a_sequence_is_its_cache() -> None:
    """Beside the cache, one token's activations are next to nothing."""
    found = marginals("llama-3-8b", mode="decode", context=4096)
    assert 4096 * TOKEN < (found.sequence or 0) < 1.01 * 4096 * TOKEN
    assert 1000 * TOKEN <= (found.tokens or 0) < 1.01 * 1000 * TOKEN
    assert found.layer is None


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("llama-3-8b", {"seq": 2048}),
        ("llama-3-8b", {"seq": 2048, "mode": "train", "recompute": "full"}),
        ("t5-small", {"batch": 4}),
        ("sentiment-lstm", {"mode": "train"}),
    ],
)
def test_they_are_what_memory_says_of_more(name: str, options: dict[str, Any]) -> None:
    """Of the bytes of tensors, also in training."""
    model = archcalc.load(name)
    now, found = model.memory(**options), marginals(name, **options)
    more = model.memory(**{**options, "batch": now.batch + 1})
    longer = model.memory(**{**options, **{size: length + 1000 for size, length in now.lengths.items()}})
    assert found.sequence == more.total_bytes - now.total_bytes > 0
    assert found.tokens == longer.total_bytes - now.total_bytes > 0


def test_one_more_layer_on_the_gpu() -> None:
    """Its weights, 2 bytes each, and its cache; where no layer is in host RAM there is none."""
    layer = 2 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096)
    found = marginals("llama-3-8b", seq=2048, ngl=10)
    assert found.layer == layer + 2048 * TOKEN // 32
    assert marginals("llama-3-8b", seq=2048, ngl=33).layer is None


def test_an_engine_that_fills_its_device_has_a_pool() -> None:
    """A request takes its tokens of it, in blocks of 16; the step has its size whatever they are."""
    found = marginals("llama-3.1-8b", seq=8192, engine="vllm")
    assert (found.sequence, found.tokens) == (8192 * TOKEN, 1008 * TOKEN)


def test_positions_bind_without_a_device() -> None:
    """GPT-2's table has 1,024 rows: there are no 1,000 more tokens after 512, and 511 at the most in decode."""
    found = marginals("gpt2", seq=512)
    assert found.tokens is None and [tuple(one) for one in found.limits] == [("context", "positions", 1024)]
    assert marginals("gpt2", mode="decode", context=512).limits[0].largest == 1023
    assert marginals("llama-3-8b", seq=16_384).limits == ()  # longer than it was trained for
    assert marginals("mamba-2.8b").limits == ()


def test_a_model_without_sequences_has_samples(run: Run) -> None:
    found = marginals("vit-b-16")
    assert found.tokens is None and found.sequence and "one more sample: +" in found.line()
    assert "1,000 more tokens" not in run("memory", "vit-b-16").out


def test_tokens_are_those_of_every_sequence() -> None:
    """Four sequences in decode take four times the cache of one."""
    one, four = (marginals("llama-3-8b", mode="decode", batch=batch, context=2048) for batch in (1, 4))
    assert (one.tokens or 0) >= 1000 * TOKEN and 4 * 1000 * TOKEN <= (four.tokens or 0) < 4.04 * 1000 * TOKEN
    assert "1,000 more tokens: +" in one.line() and "1,000 more tokens each: +" in four.line()


def test_what_the_peak_has_no_part_in_is_nothing_more() -> None:
    assert Marginals(0, None, None, ()).line() == "one more sequence: nothing more"


def test_memory_and_fit_say_them_in_a_line(run: Run) -> None:
    """Beneath the answer, and for programs with the keys that the docs promise."""
    for command in (("memory", "llama-3-8b"), ("fit", "llama-3-8b", "--gpu", "24GiB")):
        assert "\none more sequence: +" in run(*command).out
        record = run(*command, "--format", "json").json["marginals"]
        assert list(record) == [f"{of}_bytes" for of in ("sequence", "tokens_1000", "layer")] + [
            *("image_positions", "image_bytes", "binds_next")
        ]
        assert record["sequence_bytes"] == marginals("llama-3-8b").sequence


def test_on_a_device_memory_may_bind_first(run: Run) -> None:
    """The next batch is the first that does not fit with the error band to spare."""
    (row,) = archcalc.fit(archcalc.load("llama-3-8b"), gpus=["24GiB"]).rows
    out = " ".join(run("fit", "llama-3-8b", "--gpu", "24GiB").out.split())
    assert (
        row.max_batch and f"next limit: memory, at batch {row.max_batch + 1}; the model's longest context, 8,192" in out
    )
    record = run("fit", "llama-3-8b", "--gpu", "24GiB", "--format", "json").json["marginals"]
    assert record["binds_next"][0] == {"size": "batch", "limit": "memory", "largest": row.max_batch}
    assert run("fit", "llama-3-8b", "--gpu", "8GiB", "--format", "json").json["marginals"]["binds_next"] is None


@pytest.mark.parametrize(("number", "limit"), [(8, "requests"), (1024, "memory")])
def test_an_engine_may_bind_before_its_pool(number: int, limit: str) -> None:
    """vLLM computes no more requests at once than --max-num-seqs."""
    options: dict[str, Any] = {"engine": "vllm", "max_num_seqs": number, "seq": 8192}
    report = archcalc.fit(archcalc.load("llama-3.1-8b"), gpus=["h100"], **options)
    assert report.marginals and report.rows[0].pool
    first = report.marginals.limits[0]
    assert (first.limit, first.largest) == (limit, min(number, report.rows[0].pool.max_requests))


def test_a_list_of_tensors_has_none() -> None:
    """It is not known what they compute."""
    model = archcalc.load({"family": "weights", "tensors": {"layers.0.weight": "fp32 [64, 64]"}})
    assert model.memory().marginals is None and "one more" not in str(model.memory())
