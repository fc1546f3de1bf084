"""Why a run is out of memory, by its message or its log."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from archcalc.cli.declared import takes_options
from archcalc.cli.help import MODEL, RUN, Help
from archcalc.cli.options import Format, Like, Notes, Set, Trace, completed_preset, loaded, show
from archcalc.core.errors import InputError
from archcalc.run.commands import OOM
from archcalc.spec.paths import plain

EXAMPLES = {
    "oom llama-3.1-8b --mode train --batch 4 < error.txt": "why was memory exhausted?",
    "oom --log vllm.log": "the same of a log that names model and card",
    "oom llama-3.1-8b --gpu 4090 --log error.txt": "what would make it fit this card?",
}
HELP = Help(RUN, EXAMPLES, place=2)

END = 2**20  # bytes of the beginning and of the end of a log that are read: its settings, and what happened last
MOST = 2**30  # bytes of a log
HOW = "pipe one in, `archcalc oom llama-3-8b < log.txt`, or name the file: --log log.txt"
NAME_IT = "name it: `archcalc oom MODEL < log.txt`; `archcalc presets` lists all"

Model = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL",
        rich_help_panel=MODEL,
        autocompletion=completed_preset,
        show_default=False,
        help="A preset, a file (YAML, config.json, safetensors, GGUF) or hf:owner/name. A folder of Hugging Face is "
        "one too. Without one: the preset that the log names.",
    ),
]
File = Annotated[
    str, typer.Option("--log", metavar="FILE", help="The log, or - for standard input.", show_default=False)
]


@takes_options
def oom(
    model: Model = None,
    log: File = "-",
    *,
    options: Annotated[Mapping[str, Any], OOM],
    set: Set = [],
    like: Like = None,
    format: Format = "table",
    notes: Notes = False,
    trace: Trace = False,
) -> None:
    """Why did it run out of memory? Reads an out-of-memory message, or the start-up log of an engine.

    Which tensors are as large as the allocation that failed, in which step; every figure of the log beside what is
    counted; which flags make it fit. Reads PyTorch (CUDA, ROCm, XPU, MPS), vLLM, SGLang and llama.cpp. What the log
    says of the run (engine, version, context, formats, card) is taken unless an option says otherwise; batch and length
    of a training step are options.
    """
    from archcalc.analyze.oom.answer import explained
    from archcalc.analyze.oom.reading import read

    if model == "-":
        raise InputError("standard input is the log", "name the model by its file or its preset", field="MODEL")
    found = read(log_text(log))
    if model is None:
        model = _named(found.model)
    show(explained(loaded(model, set, like=like, trace=trace), found, options), format, notes=notes)


def _named(name: str) -> str:
    """The preset that a log's name means."""
    from archcalc.loading import preset_called
    from archcalc.spec.paths import presets

    if not name:
        raise InputError("the log does not name the model", NAME_IT, field="MODEL")
    preset = preset_called(name, presets())
    if not preset:
        raise InputError(f"no preset is called {name}, as the log names the model", NAME_IT, field="MODEL")
    return preset[0]


def log_text(name: str) -> str:
    """The beginning and the end of a log; Windows writes UTF-16 where a shell redirects."""
    try:
        if name != "-":
            with plain(Path(name).expanduser()).open("rb") as stream:
                raw = _ends(stream)
        elif sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
            raise InputError("no log is given", HOW, field="--log")
        else:
            raw = _ends(sys.stdin.buffer)
    except (OSError, RuntimeError, ValueError) as reason:
        raise InputError(f"cannot be read: {getattr(reason, 'strerror', None) or reason}", HOW, field=name) from None
    is_wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if is_wide else "utf-8", errors="replace")


def _ends(stream: BinaryIO) -> bytes:
    first, last, length = stream.read(END), b"", END
    while more := stream.read(END):
        last, length = (last + more)[-END:], length + len(more)
        if length > MOST:
            raise InputError("the log is longer than 1 GiB", "cut out the start and the error", field="--log")
    return first + last
