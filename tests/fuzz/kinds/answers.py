"""ANSWERS files that students fill in: cells as people write them, sheets that were changed, whole folders of files."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from random import Random
from typing import Any

from fuzz import bytewise, questions, treewise
from fuzz.case import Case
from fuzz.kinds.specs import dumped
from fuzz.values import odd

MODELS = ("lenet-5", "mlp-mnist", "textbook", "sentiment-lstm", "vae-mnist", "word2vec-cbow", "resnet-18", "rnnsearch")
QUESTIONS = ("params", "shapes", "params,shapes", "flops", "memory", "params,flops")
MARKED = (0, 1, 2)  # exit codes: all right, not all, unreadable
SIGNS = ("+", "-", "*", "/", "//", "^", "**", "×", "·", "x", "\\times", "\\cdot", ",", "=", ":", "%", "÷", "−")
NAMES = (
    "B",
    "N",
    "V",
    "d",
    "d_model",
    "batch",
    "heads",
    "h",
    "n",
    "e",
    "inf",
    "GB",
    "GiB",
    "k",
    "M",
    "bytes",
    "π",
    "∞",
)
WORDS = (
    "I do not know", "?", "-", "n/a", "30 721 024", "30.721.024", "30'721'024", "30,721,024.00", "3.07e7",
    "30M", "30.7 M", "۳۰۷۲۱", "٣٠٧", "３０", "30000 \\times 1024", "$30000$", "B x N x V", "(B, N, V)",
    "[8, 100, 64]", "8 × 100 × (4·16)", "= 5", "5 =", "5 + 5 = 10", "10 (= 5 + 5)", "about 100", "~100",
    "100 params", "4 bytes", "1/0", "0/0", "2**9999999", "9**9**9", "10^10^10", "1" * 4000, "(" * 500,
    "1+" * 2000 + "1", "((1)", "1)", "max(1,2)", "__import__('os')", "\\frac{1}{2}", "None", "nan", "-0",
    "1e400", "0x10", "1_000", "½", "2²", "2⁹", "10³", "'", "\"", "\x1b[2J", "a\nb", "\ud800", "=cmd",
)  # fmt: skip


def run(case: Case) -> None:
    names = [case.write(f"class/{name}.yaml", text(case)) for name in _students(case)]
    about = case.random.choice((names[0], "class")) if case.chance(0.3) else names[0]
    words = ["check", about, "--format", case.random.choice(questions.FORMATS)]
    if case.chance(0.2):
        words += ["--sheet", case.write("sheet.yaml", dumped(_sheet(case), False))]
    case.codes = MARKED
    case.command(*words, stdin=b"", **questions.surroundings(case.random))


def _students(case: Case) -> list[str]:
    return case.random.sample(("a", "b", "Ali Reza", "=1+1", "سارا", "x;y"), case.random.choice((1, 1, 1, 3)))


def text(case: Case) -> bytes:
    """A sheet with its cells filled in, at times with more changed than that."""
    tree = _sheet(case)
    wrong = case.random.choice((0.1, 0.5, 1))
    for holder, key in treewise.places(tree["answers"]):
        if not isinstance(holder[key], dict | list) and case.chance(wrong):
            holder[key] = cell(case.random, holder[key])
    if case.chance(0.2):
        tree = treewise.mutated(tree, case.random, gently=case.chance(0.5))
    written = dumped(tree, case.chance(0.1))
    return bytewise.mutated(written, case.random) if case.chance(0.1) else written


def cell(random: Random, right: Any) -> Any:
    """Nothing like the figure that is right, or close to it."""
    chosen = random.random()
    if isinstance(right, int) and chosen > 0.8:
        return random.choice(
            (right * 2, right * 4, right + 1, right // 2, f"{right:,}", f"{right} + 1", f"{right / 1e6} M")
        )
    if chosen < 0.25:
        return random.choice(WORDS)
    if chosen < 0.3:
        return odd(random)
    if chosen < 0.5:
        return random.choice((1, 6, 156, 2416, 61706, 30721024, 10**15, 0.5, -3))
    if chosen < 0.65:
        return f" {random.choice(('x', '×', ',', '*'))} ".join(_term(random) for _ in range(random.randint(1, 5)))
    return _sum(random, 0)


def _term(random: Random) -> str:
    return (
        random.choice(NAMES)
        if random.random() < 0.15
        else str(random.choice((1, 2, 4, 5, 8, 16, 64, 100, 1024, 30000)))
    )


def _sum(random: Random, depth: int) -> str:
    if depth > 3 or random.random() < 0.4:
        return _term(random)
    sign = random.choice(SIGNS if random.random() < 0.1 else SIGNS[:3])
    written = f"{_sum(random, depth + 1)} {sign} {_sum(random, depth + 1)}"
    return f"({written})" if random.random() < 0.4 else written


def _sheet(case: Case) -> Any:
    return deepcopy(_printed(case.random.choice(MODELS), case.random.choice(QUESTIONS)))


@cache
def _printed(model: str, asked: str) -> Any:
    """The file that a teacher hands out, solved."""
    import archcalc
    from archcalc.exercises.answers import written
    from archcalc.exercises.sheet import worksheet
    from archcalc.spec.yaml_reader import read

    sheet = worksheet(archcalc.load(model), seed=None, questions=asked.split(","), depth=None)
    return read(written(sheet, solved=True).encode(), model).data
