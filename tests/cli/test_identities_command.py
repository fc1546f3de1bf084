"""archcalc identities: the table of claims, and what happens without PyTorch."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from archcalc import identities

if TYPE_CHECKING:
    from conftest import Run

KERNEL = ("kernel-attention", "feature-map")


def rows(run: Run, *names: str) -> list[dict[str, Any]]:
    """The findings of these identities."""
    found: list[dict[str, Any]] = run("identities", *names, "--format", "json").json["rows"]
    return found


def without_torch(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The program where `import torch` fails as if it were not installed."""
    code = "import sys; sys.modules['torch'] = None; from archcalc.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


def test_the_wrong_textbook_claim_stands_before_its_correction(run: Run) -> None:
    """W2 is W1's transpose at the optimum; its pseudo-inverse is 0.0892 away at λ = 0.5, 0.00133 at 0.01."""
    lines = [" ".join(line.split()) for line in run("identities", "pseudo-inverse").out.splitlines()]
    wrong = lines.index("✗ W2 = W1⁺ at λ = 0.5 (root mean square) 0.0892 fails")
    assert lines[wrong + 1] == "→ W2 = W1ᵀ at λ = 0.5 < 1e-10 holds"
    assert "✗ W2 = W1⁺ at λ = 0.01 (root mean square) 0.00133 fails" in lines


def test_chosen_identities_stand_under_their_section(run: Run) -> None:
    """In the order asked for, each under the name by which it is asked for."""
    out = run("identities", *KERNEL).out
    headings = [line.strip() for line in out.splitlines() if line.strip() in (*KERNEL, "Kernel attention")]
    assert headings == ["Kernel attention", *KERNEL]
    assert {row["identity"] for row in rows(run, *KERNEL)} == set(KERNEL)


def test_the_headline_counts_what_holds(run: Run) -> None:
    """Wrong claims are counted as what they are."""
    found = rows(run, *KERNEL)
    wrong = sum(row["standing"] == "wrong" for row in found)
    told = f"{len(found) - wrong} of {len(found)} claims hold, {wrong} does not"
    assert wrong == 1
    assert run("identities", *KERNEL).out.splitlines()[1] == told


def test_all_claims_turn_out_as_they_should(run: Run) -> None:
    """Everything at once: exit code 0, every identity there, right claims hold and wrong ones fail."""
    answer = run("identities", "--format", "json")
    found = answer.json["rows"]
    assert answer.code == 0
    assert list(dict.fromkeys(row["identity"] for row in found)) == identities.names()
    for row in found:
        assert (row["verdict"] == "holds") == (row["standing"] != "wrong") == (row["residual"] <= row["bound"])


def test_the_table_fits_eighty_columns(run: Run) -> None:
    """No claim is cut, and accents that take no room of their own do not shift the columns."""
    lines = run("identities", "lstm-gradients", "rope-decay", "softmax-compute").out.splitlines()
    claims = [line.replace("c̃", "c") for line in lines if line.endswith(("holds", "fails"))]
    assert "…" not in "".join(claims)
    assert {len(line) for line in claims} == {len(claims[0])}
    assert len(claims[0]) <= 80


def test_names_are_listed_without_pytorch() -> None:
    """To choose from."""
    done = without_torch("identities", "--list")
    assert done.stdout.split() == identities.names()
    assert (done.returncode, done.stderr) == (0, "")


def test_without_pytorch_it_says_how_to_install_it() -> None:
    """One line, exit code 2, no traceback."""
    done = without_torch("identities", "rope")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: PyTorch is not installed\n  pip install 'archcalc[verify]'\n"


def test_an_unknown_name_is_told_first() -> None:
    """Even before PyTorch is missed."""
    done = without_torch("identities", "rope-decays")
    assert done.returncode == 2
    assert done.stderr.startswith("error: no identity is called rope-decays\n  did you mean rope-decay")


def test_a_claim_that_turns_out_otherwise_ends_with_code_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is marked, in the table and in the headline."""
    broken = identities.Finding("1 = 2", 1.0, 1e-10, identities.Standing.RIGHT, identity="rope", section="Positions")
    monkeypatch.setattr("archcalc.catalog.identities.run", lambda names: (broken,))
    answer = run("identities", "rope")
    assert answer.code == 1
    assert "0 of 1 claims hold, 1 does not; 1 not as expected" in answer.out
    assert "fails!" in answer.out


def test_csv_and_markdown(run: Run) -> None:
    """Residuals to the last digit for programs, rounded for people."""
    header, *lines = run("identities", "feature-map", "--format", "csv").out.splitlines()
    assert header == "section,identity,claim,standing,corrects,residual,bound,verdict"
    assert len(lines) == 3
    markdown = run("identities", "feature-map", "--format", "markdown").out
    assert "✗ ⟨φ(q),φ(k)⟩ = (qᵀk+1)² with x_i in φ | 5.79 | fails |" in markdown
