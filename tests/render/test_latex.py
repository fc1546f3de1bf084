"""LaTeX: what is written compiles and fits the page, and the working stands there as equations."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from support.latex_engine import compiled, needs_engine

from archcalc.render import render
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table, heading

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

ASKED = [
    ("params", "--explain"),
    ("shapes", "--symbolic"),
    ("flops", "--explain", "--mode", "prefill"),
    ("compare", "gpt2", "gpt2-medium", "llama-3-8b"),
    ("params", "mixtral-8x7b", "--explain", "--names"),
    ("params", "sentiment-lstm", "--explain"),
    ("kernel", "gpt2"),
    ("gpus", "h100"),
    ("compare", *["gpt2"] * 9, "t5-small"),
]
HOSTILE = r"50 % of $x_1^2 & #3 ~ {\input{/etc/passwd}} \undefined ·×⟨⟩Γ≤√²₁c̃é中文🎉 ---a ?` <b> | `c`" + "\n\n\x1b[2J"
SPEC = {"vocab": 10, "d_model": 8, "heads": 2, "ffn": 8, "decoder": 1}


def pasted(*fragments: str) -> str:
    """A plain article of fragments, with the packages that their first lines name."""
    needed = [fragment.splitlines()[0] for fragment in fragments]
    packages = {name for line in needed for name in re.findall(r"\\usepackage\{(.*?)\}", line)[0].split(",")}
    head = f"\\documentclass{{article}}\n\\usepackage{{{','.join(sorted(packages))}}}\n\\begin{{document}}"
    return "\n\n".join([head, *fragments, "\\end{document}"])


@needs_engine
def test_fragments_compile_in_a_plain_article(run: Run, tmp_path: Path) -> None:
    """All in one document, as a course's sheet has them: no line of a table or an equation is too long for it."""
    fragments = [run(*asked, "--format", "latex").out for asked in ASKED]
    assert all(fragment.isascii() for fragment in fragments)
    assert "Output written" in compiled(pasted(*fragments), tmp_path)


@needs_engine
@pytest.mark.parametrize("asked", [ASKED[0], ("gpus",)], ids=["params", "gpus"])
def test_a_document_compiles_as_it_is(run: Run, tmp_path: Path, asked: tuple[str, ...]) -> None:
    """Tables that are too wide are laid across the page, and long ones go on over several."""
    assert "Output written" in compiled(run(*asked, "--format", "latex-document").out, tmp_path)


@needs_engine
def test_a_name_with_any_characters_compiles(run: Run, tmp_path: Path) -> None:
    """No command in a name is obeyed, and no character is missing from the fonts."""
    spec = tmp_path / "hostile.yaml"
    spec.write_text(json.dumps({**SPEC, "name": HOSTILE}, ensure_ascii=False), encoding="utf-8")
    source = run("params", str(spec), "--explain", "--format", "latex-document").out
    assert "50 \\% of \\$x\\_1" in source
    assert "passwd" not in re.sub(r"\\subsection\*\{.*", "", compiled(source, tmp_path))


def equations(source: str) -> list[str]:
    """The equations of all `align*`, each in one line."""
    blocks = re.findall(r"\\begin\{align\*\}\n(.*?)\\end\{align\*\}", source, re.DOTALL)
    joined = re.sub(r"\\\\\n&(\\q?quad )*(?=[=+-]|\\times)", " ", "\\\\".join(blocks))
    lines = joined.replace("\n", " ").split("\\\\")
    return [re.sub(r"\s+", " ", line).strip() for line in lines]


def test_the_textbooks_working_as_equations(run: Run) -> None:
    """Symbol, formula, numbers, value: the lines of the course's solution."""
    written = equations(run("params", "--explain", "--format", "latex").out)
    embedding = "V \\times d_{\\mathrm{model}} + d_{\\mathrm{model}} = 30000 \\times 1024 + 1024 = 30{,}721{,}024"
    ffn = "(1024 \\times 512 + 512) + (512 \\times 1024 + 1024) = 1{,}050{,}112"
    assert f"P_{{\\text{{source embedding}}}} &= {embedding}" in written
    assert any(line.startswith("P_{\\mathrm{ffn}} &= ") and line.endswith(ffn) for line in written)
    assert written[0].startswith("P &= P_{\\text{source embedding}} + n_{\\text{encoder blocks}} \\times P_{")
    assert written[0].endswith("= 201{,}466{,}160")


SYMBOL = re.compile(r"[A-Za-z](?:_\{\\(?:mathrm|text)\{[^{}]*\}\})?")


def steps_of(line: str) -> list[str]:
    """Left side, formula, numbers and value, as Python reads them but for the symbols."""
    signs = {"&": "", "\\quad": "", "\\,": "*", "\\times": "*", "{,}": ""}
    for sign, read in signs.items():
        line = line.replace(sign, read)
    return [step.strip() for step in line.split("=")]


