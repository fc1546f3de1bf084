"""What happens when the input is at fault: one message with file, line, field and a way out, and exit code 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import archcalc

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write

GOOD = "vocab: 1000\nd_model: 64\nheads: 4\nffn: 128\ndecoder: 2\n"

# what is wrong, the spec, where it must be found, and what the message must say
MISTAKES = [
    ("a misspelt field", "d_modl: 64\n", "model.yaml:1: d_modl", "did you mean d_model?"),
    ("a misspelt field inside", GOOD + "norm: {plase: post}\n", "model.yaml:6: norm.plase", "did you mean place?"),
    ("a misspelt choice", GOOD + "norm: {place: psot}\n", "model.yaml:6: norm.place", "did you mean post?"),
    ("a misspelt kind", GOOD + "position: ropee\n", "model.yaml:6: position", "did you mean rope?"),
    ("a misspelt family", "family: transfromer\n", "model.yaml:1: family", "did you mean transformer?"),
    (
        "a misspelt part",
        GOOD + "variants:\n  x: {like: atention}\n" + "bias: true\n",
        "model.yaml:7: variants.x",
        "name it in a pattern",
    ),
    (
        "a field of another kind",
        GOOD + "position: {kind: alibi, theta: 5}\n",
        "model.yaml:6: position.theta",
        "alibi has",
    ),
    ("text for a size", GOOD.replace("64", "wide"), "model.yaml:2: d_model", "expected a whole number"),
    (
        "a bool for a size",
        GOOD.replace("heads: 4", "heads: true"),
        "model.yaml:3: heads",
        "expected a whole number, found true",
    ),
    ("a float for a size", GOOD.replace("heads: 4", "heads: 4.0"), "model.yaml:3: heads", "found 4.0"),
    ("a list for a size", GOOD.replace("heads: 4", "heads: [4]"), "model.yaml:3: heads", "found a list"),
    ("fields for a size", GOOD.replace("heads: 4", "heads: {a: 4}"), "model.yaml:3: heads", "found fields"),
    ("nothing for a size", GOOD.replace("heads: 4", "heads:"), "model.yaml:3: heads", "found nothing"),
    ("zero", GOOD.replace("heads: 4", "heads: 0"), "model.yaml:3: heads", "expected a size from 1"),
    ("a negative size", GOOD.replace("64", "-64"), "model.yaml:2: d_model", "found -64"),
    ("not a number", GOOD.replace("64", ".nan"), "model.yaml:2: d_model", "expected a whole number"),
    ("an absurd size", GOOD.replace("64", "1" + "0" * 40), "model.yaml:2: d_model", "expected a size from 1 to 1e+15"),
    ("an absurd size in short", GOOD.replace("64", "1e40"), "model.yaml:2: d_model", "expected a size from 1 to 1e+15"),
    ("an octal size", GOOD.replace("64", "0100"), "model.yaml:2: d_model", "expected a whole number"),
    ("half a token", GOOD.replace("1000", "1.5"), "model.yaml:1: vocab", "expected a whole number"),
    ("yes for a bool", GOOD + "bias: yes\n", "model.yaml:6: bias", "expected true or false, found 'yes'"),
    ("a certain dropout", GOOD + "dropout: 1.5\n", "model.yaml:6: dropout", "below 1"),
    ("heads that do not divide", GOOD.replace("heads: 4", "heads: 5"), "model.yaml:3: heads", "set head_dim"),
    (
        "kv_heads that do not divide",
        GOOD + "kv_heads: 3\n",
        "model.yaml:6: kv_heads",
        "use a divisor of heads: 1, 2, 4",
    ),
    ("a tied head of another size", GOOD + "head: {kind: tied, vocab: 999}\n", "model.yaml:6: head.vocab", "not tied"),
    (
        "a shared table of two sizes",
        "vocab: 9\nd_model: 8\nheads: 2\nffn: 8\nembedding: {shared: true}\nencoder: 1\ndecoder: {blocks: 1, vocab: 10}\n",
        "model.yaml:5: embedding.shared",
        "make them equal",
    ),
    ("no width", "vocab: 1000\nheads: 4\nffn: 128\ndecoder: 2\n", "model.yaml:4: d_model", "missing"),
    ("no heads", "vocab: 1000\nd_model: 64\nffn: 128\ndecoder: 2\n", "model.yaml:4: heads", "missing"),
    ("no stack", "vocab: 1000\nd_model: 64\n", "model.yaml:1", "neither encoder nor decoder"),
    ("no blocks", GOOD.replace("decoder: 2", "decoder: {bias: true}"), "model.yaml:5: decoder", "how many blocks?"),
    ("a table without length", GOOD + "position: learned\n", "model.yaml:6: position", "need length"),
    ("a classifier without classes", GOOD + "head: classifier\n", "model.yaml:6: head", "how many classes?"),
    (
        "a part without encoder",
        GOOD.replace("decoder: 2", "decoder: {blocks: 2, pattern: [attention cross ffn]}"),
        "model.yaml:5: decoder.pattern",
        "needs an encoder",
    ),
    (
        "an unknown part",
        GOOD.replace("decoder: 2", "decoder: {blocks: 2, pattern: [attenton ffn]}"),
        "model.yaml:5: decoder.pattern",
        "did you mean attention?",
    ),
    (
        "no block at all",
        GOOD.replace("decoder: 2", "decoder: {pattern: [0 × attention ffn]}"),
        "model.yaml:5: decoder.pattern",
        "1 time or more",
    ),
    (
        "an empty pattern",
        GOOD.replace("decoder: 2", "decoder: {pattern: []}"),
        "model.yaml:5: decoder.pattern",
        "expected a list of blocks",
    ),
    ("an unused part", GOOD + "cross: {heads: 2}\n", "model.yaml:6: cross", "no block has a part called cross"),
    (
        "variants in a circle",
        GOOD.replace("decoder: 2", "decoder: {blocks: 2, pattern: [a ffn]}")
        + "variants:\n  a: {like: b}\n  b: {like: a}\n",
        "model.yaml:7: variants.a",
        "circular reference",
    ),
    (
        "a misspelt variant",
        GOOD.replace("decoder: 2", "decoder: {blocks: 2, pattern: [a ffn]}")
        + "variants:\n  a: {like: attention, hedas: 2}\n",
        "model.yaml:7: variants.a.hedas",
        "did you mean heads or kv_heads?",
    ),
    ("a duplicate key", GOOD + "heads: 8\n", "model.yaml:6: heads", "given twice, first on line 3"),
    ("an unclosed bracket", GOOD + "norm: {kind: rms\n", "model.yaml:6", "not valid YAML"),
    ("a tab", "vocab: 1000\n\td_model: 64\n", "model.yaml:2", "not valid YAML"),
    ("a tag", "vocab: !!python/object:os.system 5\n", "model.yaml:1: vocab", "tag"),
    ("a list", "- 1\n", "model.yaml:1", "expected fields"),
    ("two documents", GOOD + "---\n" + GOOD, "model.yaml:6", "one spec into one file"),
    ("only a comment", "# nothing\n", "model.yaml:1", "no document in the file"),
    ("an alias to itself", "vocab: &a [*a]\n", "model.yaml:1: vocab[0]", "refers to itself"),
    ("deep nesting", "a: " + "[" * 100 + "]" * 100 + "\n", "model.yaml:1", "nested more than"),
    ("endless nesting", "a: " + "[" * 100_000 + "\n", "model.yaml:1", "nested more than"),
    ("a complex key", "? [a]\n: 1\n", "model.yaml:1", "plain word"),
    ("an empty file", "", "model.yaml", "the file is empty"),
]


@pytest.mark.parametrize(("spec", "where", "says"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES])
def test_a_mistake_in_a_spec(run: Run, write: Write, spec: str, where: str, says: str) -> None:
    """File, line and field are named, and what to do."""
    answer = run("params", write(spec))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {where}: "), answer.err
    assert says in answer.err
    assert "Traceback" not in answer.err


def test_an_alias_bomb_is_stopped(run: Run, write: Write) -> None:
    """Twenty doublings would be a million values; they are counted, not built."""
    doublings = [f"b{i}: &b{i} [*b{i - 1}, *b{i - 1}]" for i in range(1, 21)]
    answer = run("params", write("b0: &b0 [1, 1]\n" + "\n".join(doublings)))
    assert answer.code == 2
    assert "once aliases are expanded" in answer.err


def test_a_binary_file(run: Run, write: Write) -> None:
    """Weights are not a spec."""
    answer = run("params", write(b"\x7fELF\x00\x01\x02", "model"))
    assert (answer.code, "binary file" in answer.err) == (2, True)


def test_another_encoding(run: Run, write: Write) -> None:
    """Latin-1 is told from UTF-8, with its line."""
    answer = run("params", write("vocab: 5\nname: caf\xe9\n".encode("latin-1")))
    assert answer.code == 2
    assert "line 2 is not UTF-8" in answer.err


def test_a_byte_order_mark_is_no_mistake(run: Run, write: Write) -> None:
    """Some editors write one."""
    assert run("params", write(b"\xef\xbb\xbf" + GOOD.encode())).code == 0


def test_a_huge_file(run: Run, write: Write) -> None:
    """Nobody's spec has two megabytes."""
    answer = run("params", write("# " + "x" * 2_000_000))
    assert (answer.code, "too long" in answer.err) == (2, True)


