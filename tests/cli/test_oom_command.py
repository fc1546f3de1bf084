"""archcalc oom: which tensor, which step, which flag helps."""

from __future__ import annotations

import re
import shlex
import sys
from typing import TYPE_CHECKING

import pytest
from support.logs import GIB, asked_for, cuda_message, llama_log, vllm_log, written

from archcalc.cli.commands.oom import log_text
from archcalc.core.errors import InputError
from archcalc.render import formats

if TYPE_CHECKING:
    from conftest import Run, Write

BATCH, SEQ, VOCAB, FFN, LAYERS = 4, 2048, 128_256, 14_336, 32  # of Llama 3 8B
STEP = ("llama-3-8b", "--mode", "train", "--lora", "16", "--batch", "4", "--seq", "2048")
KV_TOKEN = 2 * LAYERS * 8 * 128 * 2  # keys and values of 8 heads of 128, in 16 bits
MODERN = (
    "out of memory. Tried to allocate {}. GPU 0 has a total capacity of 23.69 GiB of which 1.25 GiB is free. Of the "
    "allocated memory 20.00 GiB is allocated by PyTorch, and 1.00 MiB is reserved by PyTorch but unallocated."
)
APPLE = "MPS backend out of memory (MPS allocated: 20.00 GiB, other allocations: 1.35 GiB, max allowed: 23.69 GiB). "
APPLE += "Tried to allocate {} on private pool."
WORDINGS = [
    "CUDA out of memory. Tried to allocate {} (GPU 0; 23.69 GiB total capacity; 20.00 GiB already allocated; 1.25 GiB "
    "free; 20.50 GiB reserved in total by PyTorch)",
    f"HIP {MODERN}",
    f"XPU {MODERN}",
    APPLE,
    APPLE.replace("GiB", "GB"),  # which older versions write
]


def test_the_answer_names_the_logits(run: Run) -> None:
    """In 32 bits, of all tokens of the step; the traceback tells that it was in the loss."""
    text = f"  File loss_utils.py, in fixed_cross_entropy\n{cuda_message(asked_for(BATCH * SEQ * VOCAB * 4))}"
    answer = run("oom", *STEP, stdin=text)
    told = " ".join(answer.out.split())
    assert answer.code == 0
    assert (
        "PyTorch tried to allocate 3.91 GiB with 20.00 GiB allocated on a card of 23.69 GiB: as large as logits" in told
    )
    assert "(batch 4 × seq 2,048 × vocab 128,256, fp32) in the loss" in told


@pytest.mark.parametrize("wording", WORDINGS)
def test_every_wording_of_the_message_is_read(run: Run, wording: str) -> None:
    found = run("oom", *STEP, "--format", "json", stdin=wording.format(asked_for(BATCH * SEQ * VOCAB * 4))).json
    figures = {row["figure"]: row["log"] for row in found["rows"]}
    assert figures["allocated"] == 20 * GIB
    assert figures["capacity"] == pytest.approx(23.69 * GIB)
    assert {one["bytes"] for one in found["candidates"]} == {BATCH * SEQ * VOCAB * 4}


@pytest.mark.parametrize("size", [1, 2])
def test_tensors_of_a_layer_are_found_with_the_number_of_layers(run: Run, size: int) -> None:
    """The two widths of a feed-forward layer's signal; of another size nothing is."""
    tensor = size * BATCH * SEQ * FFN * 2
    found = run("oom", *STEP, "--format", "json", stdin=cuda_message(asked_for(tensor))).json["candidates"]
    ups = [one for one in found if one["path"] == "decoder.blocks.ffn.up" and one["phase"] == "forward"]
    assert [(one["shape"], one["times"]) for one in ups] == [([BATCH, SEQ, FFN], LAYERS)] * (size == 1)


