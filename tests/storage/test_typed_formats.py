"""Names of formats as people type them: each is one format, with its bits by arithmetic, or refused with what to do."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from archcalc import load
from archcalc.spec.data_files import shipped
from archcalc.storage.named_formats import meaning, names, weight_format

if TYPE_CHECKING:
    from conftest import Run

MEANT = {
    **dict.fromkeys(("4bit", "4-bit", "AWQ", "gptq", "gptq_marlin", "marlin", "awq-int4"), "int4"),
    **dict.fromkeys(("8bit", "w8a8", "W8A16", "bnb-8bit", "load_in_8bit"), "int8"),
    **dict.fromkeys(("bnb-4bit", "BNB_4bit", "bitsandbytes", "qlora"), "nf4_dq"),
    **dict.fromkeys(("mlx-4bit", "MLX_4BIT", "mlx"), "mlx_4bit"),
    **dict.fromkeys(("q4", "Q4_K_M.gguf", "q4km", "Q4-K-M", "gguf-q4_k_m", "Q4_K - Medium"), "q4_k_m"),
    "w4a16": "w4a16",
    "hqq": "hqq_4bit",
    "fp8-dynamic": "fp8_dynamic",
    "float8": "fp8",
    "q8": "q8_0",
    "exl2-4.0bpw": "exl2_4.0bpw",
    "4.5bpw": "exl2_4.5bpw",
    "EXL3_3bpw": "exl3_3.0bpw",
    "NVFP4": "nvfp4",
}
TYPED = [name for one in shipped("typed", "formats")["weights"] for name in one["names"]]
BITS = {  # of a large matrix, by arithmetic
    "4bit": 4 + Fraction(16 + 4, 128),
    "w4a16": 4 + Fraction(16, 128),
    "mlx-4bit": 4 + Fraction(16 + 16, 64),
    "mlx-3bit": 3 + Fraction(16 + 16, 64),
    "hqq": 4 + Fraction(16 + 16, 64),
    "w8a8": Fraction(8),
    "fp8-dynamic": Fraction(8),
    "bnb-4bit": 4 + Fraction(8, 64) + Fraction(32, 64 * 256),
    "exl2-4.25bpw": Fraction(17, 4),
}


@pytest.mark.parametrize("written", MEANT)
def test_a_name_is_one_format(written: str) -> None:
    assert meaning(written).format == MEANT[written]


@pytest.mark.parametrize("written", BITS)
def test_bits_of_a_weight(written: str) -> None:
    assert weight_format(written).bits_per_weight == BITS[written]


@pytest.mark.parametrize("name", [*names(), *TYPED])
def test_case_and_signs_are_forgiven(name: str) -> None:
    """Of every format and every name in the file."""
    forms = (name.upper(), name.replace("_", "-"), f"{name}.gguf", name.replace(" ", "_"))
    assert {meaning(form).format for form in forms} == {meaning(name).format}
    assert meaning(name).format in names()


@pytest.mark.parametrize(
    ("engine", "meant"), [("mlx", "mlx_4bit"), ("llama.cpp", "q4_k_m"), ("ollama", "q4_k_m"), ("vllm", "int4")]
)
def test_an_engine_reads_its_own_files(engine: str, meant: str) -> None:
    model = load("llama-3.2-1b")
    found = model.memory(weights="4bit", engine=engine)
    assert found.parts["weights"] == model.memory(weights=meant, engine=engine).parts["weights"]
    assert f"weights in {meant} (4bit)" in found.record()["run"]["line"]


def test_mlx_quantises_tables_and_head_too() -> None:
    """Llama 3.2 1B without its norms: 33 vectors of 2,048."""
    model = load("llama-3.2-1b")
    matrices = model.params().total - 33 * 2048
    assert model.memory(weights="mlx-4bit").parts["weights"] == matrices * 9 // 16 + 33 * 2048 * 2


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("ud-q4_k_xl", "Unsloth's dynamic quantisation|archcalc memory FILE.gguf|q4_k_m"),
        ("UD-IQ2_M", "Unsloth's dynamic quantisation|q2_k"),
        ("exl2", "says no width|exl2-4.0bpw"),
        ("exl2-12bpw", "EXL2 has 2 to 8 bits per weight"),
        ("6bit", "is no one layout|q6_k"),
        ("aqlm", "is no one layout|hf:OWNER/NAME"),
        ("q4_k_mm", "no format called q4_k_mm|did you mean q4_k_m"),
    ],
)
def test_refused(run: Run, written: str, said: str) -> None:
    found = run("memory", "gpt2", "--weights", written, columns=200)
    assert found.code == 2 and all(part in found.err for part in said.split("|"))


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm", "mlx", "transformers", "llama.cpp", "ollama"])
def test_no_engine_here_runs_exl2(run: Run, engine: str) -> None:
    assert run("memory", "gpt2", "--weights", "exl2-4.0bpw", "--engine", engine).code == 2


def test_a_cache_has_names_of_its_own() -> None:
    """q4 is Q4_0 there, and no mixture."""
    model = load("llama-3.2-1b")
    kept = [model.memory(engine="llama.cpp", kv_dtype=name).parts["kv_cache"] for name in ("q4", "q4_0", "Q8", "q8_0")]
    assert kept[0] == kept[1] != kept[2] == kept[3]
