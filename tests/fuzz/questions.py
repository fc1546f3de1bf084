"""What is asked of a model: a command with options drawn at random, most of them sensible, some of them not."""

from __future__ import annotations

from random import Random
from typing import Any

from fuzz.case import Case
from fuzz.values import WORDS, odd

FORMATS = ("table", "json", "csv", "latex", "markdown")
SIZES = ("1", "2", "7", "64", "512", "1k", "4Ki", "1e4", "30_000", "1,024")
ODD_SIZES = ("0", "-1", "1.5", "1e15", "1e16", "9" * 400, "²", "nan", "1e999", "8q", "")
NUMBERS = ("bf16", "fp16", "fp32", "fp8")
Choices = tuple[str, ...]

_SHARED: dict[str, Choices] = {"--format": FORMATS, "--batch": SIZES, "--seq": SIZES}
_LENGTHS: dict[str, Choices] = {"--src-seq": SIZES, "--tgt-seq": SIZES}
_TRAINED: dict[str, Choices] = {
    "--recompute": ("none", "selective", "ops", "full"),
    "--attention": ("eager", "flash"),
    "--freeze": ("embedding", "attention", "attention.q", "ffn", "head"),
    "--lora": ("1", "2", "8", "16"),
    "--lora-targets": ("q,v", "all", "q", "ffn"),
}
_MEMORY: dict[str, Choices] = {
    "--mode": ("train", "train", "infer"),
    "--precision": (*NUMBERS, "mixed", "autocast", "master"),
    "--weights": (*NUMBERS, "int8", "int4", "nf4", "nf4_lightning", "mxfp4", "q4_k_m", "q8_0", "iq2_xs"),
    "--optimizer": ("sgd", "adamw", "adam8bit", "adafactor", "muon", "lion"),
    "--accumulate": SIZES,
    "--loss-chunks": SIZES,
    "--kv-dtype": ("bf16", "fp8", "q8_0"),
    "--kv-rule": ("window", "window-1", "window+batch", "full", "vllm"),
    "--state-dtype": NUMBERS,
    "--prefill": SIZES,
    "--overhead": ("0", "1GiB", "500MB"),
    "--tp": ("1", "2", "3", "8"),
    "--dp": ("1", "2", "8"),
    "--zero": ("0", "1", "2", "3"),
    "--sp": (),
    "--cp": ("1", "2", "4"),
    "--pp": ("1", "2", "3"),
    "--ep": ("1", "2", "4"),
    "--habit": ("loss=in_place_fp32", "context=a2a", "loss=fp32"),
    "--code": ("megatron", "megatron", "transformers", "torchtitan", "plain"),
    "--compile": ("none", "blocks", "all"),
}
_TREE: dict[str, Choices] = {"--depth": ("1", "2", "3", "9")}
_WORKING: dict[str, Choices] = {"--explain": (), "--names": ()}

COMMANDS: dict[str, dict[str, Choices]] = {
    "params": {**_SHARED, **_LENGTHS, **_TREE, **_WORKING},
    "shapes": {**_SHARED, **_LENGTHS, **_TREE, "--symbolic": (), "--parameters": ()},
    "diagram": {
        **_SHARED, **_LENGTHS, **_TREE, "--symbolic": (), "--format": ("mermaid", "markdown", "svg", "json"),
    },
    "flops": {
        **_SHARED, **_LENGTHS, **_TREE, **_WORKING, **_TRAINED,
        "--mode": ("train", "prefill", "decode"), "--context": SIZES, "--causal": ("full", "half"), "--tokens": SIZES,
    },
    "memory": {**_SHARED, **_LENGTHS, **_TREE, **_TRAINED, **_MEMORY, "--timeline": ()},
    "fit": {**_SHARED, **_LENGTHS, **_TRAINED, **_MEMORY},
    "kernel": {"--format": FORMATS, "--seq": SIZES, "--v-dim": SIZES},
    "compare": {**_SHARED, **_LENGTHS, **_TREE, "--metric": ("params", "flops", "memory")},
    "plot": {
        **_SHARED, **_LENGTHS, **_TRAINED, **_MEMORY, "--y": ("memory", "cache,memory", "flops", "params", "weights"),
        "--by": ("weights", "batch=1,2", "attention", "heads=2,4"), "--gpu": ("rtx-4090", "1GiB"), "--log": ("x", "y"),
    },
    "show": {},
}  # fmt: skip
AXES = ("seq=16..256", "batch=1,2,4", "d_model=64,128", "attention=eager,flash", "tp=1,2,3", "heads=1..4", "seq=4..1")
GPUS = ("rtx-4090", "h100", "24GiB", "8GB", "80GiB")
CHANGES = (
    "d_model=64", "heads=4", "decoder=3", "encoder=2", "vocab=1000", "ffn=128", "precision=bf16", "head=tied",
    "batch=4", "seq=32", "dropout=0", "decoder=2M", "kv_heads=1", "attention.v_dim=128", "ffn.act=relu",
)  # fmt: skip
_SHARES = {
    "params": 40, "flops": 12, "memory": 18, "shapes": 8, "diagram": 6, "kernel": 5, "compare": 4, "show": 8, "fit": 2,
    "plot": 2,
}  # fmt: skip


def ask(case: Case, *model: str, stdin: bytes = b"", oddly: float = 0.02) -> None:
    """One command about the model; `oddly` is how often an option makes no sense."""
    command = case.random.choices(list(_SHARES), list(_SHARES.values()))[0]
    case.command(*line(command, model, case.random, oddly), stdin=stdin, **surroundings(case.random))


def line(command: str, model: tuple[str, ...], random: Random, oddly: float) -> list[str]:
    """The command, the model (twice to compare it), and a few of its options."""
    words = [command, *model, *(model if command == "compare" else ())]
    named = random.sample(list(COMMANDS[command]), min(len(COMMANDS[command]), random.choice((0, 1, 1, 2, 2, 3, 5))))
    for name in named:
        words += option(name, COMMANDS[command][name], random, oddly)
    if command == "fit":
        words += ["--gpu", random.choice(GPUS)]
    if command == "plot":
        words += ["--x", random.choice(AXES)]
    if random.random() < oddly * 3:
        words += ["--set", random.choice(CHANGES)]
    return words


def option(name: str, choices: Choices, random: Random, oddly: float) -> list[str]:
    if random.random() >= oddly:
        return [name, random.choice(choices)] if choices else [name]
    drawn: Any = random.choice((random.choice(ODD_SIZES), random.choice(WORDS), str(odd(random))))
    return [name, drawn.replace("\0", "0").encode("utf-8", "replace").decode()]  # what a shell can hand over


def surroundings(random: Random) -> dict[str, str]:
    """A terminal of some width, with colour or without."""
    found = {"COLUMNS": random.choice(("80", "80", "80", "20", "45", "200", "1"))}
    return {**found, "FORCE_COLOR": "1"} if random.random() < 0.1 else found
