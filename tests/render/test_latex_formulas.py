"""Formulas in LaTeX, from the working of a count, and texts in LaTeX, from any characters."""

from __future__ import annotations

import pytest

from archcalc.core.count import Count, product, total
from archcalc.core.expression import written
from archcalc.render.latex.formula import AS_NUMBERS, Maths, Symbols, equation_lines, latex
from archcalc.render.latex.text import sentence, text

D_MODEL, HEAD_DIM = Count.named("d_model", 1024), Count.named("head_dim", 192)
HEADS = Count.named("heads", 4, copies=True)


def by_symbols(count: Count, *names: str) -> str:
    symbols = Symbols(names)
    return latex(written(count.expression, Maths(lambda leaf: symbols.symbol(leaf.name) if leaf.name else None)))


def test_copies_stand_in_front_as_in_the_table() -> None:
    head = total([product([D_MODEL, HEADS, HEAD_DIM]), product([HEADS, HEAD_DIM])])
    numbers = latex(written(total([head] * 3).expression, AS_NUMBERS))
    assert numbers == "4 \\times 3 \\times (1024 \\times 192 + 192)"
    symbols = by_symbols(head, "heads", "d_model", "head_dim")
    assert symbols == "h \\times (d_{\\mathrm{model}} \\times d_{\\mathrm{head}} + d_{\\mathrm{head}})"


def test_an_integer_division_is_a_floor() -> None:
    """The output size of a convolution: ⌊(224 + 2 × 3 − 7) / 2⌋ + 1."""
    size = (Count(224) + 2 * Count(3) - 7) // 2 + 1
    fraction = "\\frac{(224 + 2 \\times 3) - 7}{2}"
    assert latex(written(size.expression, AS_NUMBERS)) == f"\\left\\lfloor {fraction} \\right\\rfloor + 1"


def test_a_power_is_raised() -> None:
    assert latex(written((Count(14) ** 2).expression, AS_NUMBERS)) == "{14}^{2}"


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("d_model", "d_{\\mathrm{model}}"),
        ("head_dim", "d_{\\mathrm{head}}"),
        ("kv_heads", "h_{\\mathrm{kv}}"),
        ("kv_src_seq", "N_{\\text{kv src}}"),
        ("vocab", "V"),
        ("experts", "n_{\\mathrm{experts}}"),
        ("heads·head_dim", "h\\,d_{\\mathrm{head}}"),
        ("input+hidden", "(d_{\\mathrm{input}} + d_{\\mathrm{hidden}})"),
        ("channels_2", "C_{2}"),
        ("kernel_width", "K_{\\mathrm{w}}"),
        ("frames_1", "n_{\\text{frames 1}}"),
        ("2·input", "2\\,d_{\\mathrm{input}}"),
        ("50 % & more", "n_{\\text{50 \\% \\& more}}"),
    ],
)
def test_a_dim_has_a_symbol(name: str, symbol: str) -> None:
    assert Symbols([name]).symbol(name).latex == symbol


def test_two_dims_have_two_symbols() -> None:
    """Even where both would be d with the same word."""
    symbols = Symbols(["embedding", "embedding_width"])
    assert symbols.symbol("embedding").latex != symbols.symbol("embedding_width").latex


def test_a_long_formula_is_broken_before_a_term() -> None:
    """Best outside all brackets, and never so that a line is too long while it can be broken."""
    terms = total([D_MODEL * HEAD_DIM + HEAD_DIM] + [Count(10**6 + i) * 3 for i in range(4)])
    lines = equation_lines([written(terms.expression, AS_NUMBERS)], room=20)
    assert lines[0].startswith("= (1024 \\times 192 + 192)")
    assert all(line.startswith("\\qquad +") for line in lines[1:])
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (
            "a_b 50% & #1 $2 {x} ~ ^ \\",
            "a\\_b 50\\% \\& \\#1 \\$2 \\{x\\} \\textasciitilde{} \\textasciicircum{} \\textbackslash{}",
        ),
        ("Γu ≤ α·β × ⟨t−1⟩", "$\\Gamma$u $\\le$ $\\alpha$$\\cdot$$\\beta$ $\\times$ $\\langle$t$-$1$\\rangle$"),
        ("c̃ é ŷ Å ß", "\\~{c} \\'{e} \\^{y} \\AA{} \\ss{}"),
        ("x² W₁ ¾", "x$^{\\text{2}}$ W$_{\\text{1}}$ 3/4"),
        ("--seq –", "-{}-seq --"),
        ("中 Ж", "\\texttt{[U+4E2D]} \\texttt{[U+0416]}"),
    ],
)
def test_a_text_is_written_in_ascii(words: str, written: str) -> None:
    assert text(words) == written


def test_a_sentence_has_commands_and_addresses() -> None:
    """A command in typewriter type; an address may be broken where it has signs."""
    assert sentence("see `archcalc gpus`") == "see \\texttt{archcalc gpus}"
    assert "/\\allowbreak{}" in sentence("https://example.org/a/long/address/of/a/page")