def sizes(source: str) -> dict[str, int]:
    """Symbols that the legend explains by one size."""
    rows = re.findall(r"^\$(.*?)\$ & .* & ([\d,]+) \\\\$", source, re.MULTILINE)
    return {symbol: int(size.replace(",", "")) for symbol, size in rows}


def defined(block: str) -> dict[str, int]:
    """Symbols by the values of their equations."""
    lines = map(steps_of, equations(block))
    return {step: int(steps[-1]) for steps in lines for step in steps[:-1] if SYMBOL.fullmatch(step)}


@pytest.mark.parametrize(
    ("asked", "least"),
    [
        (("params", "textbook"), 30),
        (("params", "deepseek-v3"), 30),
        (("params", "sentiment-lstm"), 14),
        (("flops", "gemma-3-1b"), 25),
    ],
)
def test_every_step_of_an_equation_comes_to_its_value(run: Run, asked: tuple[str, ...], least: int) -> None:
    """With the sizes of the legend and the values of other equations, first those under the same heading."""
    source = run(*asked, "--explain", "--format", "latex").out
    blocks = source.split("\\textit{")
    elsewhere = {symbol: value for block in blocks for symbol, value in defined(block).items()}
    evaluated = 0
    for block in blocks:
        known = {**elsewhere, **defined(block), **sizes(source)}
        for line in equations(block):
            _, *steps, value = steps_of(line)
            for step in (step for step in steps if set(SYMBOL.findall(step)) <= set(known)):
                read = SYMBOL.sub(lambda found: f"known[{found[0]!r}]", step)
                assert eval(read) == int(value), line
                evaluated += 1
    assert evaluated >= least


@pytest.mark.parametrize("asked", [("params", "textbook"), ("params", "sentiment-lstm"), ("flops", "textbook")])
def test_no_symbol_stands_for_two_numbers(run: Run, asked: tuple[str, ...]) -> None:
    """Within the equations under one heading; those of another part may use it anew."""
    source = run(*asked, "--explain", "--format", "latex").out
    for block in source.split("\\textit{"):
        lefts = [line.split(" &=")[0] for line in equations(block)]
        assert len(lefts) == len(set(lefts)), lefts


def test_names_instead_of_numbers(run: Run) -> None:
    """The formula and its value alone."""
    written = equations(run("params", "--explain", "--names", "--format", "latex").out)
    head = "d_{\\mathrm{model}} \\times V + V = 30{,}750{,}000"
    assert f"P_{{\\mathrm{{head}}}} &= {head}" in written


def test_tables_show_the_tree_and_its_repetitions(run: Run) -> None:
    """Depth by indentation, copies by their number."""
    source = run("params", "--format", "latex").out
    assert "\\hspace*{1em}block & $\\times 12$ & 4,203,264 & 50,439,168 & 25.0 \\% \\\\" in source
    assert "align*" not in source


def test_shapes_are_products(run: Run) -> None:
    """By sizes, or by the symbols that a legend explains."""
    assert "$32 \\times 2048 \\times 1024$" in run("shapes", "--format", "latex").out
    symbolic = run("shapes", "--symbolic", "--format", "latex").out
    assert "$B \\times N_{\\mathrm{src}} \\times d_{\\mathrm{model}}$" in symbolic
    assert "$d_{\\mathrm{model}}$ & width of the residual stream & 1,024 \\\\" in symbolic


class Noted(Report):
    """A heading over a claim with two notes."""

    def title(self) -> str:
        return "claims"

    def answer(self) -> str:
        return "one claim"

    def table(self) -> Table:
        claim = Line(("a_b", 1), 1, notes=("1. A step.", "source: 50 % of it"))
        columns = (Column[object]("", "claim", "name"), Column[object]("", "n", "count"))
        return Table(columns, (heading("all", columns), claim))


def test_headings_and_notes_take_the_whole_line() -> None:
    source = render(Noted("claims", ()), "latex")
    across = r"\\multicolumn\{2\}\{@\{\}p\{[\d.]+em\}@\{\}\}\{.*"
    assert re.search(across + r"\\textbf\{all\}\} ", source)
    assert "\\hspace*{1em}a\\_b & 1" in source
    assert re.search(across + r"source: 50 \\% of it\} ", source)


def test_a_wide_comparison_is_laid_across_the_page(run: Run) -> None:
    two, six = (run("compare", *["gpt2"] * number, "t5-small", "--format", "latex").out for number in (1, 5))
    assert "landscape" not in two
    assert "\\begin{landscape}" in six
    assert "pdflscape" in six.splitlines()[0]


def test_columns_that_fit_no_page_are_named(run: Run) -> None:
    """As in a terminal that is too narrow."""
    source = run("compare", *["gpt2"] * 9, "t5-small", "--format", "latex").out
    assert "$-$ A, J $-$ A left out: the page is too narrow" in source
    assert "J $-$ A &" not in source
    assert source.count("\\begin{longtable}") == 2
