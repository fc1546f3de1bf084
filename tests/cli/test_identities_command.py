"""archcalc identities: the table of claims, and what happens without PyTorch."""

from __future__ import annotations

import csv
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from archcalc import identities
from archcalc.catalog.identities import identities as measured

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
    wrong = lines.index("✗ W2 = W1⁺ at λ = 0.5 0.0892 1e-10 wrong")
    assert lines[wrong + 1] == "→ W2 = W1ᵀ at λ = 0.5 ≈ 0 1e-10 holds"
    assert "✗ W2 = W1⁺ at λ = 0.01 0.00133 1e-10 wrong" in lines


def test_chosen_identities_stand_under_their_section(run: Run) -> None:
    """In the order asked for, each under the name by which it is asked for."""
    out = run("identities", *KERNEL).out
    headings = [line.strip().partition(":")[0] for line in out.splitlines()]
    assert [line for line in headings if line in (*KERNEL, "Kernel attention")] == ["Kernel attention", *KERNEL]
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
    lines = run("identities", "lstm-gradients", "rope-decay", "softmax-compute", "noisy-keys").out.splitlines()
    claims = [line.replace("c̃", "c") for line in lines if line.endswith(("holds", "wrong", "holds if"))]
    assert len(claims) == 13 + 3 + 3 + 6
    assert "…" not in "".join(claims)
    assert {len(line.removesuffix(" if")) for line in claims} == {len(claims[0])}
    assert max(len(line.replace("c̃", "c")) for line in lines) <= 80


def test_names_are_listed_without_pytorch() -> None:
    """To choose from, with what they are about."""
    done = without_torch("identities", "--list")
    listed = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert listed == identities.names()
    assert "ALiBi's slopes, also if n is no power of two" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


def test_derivations_are_read_without_pytorch() -> None:
    """With their sources; words choose from the list as they do from the claims."""
    done = without_torch("identities", "--list", "--explain", "T(k)")
    assert "2. Row 1 of a block gives sin (t+k)θ" in done.stdout
    assert "source: Vaswani et al. 2017, Attention Is All You Need" in done.stdout
    assert "2 identities" in done.stdout


def test_without_pytorch_it_says_how_to_install_it() -> None:
    """One line, exit code 2, no traceback."""
    done = without_torch("identities", "rope")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: PyTorch is not installed\n  pip install 'archcalc[verify]'\n"


def test_an_unknown_name_is_told_first() -> None:
    """Even before PyTorch is missed."""
    done = without_torch("identities", "rope-decays")
    assert done.returncode == 2
    assert done.stderr.startswith("error: no identity is about rope-decays\n  did you mean rope-decay")


def test_a_word_like_no_other_is_answered_with_the_topics(run: Run) -> None:
    """One message, exit code 2."""
    answer = run("identities", "attention", "xyzzy")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines()[0] == "error: no identity is about xyzzy"
    assert "topics: LSTM and GRU, Seq2seq attention, Attention, " in answer.err


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("alibbi", "error: no identity is about alibbi\n  did you mean alibi"),
        ("softmx", "error: no identity is about softmx\n  did you mean softmax"),
        ("·", "error: no identity is about ·\n  topics: "),
        (" ", "error: a word to look for is empty\n"),
    ],
)
def test_a_misspelt_or_empty_word_is_answered_with_what_was_meant(run: Run, typed: str, told: str) -> None:
    answer = run("identities", "--list", typed)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(told)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (["alibi"], ["alibi-slopes", "alibi-bias"]),
        (["T(k)"], ["sinusoidal", "shift-matrix"]),
        (["t(K)"], ["sinusoidal", "shift-matrix"]),
        (["softmax", "zeros"], ["softmax-zeros"]),
        (["softmax zeros"], ["softmax-zeros"]),
        (["W₂W₁"], ["bottleneck"]),
        (["vit"], ["patches"]),
        (["kurtosis"], ["score-variance", "score-law"]),
        (["rope", "alibi"], ["rope", "rope-linear-attention", "rope-decay", "alibi-slopes", "alibi-bias"]),
        (["kernel-attention", "feature-map"], ["kernel-attention", "feature-map"]),
        (["Craig"], ["score-variance", "score-law"]),
        (["transposed", "sinusoids"], ["shift-matrix"]),
        (["masked"], ["softmax-zeros"]),
        (["1/√D"], ["score-variance", "softmax-jacobian"]),
    ],
)
def test_identities_are_found_by_the_words_people_type(run: Run, typed: list[str], found: list[str]) -> None:
    """By name, section, title and declared words; else by derivation and source. All words, or else any."""
    listed = run("identities", "--list", *typed, "--format", "json").json["rows"]
    assert [row["identity"] for row in listed] == found


