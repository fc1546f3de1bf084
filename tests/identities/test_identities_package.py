"""The package as a whole: what it promises of every identity and of every finding."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from archcalc import identities
from archcalc.identities import (
    Bound,
    Finding,
    Outcome,
    Standing,
    UnknownIdentityError,
    about,
    names,
    run,
)
from archcalc.identities.finding import ROUNDING, WHOLE, corrected, measured_at, right, sampling, wrong
from archcalc.identities.texts import sections
from archcalc.render.cells import width

from .conftest import Measured

FILES = sorted(Path(identities.__file__).parent.rglob("*.py"))


@pytest.fixture(scope="module")
def findings(measured: Measured) -> tuple[Finding, ...]:
    """All of them, run once, each by itself."""
    return tuple(finding for name in names() for finding in measured(name))


def test_names_are_known_without_importing_torch() -> None:
    """The command lists its identities in an instant."""
    code = "import sys; from archcalc.identities import names; names(); print('torch' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"


def test_every_identity_of_every_file_is_listed() -> None:
    """A function that returns findings is an identity; the table has each under its file, and no others."""
    listed: dict[str, list[str]] = {}
    for name in names():
        listed.setdefault(about(name).file, []).append(name.replace("-", "_"))
    for file, expected in listed.items():
        module = import_module(f"archcalc.identities.{file}")
        functions = [f for f in vars(module).values() if inspect.isfunction(f)]
        own = [f for f in functions if f.__module__ == module.__name__]
        found = [f.__name__ for f in own if f.__annotations__["return"] == "Findings"]
        assert sorted(expected) == sorted(found)


def test_every_identity_explains_itself() -> None:
    """Each is a small function with a sentence on top; beside it a title, words, two steps or more and a source."""
    for name in names():
        each = about(name)
        function = getattr(import_module(f"archcalc.identities.{each.file}"), name.replace("-", "_"))
        assert function.__doc__
        assert each.title and each.words and each.sources and len(each.steps) >= 2
        assert all(step.endswith((".", "!")) for step in each.steps)


def test_every_source_has_a_name_and_a_year() -> None:
    """Somebody can look it up."""
    cited = {source for name in names() for source in about(name).sources}
    others = {source for source in cited if not re.search(r"\b(19|20)\d\d, \w", source)}
    assert {source.split(",")[0] for source in others} == {
        "Stanford CS224n",
        "Keras API reference",
        "PyTorch 2 documentation",
    }


def test_nothing_of_the_rest_of_archcalc_is_used() -> None:
    """What confirms a formula must not share it; only the texts are read as all data that ships."""
    imported = set()
    for file in FILES:
        if file.name == "texts.py":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                imported.add(node.module or "")
            if isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
    inside = {name for name in imported if name.startswith("archcalc")}
    assert {name for name in inside if not name.startswith("archcalc.identities")} == set()


def test_findings_come_in_the_order_of_the_names(findings: tuple[Finding, ...]) -> None:
    """Section by section, and every identity has something to say."""
    assert list(dict.fromkeys(finding.identity for finding in findings)) == names()
    assert list(dict.fromkeys(finding.section for finding in findings)) == [section.title for section in sections()]


def test_every_finding_is_as_expected(findings: tuple[Finding, ...]) -> None:
    """Right and corrected claims hold, wrong ones fail."""
    assert [finding.claim for finding in findings if not finding.as_expected] == []


def test_wrong_claims_fail_by_a_wide_margin(findings: tuple[Finding, ...]) -> None:
    """Ten times the bound and more: no rounding, and no matter of taste."""
    wrong_ones = [f for f in findings if f.standing is Standing.WRONG]
    assert len(wrong_ones) >= 35
    assert [f.claim for f in wrong_ones if f.residual <= 10 * f.bound.size] == []


def test_corrections_hold_far_better_than_what_they_correct(findings: tuple[Finding, ...]) -> None:
    """A tenth of its residual at the most, and exactly but for those that are sampled."""
    for wrong_one, below in pairwise(findings):
        if wrong_one.standing is Standing.WRONG:
            assert below.residual < wrong_one.residual / 10
    inexact = {f.identity for f in findings if f.standing is Standing.CORRECTED and f.bound.size > 1e-10}
    assert inexact == {"noisy-keys", "softmax-jacobian"}


def test_every_wrong_claim_is_corrected_in_its_identity(findings: tuple[Finding, ...]) -> None:
    """One correction each, just below it."""
    for wrong_one, below in pairwise(findings):
        if wrong_one.standing is Standing.WRONG:
            assert (below.standing, below.corrects) == (Standing.CORRECTED, wrong_one.claim)
            assert below.identity == wrong_one.identity
    standings = [finding.standing for finding in findings]
    assert standings.count(Standing.WRONG) == standings.count(Standing.CORRECTED)


def test_claims_fit_a_column(findings: tuple[Finding, ...]) -> None:
    """One line of at most 45 columns, so that residual, bound and verdict fit beside it; no two the same."""
    assert [f.claim for f in findings if width(f.claim) > 45 or "\n" in f.claim] == []
    beside_names = 80 - 4 - max(map(len, names()))
    assert [name for name in names() if width(about(name).title) > beside_names] == []
    assert len({(f.identity, f.claim) for f in findings}) == len(findings)


def test_every_bound_has_a_reason_and_every_claim_its_sizes(findings: tuple[Finding, ...]) -> None:
    """Nothing is measured at sizes that nobody is told."""
    assert [f.claim for f in findings if not (f.bound.why and f.sizes)] == []


def test_only_sampling_and_approximation_have_wider_bounds(findings: tuple[Finding, ...]) -> None:
    """Everything else is an equation, and is held to rounding, or to the last step of a search."""
    equations = [f for f in findings if f.bound.size <= 1e-10]
    assert {f.bound.size for f in equations} == {0, 2e-15, 1e-12, 1e-10}
    wide = {f.identity for f in findings if f not in equations}
    shares = {"dense-layer", "softmax-memory"}  # wrong claims, off by a share of the whole
    about_right = {"orthogonal-inputs", "kernel-crossover", "score-law", "softmax-jacobian"}
    about_right |= {"sinusoid-wavelengths", "sinusoid-similarity"}
    assert wide == shares | about_right | {"score-variance", "noisy-keys", "equal-queries"}


def test_a_second_run_finds_the_same_and_disturbs_nothing(findings: tuple[Finding, ...]) -> None:
    """Seeds are the identities' own: the caller's generator and default precision neither matter nor move."""
    torch.manual_seed(1)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    assert run() == findings
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_default_dtype() == torch.float32


def test_an_unknown_name_is_refused_with_the_closest() -> None:
    """Before anything is computed, even if it stands last."""
    with pytest.raises(
        UnknownIdentityError, match="no identity is called 'alibi-slope'; closest: alibi-slopes"
    ) as info:
        run(["lstm-gradients", "alibi-slope"])
    assert info.value.name == "alibi-slope"
    assert info.value.closest[0] == "alibi-slopes"
    assert isinstance(info.value, LookupError)


def test_a_name_like_no_other_is_told_all_names() -> None:
    """There is no closest one."""
    with pytest.raises(UnknownIdentityError, match="known: lstm-gradients, ") as info:
        run(["xyzzy"])
    assert info.value.closest == ()


def test_named_identities_are_run_in_the_order_asked_for() -> None:
    """And only those."""
    assert [finding.identity for finding in run(["cross-entropy", "lstm-cell-state"])] == [
        "cross-entropy",
        "lstm-cell-state",
        "lstm-cell-state",
    ]


def test_holds_follows_from_the_numbers() -> None:
    """At the bound a claim still holds; what was expected of it has no say."""
    half = Bound(0.5, "for this test")
    assert right("a", 0.5, half).holds
    assert not right("a", 0.6, half).holds
    assert not right("a", 0.6, half).as_expected
    assert (wrong("a", 0.6, half).verdict, wrong("a", 0.6, half).as_expected) == ("fails", True)
    assert (wrong("a", 0.4, half).verdict, wrong("a", 0.4, half).as_expected) == ("holds", False)
    assert measured_at("", wrong("a", 1.0), corrected("b", 0.0))[1].corrects == "a"
    assert not right("a", 1, WHOLE).holds
    assert sampling(0.5, 100).size == 2


def test_an_outcome_names_the_condition_only_where_the_claim_holds() -> None:
    """A claim that fails is wrong, whatever it was said to hold under."""
    assert right("a", 0.0).outcome is Outcome.HOLDS
    assert right("a", 0.0).only_if("b").outcome is Outcome.CONDITIONAL
    assert right("a", 1.0).only_if("b").outcome is Outcome.WRONG


def test_sizes_of_a_claim_stay_its_own() -> None:
    """Those of the identity go to claims that name none."""
    shared, own = measured_at("N = 8", right("a", 0), right("b", 0).at("N = 9"))
    assert (shared.sizes, own.sizes, shared.bound) == ("N = 8", "N = 9", ROUNDING)


@pytest.mark.parametrize("residual", [float("nan"), float("inf"), -1.0])
def test_a_residual_is_a_distance(residual: float) -> None:
    """A wrong claim must not seem to fail because the measurement did."""
    with pytest.raises(ValueError, match="not a distance"):
        wrong("a", residual)