def test_a_folder(run: Run, write: Write, tmp_path: Path) -> None:
    """A checkpoint has its config.json; another folder is refused."""
    write(GOOD)
    answer = run("params", str(tmp_path))
    assert (answer.code, "this folder contains no model" in answer.err) == (2, True)


def test_a_missing_file(run: Run, write: Write) -> None:
    """The path is repeated, so that a slip is seen."""
    answer = run("params", "nowhere/model.yaml")
    assert answer.code == 2
    assert "nowhere/model.yaml: there is no such file" in answer.err


def test_an_unknown_preset(run: Run) -> None:
    """The closest names are offered."""
    answer = run("params", "gpt2-smal")
    assert answer.code == 2
    assert "did you mean gpt2-xl" in answer.err or "did you mean gpt2" in answer.err


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("decoder.bloks=3", "did you mean blocks?"),
        ("heads=true", "expected a whole number"),
        ("heads", "error: --set: 'heads' is not of the form path=value\n  write --set path=value"),
        ("heads=[", "not valid YAML"),
        ("heads=5", "error: --set heads=5: d_model 768 does not divide into 5 heads"),
        ("nothing.here=5", "no such field"),
    ],
)
def test_a_mistake_in_a_change(run: Run, change: str, says: str) -> None:
    """`--set` is checked like the file, and named where it is at fault."""
    answer = run("params", "gpt2", "--set", change)
    assert (answer.code, answer.out) == (2, "")
    assert says in answer.err
    assert change.split("=")[0].split(".")[-1] in answer.err