def test_a_section_is_found_by_its_name(run: Run) -> None:
    """`attention` finds all of it, and nothing of the autoencoders."""
    sections = {row["section"] for row in run("identities", "--list", "attention", "--format", "json").json["rows"]}
    assert {"Attention", "Seq2seq attention", "Kernel attention"} <= sections
    assert "Autoencoders" not in sections


def test_a_name_that_is_part_of_others_tells_them(run: Run) -> None:
    """`rope` is one identity, and two more are about RoPE."""
    assert "· on the same subject: rope-linear-attention, rope-decay" in run("identities", "rope").out


def test_a_shell_completes_names_and_words() -> None:
    """Without quotes, in any case, and without PyTorch."""
    code = "from archcalc.cli.commands.identities import _completed as c; print(*c('ALI'))"
    loaded = "import sys; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", f"{code}; {loaded}"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["alignment alibi-slopes alibi-bias", "False"]


def test_a_claim_shows_its_condition_sizes_and_numbers(run: Run) -> None:
    """The sheet's set-up with a noisy key, and what came of it."""
    out = run("identities", "noisy-keys").out
    assert "with keys γμ_a, μ_b and 4 others, orthonormal μ; β = 20, γ ~ N(1, ½)," in out
    assert "mean: 0.4996 ± 0.0011, variance: 0.2218 ± 0.0001" in out
    assert "mean: 0.4508 ± 0.0003, variance: 0.0191 ± 0.0001" in out
    assert "if there are no other keys" in out


def test_the_shift_matrix_is_printed(run: Run) -> None:
    """A row to a line."""
    lines = run("identities", "T(k)").out.splitlines()
    at = next(i for i, line in enumerate(lines) if "T(1) for d = 4:" in line)
    assert [line.split()[1:-1] for line in lines[at + 1 : at + 5]] == [
        ["0.5403", "0.8415", "0", "0"],
        ["−0.8415", "0.5403", "0", "0"],
        ["0", "0", "1.0000", "0.0100"],
        ["0", "0", "−0.0100", "1.0000"],
    ]


def test_explain_shows_steps_source_and_the_reason_of_the_bound(run: Run) -> None:
    """Beneath the identity and beneath each claim."""
    lines = [line.strip() for line in run("identities", "score-law", "--explain").out.splitlines()]
    assert "1. Given q, the score Σ_i q_i·k_i is normal with variance ‖q‖²." in lines
    assert "source: Craig 1936, On the Frequency Function of xy, Annals of Mathematical" in lines
    assert "bound: rounding, 1e-16 of a number for each of a few thousand operations" in lines
    assert "bound: close to normal is taken to mean: a kurtosis of 3 to a tenth" in lines