def test_a_size_is_what_the_allocator_asks_for(run: Run) -> None:
    """3 sequences of 1,000 tokens give no whole number of 2 MiB, and a size that is a step off is no tensor's."""
    tensor = 3 * 1000 * VOCAB * 4
    step = ("llama-3-8b", "--mode", "train", "--lora", "16", "--batch", "3", "--seq", "1000", "--format", "json")
    assert asked_for(tensor) == "1.43 GiB" != written(tensor + 0.01 * GIB)
    assert {one["bytes"] for one in run("oom", *step, stdin=cuda_message("1.43 GiB")).json["candidates"]} == {tensor}
    assert run("oom", *step, stdin=cuda_message("1.45 GiB")).json["candidates"] == []


def test_of_another_batch_the_number_of_tokens_is_told(run: Run) -> None:
    text = cuda_message(asked_for(BATCH * SEQ * VOCAB * 4))
    told = " ".join(run("oom", *STEP[:-4], "--batch", "1", "--seq", "2048", stdin=text).out.split())
    assert "no tensor of this run is that large" in told
    assert "logits of 16,384 tokens in bf16 or 8,192 tokens in fp32 are as large (batch × seq)" in told


def test_a_small_segment_is_no_tensor(run: Run) -> None:
    """PyTorch takes 20 MiB for whatever has 1 to 10 MiB."""
    answer = run("oom", *STEP, stdin=cuda_message("20.00 MiB"))
    assert "any tensor of 1 to 10 MiB" in " ".join(answer.out.split()) and "as large as" not in answer.out


def test_what_is_listed_makes_it_fit(run: Run) -> None:
    """On a card of the memory that the log says, asked for with `fit`."""
    text = cuda_message(asked_for(BATCH * SEQ * VOCAB * 4), capacity="39.39 GiB", allocated="35.90 GiB")
    text = text.replace("this process has 22.43 GiB", "this process has 38.10 GiB")
    found = run("oom", *STEP, "--format", "json", stdin=text).json
    assert found["remedies"]
    for one in found["remedies"]:
        changed = dict(zip(STEP[1::2], STEP[2::2], strict=True))
        words = shlex.split(one["option"])
        changed |= dict(zip(words[::2], words[1::2], strict=True))
        options = [word for pair in changed.items() for word in pair]
        assert run("fit", STEP[0], *options, "--gpu", "39.39GiB", "--check").code == 0
    assert run("fit", *STEP, "--gpu", "39.39GiB", "--check").code == 1


def test_memory_of_other_processes_is_none_of_the_card(run: Run) -> None:
    text = cuda_message("1.00 GiB").replace("this process has 22.43 GiB", "this process has 12.43 GiB")
    found = run("oom", "gpt2", "--format", "json", stdin=text).json
    assert found["read"] == ["--gpu 13.68GiB"]  # 23.69 - (23.69 - 1.25 - 12.43)
    assert "10.01 GiB of the card are held by other processes" in run("oom", "gpt2", stdin=text).out


def test_unused_pieces_are_told(run: Run) -> None:
    told = run("oom", *STEP, stdin=cuda_message("448.00 MiB")).out
    assert "expandable_segments:True may be enough" in " ".join(told.split())
    assert "expandable_segments" not in run("oom", *STEP, stdin=cuda_message("1.96 GiB")).out


def test_a_run_that_took_more_shifts_what_follows(run: Run) -> None:
    """As --measured does: 20 GiB of GPT-2 is more than a forward pass has."""
    found = run("oom", "gpt2", "--format", "json", stdin=cuda_message("4.00 GiB")).json
    assert found["measured"]["bytes"] == 24 * GIB
    assert found["measured"]["shift_bytes"] == 24 * GIB - found["measured"]["counted_bytes"]