def test_what_is_no_change_is_not_put_down_to_a_file(run: Run, write: Write) -> None:
    """A line of the file would be quoted that is not at fault."""
    answer = run("params", write(archcalc.load("gpt2").yaml()), "--set", "heads")
    assert answer.code == 2
    assert answer.err.startswith("error: --set: 'heads' is not of the form path=value\n  write --set")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--batch", "0"], "expected a size from 1"),
        (["--batch", "many"], "expected a whole number"),
        (["--seq", "1.5"], "expected a whole number"),
        (["--seq", "2000"], "the position table has 1,024"),
        (["--src-seq", "5"], "use --seq"),
        (["--format", "xml"], "choose from: table, csv, html, json, latex, latex-document, markdown, svg"),
        (["--depth", "0"], "expected a size from 1"),
        (["--sec", "5"], "--seq"),
    ],
)
def test_a_mistake_in_an_option(run: Run, options: list[str], says: str) -> None:
    """Options get the same care."""
    answer = run("shapes", "gpt2", *options)
    assert (answer.code, answer.out) == (2, "")
    assert says in answer.err


def test_a_spec_from_standard_input(run: Run) -> None:
    """`-` reads a spec, and mistakes in it have their line."""
    assert run("params", "-", stdin=GOOD).code == 0
    assert run("params", "-", stdin="d_modl: 3\n").err.startswith("error: standard input:1: d_modl: ")
