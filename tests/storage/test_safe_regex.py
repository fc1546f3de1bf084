"""Expressions match what `re` matches, in a number of steps that the lengths of expression and name bound."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archcalc.core.errors import InputError
from archcalc.storage.safe_regex import Matching, compiled

NAME = "model.layers.12.mlp.experts.0.gate_proj"
REAL = [
    r".*lm_head",
    r".*mlp.gate$",
    r"model\.layers\.\d+\.mlp\..*",
    r".*mlp\.(gate|up|gate_up|down)_proj.*",
    r".*[.](0|1|12)[.]mlp[.].*",
    r".*\.(?!12)\d+\.mlp.*",
    r"^(?!.*self_attn).*proj$",
    r"(?=.*experts)(?!.*\.gate_proj).*",
    r"model\.layers\.(?:[0-9]|1[0-5])\.(?P<part>mlp|self_attn)\b",
    r".*\.[1-9]?\d\..{3,5}\.experts.\d{1,3}\..*?proj$",
    r"vision_tower.*",
    r".*\.12\.",
    r"\d+",
]


@pytest.mark.parametrize("raw", REAL)
@pytest.mark.parametrize("name", [NAME, "lm_head", "model.layers.3.self_attn.q_proj", "model.layers.9.mlp.gate"])
def test_expressions_of_real_files_match_as_re_does(raw: str, name: str) -> None:
    assert compiled(raw).match(name) is bool(re.match(raw, name))


SIGNS = [*"ab01._|*+?^$[]{}()-,", "\n", r"\.", r"\d", r"\w", r"\W", r"\s", r"\b", r"\B", r"\A", r"\Z", "[ab]", "[^a.]"]
SIGNS += ["[0-9]", "[]a]", "(?:", "(?!", "(?=", "(?P<x>", ".*", "*?", "{2}", "{,2}", "{1,}", "{0,1}", "{}", "{,}", "\\"]


@given(st.lists(st.sampled_from(SIGNS), max_size=10).map("".join), st.text("ab01._\n", min_size=1, max_size=8))
def test_any_expression_matches_as_re_does_or_is_refused(raw: str, name: str) -> None:
    """What `re` does not compile stands for itself."""
    try:
        found = compiled(raw).match(name)
    except InputError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sets within sets, which `re` may read otherwise one day
        try:
            expected = bool(re.match(raw, name))
        except re.error:
            expected = name.startswith(raw)
    assert found is expected


def test_most_expressions_are_not_refused() -> None:
    """Else the comparison above would compare nothing."""
    assert all(compiled(raw) for raw in REAL)
    assert compiled("(a|b)*{2}").match("(a|b)*{2}x")


HARD = [
    "([a-z_.0-9]+)+x$",
    "((a|[a-z_.0-9])*)*x",
    "(l|l|.)+x",
    ".*" * 20 + "x",
    ".?" * 24 + "x",
    "(.*)*" * 8 + "x",
    "(?:(?!q).)*(?=.*(?!.*z))x",
    "(?:a?){50}" + "a" * 50,
    "(?!(?!(?!.*.*.*x)))y",
]


def parts(raw: str) -> int:
    """How many programs an expression has: one, and one for each time that it looks ahead."""
    return 1 + raw.count("(?!") + raw.count("(?=")


@pytest.mark.parametrize("raw", HARD)
@pytest.mark.parametrize("length", [40, 80, 160])
def test_steps_are_bounded_by_the_lengths(raw: str, length: int) -> None:
    """Each state once for each character; what looks ahead is asked once from each place, to the end of the name."""
    name, program = ("model.layers." + "a" * 200)[:length], compiled(raw).program
    asked = Matching(name)
    asked.begins(program)
    states = len(raw) * 50  # repeats written out: 50 times at most here
    assert asked.steps <= states * (length + 1) * (1 if parts(raw) == 1 else parts(raw) * (length + 1))
    plain = parts(raw) == 1
    assert not plain or asked.steps <= (len(program) + 1) * (length + 1)


def test_twice_the_name_takes_no_more_than_twice_the_steps() -> None:
    """Of six stars, over which backtracking takes 64 times as long."""
    short, long = Matching("a" * 100), Matching("a" * 200)
    for asked in (short, long):
        asked.begins(compiled(".*" * 6 + "x").program)
    assert long.steps <= 2 * short.steps


@pytest.mark.parametrize(
    "raw", [r"(a)\1", "(?<=a)b", "(?i)a", "(?>a)", "a++", "(a{99}){99}", "(" * 50 + ")" * 50, "x" * 6000]
)
def test_what_cannot_be_matched_in_one_pass_is_refused_with_a_way_out(raw: str) -> None:
    with pytest.raises(InputError, match="is not matched") as raised:
        compiled(raw)
    assert "list the modules by name" in raised.value.hint