def test_an_engine_is_read_with_its_run(run: Run) -> None:
    """The model too; what an option says goes before."""
    text = vllm_log("Model loading took 14.9889 GiB and 4.2 seconds")
    found = run("oom", "--format", "json", stdin=text).json
    assert found["read"] == ["--seq 16384", "--precision bfloat16", "--enforce-eager", "--engine vllm@0.11.0"]
    assert found["run"]["line"].startswith("Llama 3.1 8B · inference · seq 16,384 · bf16 · vLLM 0.11.0")
    assert not found["failed"] and found["remedies"] == []
    (weights,) = found["rows"]
    assert weights["counted"] == 2 * 8_030_261_248
    for option in ("--seq", "--max-model-len"):
        line = run("oom", option, "8192", "--format", "json", stdin=text).json["run"]["line"]
        assert "seq 8,192" in line


def test_a_request_that_does_not_fit_into_the_pool(run: Run) -> None:
    """What it needs is the product of sizes; remedies begin from the pool of the log."""
    length = 131_072
    needed = length * KV_TOKEN / GIB
    text = vllm_log(
        "Available KV cache memory: 4.05 GiB",
        f"ValueError: To serve at least one request with the models's max seq len ({length}), ({needed:.2f} GiB KV "
        "cache is needed, which is larger than the available KV cache memory (4.05 GiB). Based on the available "
        "memory, the estimated maximum model length is 33168.",
        length=length,
    )
    answer = run("oom", "--gpu", "rtx-4090", stdin=text)
    assert "vLLM has 4.05 GiB for its KV cache, and one request of the longest context needs 16.00 GiB" in " ".join(
        answer.out.split()
    )
    found = run("oom", "--gpu", "rtx-4090", "--format", "json", stdin=text).json
    rows = {row["figure"]: row for row in found["rows"]}
    assert rows["kv_request"]["counted"] == length * KV_TOKEN and rows["longest"]["log"] == 33_168
    assert found["remedies"] and all(one["option"].startswith("--") for one in found["remedies"])
    assert "name the card (--gpu)" in run("oom", stdin=text).out


def test_a_difference_is_explained_by_what_is_beside_the_pool(run: Run) -> None:
    """Twice the weights, and that much less for the KV cache."""
    text = vllm_log("Model loading took 20.00 GiB", "Available KV cache memory: 1.20 GiB")
    found = run("oom", "--gpu", "rtx-4090", "--format", "json", stdin=text).json
    why = {row["figure"]: row["why"] for row in found["rows"]}
    assert "21.4 bits a weight in the log, 16.0 counted" in why["weights"]
    assert "5.04 GiB more of weights in the log than counted" in why["kv_pool"]


def test_what_archcalc_does_not_count_is_told(run: Run) -> None:
    text = vllm_log("Model loading took 14.9889 GiB").replace("pipeline_parallel_size=1", "pipeline_parallel_size=2")
    assert "not counted here: pipeline_parallel_size=2" in run("oom", stdin=text).out
    text = vllm_log("Model loading took 14.9889 GiB").replace("quantization=None", "quantization=unheard_of")
    found = run("oom", "--format", "json", stdin=text).json
    assert [one.partition(" (")[0] for one in found["unread"]] == ["--weights unheard_of"]


def test_sglang_is_read(run: Run) -> None:
    """The static share of what is free before the weights, less the weights: 0.88 · 36.55 - 0.92 GiB."""
    text = "\n".join(
        (
            "server_args=ServerArgs(model_path='Qwen/Qwen2.5-0.5B-Instruct', dtype='auto', kv_cache_dtype='auto', "
            "quantization=None, context_length=None, mem_fraction_static=0.88, chunked_prefill_size=8192, tp_size=1, "
            "pp_size=1, disable_cuda_graph=True)",
            "[TP0] Load weight begin. avail mem=36.55 GB",
            "[TP0] Load weight end. type=Qwen2ForCausalLM, avail mem=35.57 GB, mem usage=0.98 GB.",
            "[TP0] KV Cache is allocated. #tokens: 2658165, K size: 15.21 GB, V size: 15.21 GB",
            "max_total_num_tokens=2658165, max_running_requests=4096, context_len=32768, available_gpu_mem=4.46 GB",
        )
    )
    found = run("oom", "--format", "json", stdin=text).json
    rows = {row["figure"]: row for row in found["rows"]}
    each = 2 * 24 * 2 * 64 * 2
    pool = 0.88 * 36.55 * GIB - 2 * 494_032_768
    assert rows["kv_pool"]["log"] == pytest.approx(30.42 * GIB)
    assert rows["kv_pool"]["counted"] == pytest.approx(pool, rel=1e-3)
    assert rows["kv_tokens"]["counted"] == pytest.approx(pool / each, rel=1e-3)


