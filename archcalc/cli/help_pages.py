"""Help as text: the page of a command, the list of commands, and what `archcalc` alone says."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from archcalc.cli import commands, printing
from archcalc.cli.help import ARGUMENTS, GROUPS, HEADINGS, OPTIONS
from archcalc.render.style import BOLD, CYAN, DIM, styled

WIDEST, LEAST, MARGIN, GAP = 110, 20, 2, 2  # columns: of a page, of a sentence, before and behind a name
NAME_SHARE = 0.32  # of the width, for names; a longer one has a line to itself
ABOUT = "Neural networks counted exactly: parameters, shapes, FLOPs, memory, and what fits on which GPU."
START = {
    "llama-3.1-8b": "the model on one screen",
    "fit llama-3.1-8b --gpu 4090": "does it fit my card?",
    "memory gpt2 --mode train": "what does training it take?",
    "params textbook --explain": "how is it worked out?",
}
MODELS = "A model is a preset (`archcalc presets` lists them), a config.json, safetensors, GGUF, hf:owner/name or YAML."
ALL = ("archcalc --help", "", "every command")
MORE = (
    ("archcalc COMMAND --help", "", "its options, with examples"),
    ("archcalc --install-completion", "", "commands, models and devices by the Tab key"),
    ("archcalc --version", "", "which version this is"),
)
Entry = tuple[str, str, str]  # a name, what kind of value it takes, a sentence


def welcome() -> str:
    """What to type first."""
    width = _width()
    return _joined([wrapped(ABOUT, width), examples(START, width), wrapped(MODELS, width), listed([ALL], width)])


def program() -> str:
    """Commands by what they are for; first of all what needs no command."""
    width = _width()
    usage = [_usage("archcalc MODEL"), _usage("archcalc COMMAND [MODEL] [OPTIONS]", "       ")]
    blocks = [usage, wrapped(ABOUT, width), examples(START, width), *_groups(width)]
    return _joined([*blocks, wrapped(MODELS, width), [_heading("More"), *listed(MORE, width)]])


def _groups(width: int) -> Iterator[list[str]]:
    declared = {name: commands.help_of(name) for name in commands.names()}
    for group in GROUPS:
        own = sorted((each.place, name) for name, each in declared.items() if each.group == group)
        if own:
            entries = [(name, "", commands.sentence(name)) for _, name in own]
            yield [styled(group, BOLD), *listed(entries, width, max(map(len, declared)))]


def command(name: str, page: Any, *, every: bool) -> str:
    """Usage, what it answers, three examples, its options by question: all in full, or the first ones in brief."""
    width, params = _width(), [one for one in page.params if not getattr(one, "hidden", False)]
    arguments = [_value(one, required=one.required) for one in params if _is_argument(one)]
    options = ["[OPTIONS]"] if len(arguments) < len(params) else []
    shown = [one for one in params if every or not getattr(_panel(one), "is_rest", False)]
    left_out = len(params) - len(shown)
    paragraphs = (page.help or "").split("\n\n")
    blocks = [
        [_usage(" ".join(["archcalc", name, *arguments, *options]))],
        *(wrapped(" ".join(text.split()), width) for text in paragraphs[: 1 if left_out else None]),
        examples(commands.help_of(name).examples, width),
        *_panels(shown, width, brief=bool(left_out)),
    ]
    if left_out:
        several = "options" if left_out > 1 else "option"
        blocks.append(listed([(f"archcalc {name} --help-all", "", f"in full, with {left_out} more {several}")], width))
    return _joined(blocks)


def _panels(params: list[Any], width: int, *, brief: bool) -> Iterator[list[str]]:
    """Names stand in one column on the whole page."""
    entries = {one.name: _entry(one, brief=brief) for one in params}
    fitting = [size for entry in entries.values() if (size := _columns(entry)) <= width * NAME_SHARE]
    for heading in HEADINGS:
        own = [entries[one.name] for one in params if _panel(one) == heading]
        if own:
            yield [_heading(heading), *listed(own, width, max(fitting, default=0))]


def _panel(param: Any) -> str:
    usual = ARGUMENTS if _is_argument(param) else OPTIONS
    return getattr(param, "rich_help_panel", None) or usual


def _is_argument(param: Any) -> bool:
    return bool(param.param_type_name == "argument")


def _entry(param: Any, *, brief: bool) -> Entry:
    """In brief, the first sentence."""
    sentence = " ".join((param.help or "").split())
    if brief:
        sentence = sentence.partition(". ")[0].rstrip(".") + "."
    has_usual = isinstance(param.default, str) and param.default and param.show_default
    usual = f" Default: {param.default}." if has_usual else ""
    if _is_argument(param):
        return _value(param), "", sentence
    flags = ", ".join(sorted(param.opts, key=len))
    return flags, "" if param.is_flag else _value(param), sentence + usual


def _value(param: Any, *, required: bool = True) -> str:
    """`[MODEL]` where it may be left out."""
    said = str(param.metavar or param.name.upper()) + ("..." if param.nargs != 1 else "")
    return said if required else f"[{said}]"


def examples(known: Mapping[str, str], width: int) -> list[str]:
    """What a command answers beside it, or above it where they are too wide."""
    lines = [f"archcalc {line}" for line in known]
    longest, said = max(map(len, lines), default=0), list(known.values())
    if not lines:
        return []
    if MARGIN + longest + GAP + max(map(len, said)) <= width:
        pairs = zip(lines, said, strict=True)
        return [_heading("Examples"), *(f"  {line:<{longest}}  {styled(text, DIM)}" for line, text in pairs)]
    stacked = [(styled(f"  # {text}", DIM), f"  {line}") for line, text in zip(lines, said, strict=True)]
    return [_heading("Examples"), *(line for pair in stacked for line in pair)]


def listed(entries: Sequence[Entry], width: int, column: int | None = None) -> list[str]:
    """Names, and a sentence behind each; beneath it where the name is longer than the column."""
    column = max(map(_columns, entries)) if column is None else column
    lines, indent = [], " " * (MARGIN + column + GAP)
    for name, kind, sentence in entries:
        behind = column - _columns((name, kind, sentence))
        left = f"  {styled(name, CYAN)}{f' {styled(kind, DIM)}' if kind else ''}"
        first, *others = wrapped(sentence, max(width - len(indent), LEAST)) or [""]
        lines += [f"{left}{' ' * (behind + GAP)}{first}"] if behind >= 0 else [left, indent + first]
        lines += [indent + line for line in others]
    return lines


def _columns(entry: Entry) -> int:
    """Of the name with the kind of its value."""
    name, kind, _ = entry
    return len(f"{name} {kind}".rstrip())


def wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False)


def _usage(text: str, before: str = "Usage: ") -> str:
    return f"{styled(before, DIM) if before.strip() else before}{styled(text, BOLD)}"


def _heading(text: str) -> str:
    return styled(f"{text}:", BOLD)


def _width() -> int:
    return min(printing.width(), WIDEST)


def _joined(blocks: Iterable[list[str]]) -> str:
    return "\n\n".join("\n".join(block) for block in blocks if block)
