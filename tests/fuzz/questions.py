"""What is asked of a model: a command with options drawn at random, most of them sensible, some of them not.

Options are those that the command line declares, so that a new one is tried without a line here.
"""

from __future__ import annotations

import re
from functools import cache
from random import Random
from typing import Any

from fuzz.case import Case
from fuzz.values import WORDS, odd

FORMATS = ("table", "json", "csv", "latex", "markdown")
SIZES = ("1", "2", "7", "64", "512", "1k", "4Ki", "1e4", "30_000", "1,024")
FEW = ("1", "1", "2", "2", "3", "4", "8")
ODD_SIZES = ("0", "-1", "1.5", "1e15", "1e16", "9" * 400, "²", "nan", "1e999", "8q", "")
NUMBERS = ("bf16", "fp16", "fp32", "fp8")
STORED = (
    *NUMBERS,
    "int8",
    "int4",
    "nf4",
    "nf4_lightning",
    "mxfp4",
    "q4_k_m",
    "q8_0",
    "iq2_xs",
    "4bit",
    "w4a16",
    "exl2",
)
AXES = ("seq=16..256", "batch=1,2,4", "d_model=64,128", "attention=eager,flash", "tp=1,2,3", "heads=1..4", "seq=4..1")
GPUS = ("rtx-4090", "h100", "24GiB", "8GB", "80GiB", "2xrtx-3090", "rtx-5070-ti+rtx-5090", "cpu", "m4-max-64gb")
CHANGES = (
    "d_model=64", "heads=4", "decoder=3", "encoder=2", "vocab=1000", "ffn=128", "precision=bf16", "head=tied",
    "batch=4", "seq=32", "dropout=0", "decoder=2M", "kv_heads=1", "attention.v_dim=128", "ffn.act=relu",
    "layers[0].conv=8", "layers[-1].linear=9", "layers[99]=relu", "input=64",
)  # fmt: skip
Choices = tuple[str, ...]
NAMED: dict[str, Choices] = {  # what an option that takes names is given
    "--format": FORMATS,
    "--freeze": ("embedding", "attention", "attention.q", "ffn", "head"),
    "--lora-targets": ("q,v", "all", "q", "ffn"),
    "--precision": (*NUMBERS, "mixed", "autocast", "master"),
    "--optimizer": ("sgd", "adamw", "adam8bit", "adafactor", "muon", "lion"),
    "--kv-rule": ("window", "window-1", "window+batch", "full", "vllm"),
    "--kv-dtype": (*STORED, "q5_1", "iq4_nl"),
    "--code-option": ("loss=in_place_fp32", "context=a2a", "loss=fp32"),
    "--code": ("megatron", "megatron", "transformers", "torchtitan", "torchtitan@2024-12", "plain"),
    "--engine": ("vllm", "llama.cpp", "sglang", "mlx", "ollama", "transformers", "vllm@0.11", "plain"),
    "--offload": ("optimizer", "params", "activations,params", "experts", "embedding"),
    "--overhead": ("0", "1GiB", "500MB"),
    "--y": ("memory", "cache,memory", "flops", "params", "weights"),
    "--by": ("weights", "batch=1,2", "attention", "heads=2,4"),
    "--x": AXES,
    "--log": ("x", "y"),
    "--linear": ("x", "y"),
    "--gpu": GPUS,
    "--set": CHANGES,
    "--table": ("weights,context", "batch,weights", "kv-dtype,batch"),
    "--draft": ("gpt2", "llama-3.2-1b"),
    "--family": ("transformer", "lstm", "cnn", "vision", "network", "gpt"),
    "--maker": ("nvidia", "amd", "apple"),
    "--expect": ("117M", "124M", "3.2GB", "0", "1e9", "124,439,808", "7"),
    "--questions": ("params", "params,shapes", "flops", "memory,params"),
}
BY_METAVAR: dict[str, Choices] = {
    "SIZE": SIZES, "N": FEW, "RANK": FEW, "BYTES": ("0", "1GiB", "500MB"), "FORMAT": STORED, "SHARE": ("0.5", "1"),
}  # fmt: skip
LEFT_OUT = {"--trace", "--check", "--force", "--all", "--output", "-o", "--install-completion", "--show-completion"}
USUAL = ("params", "shapes", "diagram", "flops", "memory", "fit", "kernel", "compare", "plot", "show")
_SHARES = (40, 8, 6, 12, 18, 2, 5, 4, 2, 8)


@cache
def options_of(command: str) -> dict[str, Choices]:
    """Its options, and what each is given; nothing for a switch."""
    from typer.main import get_command

    from archcalc.cli.app import app

    whole: Any = get_command(app(command))
    found = whole.commands[command] if hasattr(whole, "commands") else whole
    options = [one for one in found.params if one.opts[0].startswith("-") and one.opts[0] not in LEFT_OUT]
    return {one.opts[0]: _choices(command, one) for one in options}


def _choices(command: str, option: Any) -> Choices:
    name, metavar = option.opts[0], option.metavar or ""
    if option.is_flag:
        return ()
    if command == "diagram" and name == "--format":
        return ("mermaid", "markdown", "svg", "json")
    words = tuple(metavar.split("|")) if "|" in metavar else tuple(re.findall(r"[\w.-]+", option.help or "x"))
    return NAMED.get(name) or BY_METAVAR.get(metavar) or words


def ask(case: Case, *model: str, stdin: bytes = b"", oddly: float = 0.02) -> None:
    """One command about the model; `oddly` is how often an option makes no sense."""
    command = case.random.choices(USUAL, _SHARES)[0]
    case.command(*line(command, model, case.random, oddly), stdin=stdin, **surroundings(case.random))


def line(command: str, model: tuple[str, ...], random: Random, oddly: float) -> list[str]:
    """The command, the model (twice to compare it), and a few of its options."""
    words, known = [command, *model, *(model if command == "compare" else ())], options_of(command)
    named = random.sample(list(known), min(len(known), random.choice((0, 1, 1, 2, 2, 3, 5))))
    if command == "fit" and "--gpu" not in named:
        named.append("--gpu")  # ten devices take long
    if command == "plot" and "--x" not in named:
        named.append("--x")
    for name in named:
        if name != "--set" or random.random() < oddly * 10:
            words += option(name, known[name], random, oddly)
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
