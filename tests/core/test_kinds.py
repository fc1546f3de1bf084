"""Analyses ask what a kind of op is like; none of them knows a kind by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import pytest
from support import sources

from archcalc import load
from archcalc.core.ir import Op, walk
from archcalc.core.op_pictures import PICTURES
from archcalc.core.ops import KINDS

ASKING = ("core", "storage", "run", "analyze", "report", "render", "verify")


def by_name(nodes: Iterable[ast.AST]) -> list[int]:
    """Lines that compare the kind of an op with a name, look a name up in the table, or list names of kinds."""
    return sorted({node.lineno for node in nodes if isinstance(node, ast.expr) and _knows(node)})


def _knows(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(map(_is_kind, sides)) and any(_names(side) for side in sides)
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Name) and node.value.id == "KINDS" and _names(node.slice)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
        return _is_kind(node.func.value)
    return False


def _is_kind(node: ast.expr) -> bool:
    """`op.kind`, `step.op.kind`, or a set of kinds."""
    op = isinstance(node, ast.Attribute) and node.attr == "kind"
    return (op and ast.unparse(node).split(".")[-2:] == ["op", "kind"]) or (
        isinstance(node, ast.Name) and node.id == "kinds"
    )


def _names(node: ast.expr) -> bool:
    texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    return any(text in KINDS for text in texts if isinstance(text, str))


def test_no_analysis_knows_a_kind_by_its_name() -> None:
    files = [file for file in sources.files(*ASKING) if not file.endswith("/ops.py")]
    assert [f"{file}:{line}" for file in files for line in by_name(sources.nodes(file))] == []


@pytest.mark.parametrize(
    "code",
    [
        'op.kind == "contract"',
        'step.op.kind in ("flash", "bent_flash")',
        '"append" in kinds',
        'KINDS["softmax"]',
        'op.kind.startswith("softmax")',
    ],
)
def test_that_test_finds_names(code: str) -> None:
    assert by_name(ast.walk(ast.parse(code))) == [1]


def moved(op: Op) -> tuple[int, int]:
    """Elements that an op reads and writes."""
    return (
        sum(int(number) for _, number in op.traits.reads(op)),
        sum(int(number) for _, number in op.traits.writes(op)),
    )


def test_a_lookup_reads_rows_and_an_append_writes_what_is_new() -> None:
    """GPT-2 decoding after 99 tokens: one row of 50,257 is read, and one position of 100 is written to each cache."""
    model = load("gpt2")
    ops = [op for module, _ in walk(model.build(model.workload(mode="decode", context=99))) for op in module.ops]
    tokens = next(op for op in ops if op.kind == "lookup")
    keys = next(op for op in ops if op.kind == "append")
    assert moved(tokens) == (1 + 768, 768)
    assert int(keys.output.size) == 100 * 768
    assert moved(keys) == (768, 768)


def test_a_view_moves_nothing_and_a_product_all_of_its_tensors() -> None:
    model = load("gpt2")
    ops = [op for module, _ in walk(model.build(model.workload(seq=10))) for op in module.ops]
    assert {moved(op) for op in ops if op.traits.view} <= {(0, 0)}
    product = next(op for op in ops if op.kind == "contract" and op.output.shape == (1, 10, 3072))
    assert moved(product) == (10 * 768 + 768 * 3072, 10 * 3072)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_makes_no_tensor_is_a_view_enters_or_is_only_shown(kind: str) -> None:
    """A step of memory's schedule stands for everything else."""
    assert KINDS[kind].allocates == (kind not in ("view", "identity", "input", "ids", "show"))


def test_a_picture_belongs_to_a_kind_that_is_there() -> None:
    assert set(PICTURES) <= set(KINDS)


@pytest.mark.parametrize("kind", sorted(kind for kind in KINDS if KINDS[kind].view))
def test_a_view_is_left_out_of_pictures(kind: str) -> None:
    assert PICTURES[kind].unseen