def test_verdicts_are_coloured_where_colour_is_wanted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Green, yellow and red: the mark and the verdict."""
    monkeypatch.setattr("archcalc.cli.printing.is_coloured", lambda: True)
    out = run("identities", "tanh-range", "location-score").out
    assert "\x1b[31m✗\x1b[0m tanh maps to [0, 1]" in out
    assert "\x1b[31mwrong\x1b[0m" in out
    assert "\x1b[32m→\x1b[0m tanh maps to (−1, 1)" in out
    assert "\x1b[33mholds if\x1b[0m" in out


def test_a_claim_that_turns_out_otherwise_ends_with_code_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is marked, in the table and in the headline."""
    bound, right = identities.Bound(1e-10, "rounding"), identities.Standing.RIGHT
    broken = identities.Finding("1 = 2", 1.0, bound, right, identity="rope", section="Positions")
    monkeypatch.setattr("archcalc.catalog.identities.run", lambda names: (broken,))
    answer = run("identities", "rope")
    assert answer.code == 1
    assert "0 of 1 claims hold, 1 does not; 1 not as expected" in answer.out
    assert "wrong!" in answer.out


def test_json_carries_everything(run: Run) -> None:
    """With or without --explain."""
    found = rows(run, "noisy-keys")
    assert found == run("identities", "noisy-keys", "--explain", "--format", "json").json["rows"]
    last = found[-1]
    assert last["outcome"] == "holds under a condition"
    assert last["condition"] == "there are no other keys"
    assert last["bound_reason"] == "4 standard errors of 200,000 samples"
    assert last["sizes"].startswith("keys γμ_a and μ_b; β = 20")
    mean, variance = last["values"]
    assert (mean["name"], variance["name"]) == ("mean", "variance")
    assert mean["value"] == pytest.approx(0.46, abs=4 * mean["standard_error"])
    assert last["sources"] and len(last["derivation"]) == 5 and "gamma" in last["words"]


def test_csv_has_a_text_for_each_list(run: Run) -> None:
    """Residuals to the last digit; the first columns are as they have always been."""
    header, *lines = csv.reader(run("identities", "T(k)", "--format", "csv").out.splitlines())
    assert header[:8] == ["section", "identity", "claim", "standing", "corrects", "residual", "bound", "verdict"]
    kept = ["outcome", "condition", "sizes", "bound_reason", "values", "title", "derivation", "sources", "words"]
    assert header[8:] == kept
    named = [dict(zip(header, line, strict=True)) for line in lines]
    (shown,) = (row["values"] for row in named if row["values"])
    assert shown.startswith("T(1) for d = 4 = 0.540302 0.841471 0 0, -0.841471 0.540302 0 0, ")
    assert named[0]["derivation"].startswith("E_t holds the pairs")


def test_markdown_has_bounds_and_notes(run: Run) -> None:
    """In the cell of what they belong to."""
    markdown = run("identities", "feature-map", "--format", "markdown", "--explain").out
    assert "✗ ⟨φ(q),φ(k)⟩ = (qᵀk+1)² with x_i in φ | 5.79 | 1e-12 | wrong |" in markdown
    assert "✓ φ has C = (D+1)(D+2)/2 features<br>with D = 1, 2, 5, 16, 64; 64 gives 2,145<br>" in markdown
    assert "<br>1. (qᵀk + 1)² = 1 + 2·Σ_i q_i·k_i" in markdown


def test_latex_has_notes_and_a_matrix(run: Run) -> None:
    """T(1) as a matrix, conditions and numbers beneath their claims."""
    sheet = run("identities", "shift-matrix", "noisy-keys", "--format", "latex").out
    assert "T(1) for d = 4: $\\begin{pmatrix} 0.5403 & 0.8415 & 0 & 0 \\\\ -0.8415 & 0.5403 & 0 & 0 \\\\" in sheet
    assert "if there are no other keys" in sheet
    assert "mean: 0.4508 $\\pm$ 0.0003" in sheet


def test_a_notebook_shows_notes_and_a_matrix() -> None:
    """Beneath the claim, escaped."""
    shown = measured(["shift-matrix"])._repr_html_()
    assert "<small>with d = 8, t &lt; 20, k = 1 … 9</small>" in shown
    assert "T(1) for d = 4:<pre>│   0.5403   0.8415        0        0  │\n" in shown