def test_llama_cpp_runs_out_of_memory_for_its_kv_cache(run: Run) -> None:
    """Buffers in host RAM are none of the card's; the card is named by the log."""
    length = 131_072
    text = llama_log(
        "load_tensors:   CPU_Mapped model buffer size =   281.81 MiB",
        "load_tensors:        CUDA0 model buffer size =  4403.49 MiB",
        f"ggml_backend_cuda_buffer_type_alloc_buffer: allocating {length * KV_TOKEN / 2**20:.2f} MiB on device 0: "
        "cudaMalloc failed: out of memory",
        "llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache",
        length=length,
    )
    answer = run("oom", stdin=text)
    assert "llama.cpp tried to allocate 16.00 GiB: as large as the KV cache" in answer.out
    found = run("oom", "--format", "json", stdin=text).json
    assert [one["bytes"] for one in found["candidates"]] == [length * KV_TOKEN]
    assert {row["figure"]: row["log"] for row in found["rows"]}["weights"] == pytest.approx(4403.49 * 2**20)
    assert "--gpu 'NVIDIA GeForce RTX 3060'" in found["read"] and "--weights q4_k_m" in found["read"]
    assert found["remedies"]


def test_buffers_of_several_devices_are_added_up(run: Run) -> None:
    lines = (f"load_tensors: CUDA{place} model buffer size = {size}.00 MiB" for place, size in enumerate((2000, 2403)))
    found = run("oom", "--format", "json", stdin=llama_log(*lines)).json
    assert [(row["figure"], row["log"]) for row in found["rows"]] == [("weights", 4403 * 2**20)]


def test_the_last_run_of_a_log_counts(run: Run) -> None:
    text = "\n".join(
        vllm_log(f"Model loading took {size} GiB", length=length) for size, length in ((9, 1024), (14.98, 2048))
    )
    found = run("oom", "--format", "json", stdin=text).json
    assert "--seq 2048" in found["read"] and found["rows"][0]["log"] == pytest.approx(14.98 * GIB)


def test_a_message_that_a_terminal_wrapped_is_read(run: Run) -> None:
    text = re.sub(r"(.{78})\b ", r"\1\n", cuda_message("3.91 GiB"))
    assert "\n" in text
    assert run("oom", *STEP, "--format", "json", stdin=text).json["candidates"]


@pytest.mark.parametrize("format", formats())
def test_every_format_has_it(run: Run, format: str) -> None:
    answer = run("oom", *STEP, "--format", format, stdin=cuda_message("3.91 GiB"))
    assert answer.code == 0 or "there is no picture" in answer.err
    assert "Traceback" not in answer.err


# What is no log


