"""SVG that any reader takes, and Mermaid without what it would stumble over."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from archcalc import load
from archcalc.analyze.diagram.graph import PartKind
from archcalc.analyze.diagram.report import DiagramReport
from archcalc.render.diagram import mermaid, svg
from archcalc.render.diagram.palette import COLOURS
from archcalc.render.text_width import shortened, width

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = 'a<b>&"c" `d` #35; {e} \x1b[31m ]]> --> %%{init}%%'


def diagram(model: str = "textbook", depth: int | None = None) -> DiagramReport:
    return load(model).diagram(depth=depth)


@pytest.mark.parametrize("model", ["textbook", "sentiment-lstm", "mixtral-8x7b"])
def test_svg_is_well_formed_and_tells_what_it_shows(model: str) -> None:
    root = ElementTree.fromstring(svg.render(diagram(model)))
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert root.findtext(f"{SVG}title") == load(model).name
    assert f"{load(model).params().total:,} parameters" in (root.findtext(f"{SVG}desc") or "")
    assert load(model).name in texts


def test_the_picture_has_counts_in_boxes_and_shapes_at_arrows() -> None:
    texts = set(re.findall(r"<text[^>]*>([^<]*)</text>", svg.render(diagram())))
    assert {"× 12", "× 8", "4,203,264 each", "3,149,056", "32 × 2,048 × 1,024", "32 × 2,048 × 30,000"} <= texts
    named = svg.render(load("textbook").diagram(symbolic=True))
    assert "batch × tgt_seq × d_model" in named


def test_the_legend_names_the_kinds_in_the_picture_and_no_other() -> None:
    told = set(re.findall(r"<text[^>]*>([^<]*)</text>", svg.render(diagram("sentiment-lstm"))))
    assert {"embedding", "recurrent", "output layer"} <= told
    assert not {"attention", "convolution", "pooling"} & told


def test_every_kind_has_colours_for_light_and_dark() -> None:
    assert set(COLOURS) == set(PartKind)
    style = ElementTree.fromstring(svg.render(diagram())).findtext(f"{SVG}style") or ""
    assert "prefers-color-scheme: dark" in style
    assert all(f".k-{kind.name.lower()}" in style for kind in PartKind)


def test_hostile_names_stay_text() -> None:
    report = replace(diagram("gpt2", 1), model=HOSTILE)
    report.graph.root.children[0].title = HOSTILE
    drawn = svg.render(report)
    root = ElementTree.fromstring(drawn)
    assert (root.findtext(f"{SVG}title") or "").startswith('a<b>&"c"')
    assert "\x1b" not in drawn + mermaid.render(report) + mermaid.in_markdown(report)
    assert "<b>" not in mermaid.render(report)


def test_mermaid_quotes_every_label_and_closes_every_subgraph() -> None:
    lines = mermaid.render(diagram()).splitlines()
    nodes = {found[1] for line in lines if (found := re.match(r"\s*(?:subgraph )?(n\d+)[\[(]", line))}
    edges = [re.fullmatch(r"  (n\d+) (?:-->|-\.->)(?:\|\"[^\"]*\"\|)? (n\d+)", line) for line in lines if "->" in line]
    assert lines[0] == "flowchart TB"
    assert sum("subgraph" in line for line in lines) == sum(line.strip() == "end" for line in lines) == 4
    assert all(edges)
    assert {end for edge in edges if edge for end in edge.groups()} <= nodes


def test_mermaid_tells_each_shape_once() -> None:
    """At the first arrow that a tensor goes along; the residual's arrow has none."""
    text = mermaid.render(diagram("gpt2"))
    assert text.count('-->|"1 × 1,024 × 768"|') < text.count("-->")


def test_mermaid_in_markdown_is_a_fenced_block() -> None:
    page = mermaid.in_markdown(diagram("gpt2", 1))
    assert page.startswith("# GPT-2 small\n\n124,439,808 parameters")
    assert page.count("```") == 2


def test_a_text_that_does_not_fit_is_cut() -> None:
    cut = shortened("a very long title of a module", 13, 80, bold=True)
    assert cut.endswith("…")
    assert width(cut, 13, bold=True) <= 80