def test_a_log_is_asked_for(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a terminal."""
    file = write(cuda_message("3.91 GiB"), "log.txt")
    assert run("oom", *STEP, "--log", file).code == 0
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    with pytest.raises(InputError, match="no log is given"):
        log_text("-")


@pytest.mark.parametrize(
    "text", ["", "\n\n", "all is well\n", "\0\x01\x1b[31m" * 1000, "out of memory", "Tried to allocate"]
)
def test_a_log_without_a_known_line_is_refused(run: Run, text: str) -> None:
    answer = run("oom", "gpt2", stdin=text)
    assert answer.code == 2
    assert "llama.cpp, PyTorch, SGLang, vLLM" in answer.err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
def test_other_encodings_are_read(run: Run, write: Write, encoding: str) -> None:
    """PowerShell redirects in UTF-16."""
    file = write(f"é {cuda_message('3.91 GiB')}".encode(encoding), "log.txt")
    assert run("oom", *STEP, "--log", file, "--format", "json").json["candidates"]


@pytest.mark.parametrize(
    "text",
    [
        "CUDA out of memory. Tried to allocate " * 100_000,
        "CUDA0 model buffer size = " * 100_000,
        "model buffer size" + "CUDA0" * 400_000,
        "buffer " + "1,111" * 400_000,
        "Load weight end." + " " * 2_000_000 + "usage=",
        "CUDA out of memory. Tried to allocate 99999999999999.99 TiB. GPU 0 has a total capacity of 0 bytes",
        "CUDA out of memory. Tried to allocate 0 bytes. GPU 0 has a total capacity of 999999999999999 TiB",
        vllm_log("Model loading took 0.0 GiB", "Available KV cache memory: -3.20 GiB", length=10**14),
    ],
)
def test_hostile_logs_end_in_an_answer(run: Run, text: str) -> None:
    answer = run("oom", "gpt2", stdin=text)
    assert answer.code in (0, 2) and "Traceback" not in answer.err
    assert answer.out or answer.err.startswith("error: ")


def test_of_a_long_log_both_ends_are_read(run: Run, write: Write) -> None:
    noise = "step 12: loss 3.45, 1.23 GiB\n" * 1_000_000
    file = write(vllm_log("Model loading took 14.98 GiB") + noise + cuda_message("20.00 MiB"), "log.txt")
    found = run("oom", "--log", file, "--format", "json").json
    assert "--engine vllm@0.11.0" in found["read"] and {"tried", "weights"} <= {row["figure"] for row in found["rows"]}


def test_a_model_has_to_be_named(run: Run) -> None:
    answer = run("oom", stdin=cuda_message("3.91 GiB"))
    assert answer.code == 2 and "the log does not name the model" in answer.err
    answer = run("oom", stdin=vllm_log("Model loading took 1.0 GiB", model="someone/some-model"))
    assert answer.code == 2 and "someone/some-model" in answer.err
    assert run("oom", "-", stdin=cuda_message("3.91 GiB")).code == 2
    assert run("oom", "gpt2", "--log", "nowhere.txt").code == 2


# What engines do


def test_a_matrix_that_an_engine_loads_as_one_is_found(run: Run) -> None:
    """Gate and up of a feed-forward layer, on each of two GPUs; transformers loads each by itself."""
    tried = asked_for(2 * 4096 * FFN * 2 // 2)
    text = f"{vllm_log().replace('tensor_parallel_size=1', 'tensor_parallel_size=2')}\n{cuda_message(tried)}"
    found = run("oom", "--format", "json", stdin=text).json["candidates"]
    joined = [(one["what"], one["path"], one["times"]) for one in found if one["phase"] == "loading"]
    assert ("weights of gate, up", "decoder.blocks.ffn", LAYERS) in joined
    apart = run("oom", "llama-3.1-8b", "--tp", "2", "--format", "json", stdin=cuda_message(tried)).json["candidates"]
    assert not [one for one in apart if one["what"] == "weights of gate, up"]


def test_the_share_that_is_enough_is_told(run: Run) -> None:
    """Weights and the keys and values of one request, of what is free before the weights are loaded."""
    text = "\n".join(
        (
            "server_args=ServerArgs(model_path='meta-llama/Llama-3.1-8B', context_length=32768, "
            "mem_fraction_static=0.6, chunked_prefill_size=2048, tp_size=1)",
            "Load weight begin. avail mem=23.21 GB",
            "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
        )
    )
    share = (2 * 8_030_261_248 + 32_768 * KV_TOKEN) / (23.21 * GIB)
    assert f"--gpu-memory-utilization {share + 0.005:.2f} is enough" in run("oom", stdin=text).out
    assert 0.81 < share < 0.82
