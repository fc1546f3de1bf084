"""A diagram as Mermaid text, which GitHub, GitLab and many editors draw: `.mmd` alone, or inside Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.analyze.diagram.graph import Form, Node
from archcalc.analyze.diagram.report import DiagramReport
from archcalc.core.ir import Tensor
from archcalc.core.visible import visible
from archcalc.render.diagram.level import in_order
from archcalc.render.diagram.palette import COLOURS, FRAME, FRAME_EDGE, INK
from archcalc.render.diagram.sizes import badge, count, details, steps

_SHAPES = {
    Form.BOX: '["{}"]',
    Form.STEP: '["{}"]',
    Form.SIGN: '(("{}"))',
    Form.INPUT: '(["{}"])',
    Form.OUTPUT: '(["{}"])',
    Form.STATE: '(["{}"])',
}
# Labels are HTML between quotation marks; Mermaid takes `#` for an entity, backticks for Markdown, `%%{` for settings.
_SIGNS = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "#": "&num;", "`": "&grave;"}
_SIGNS |= {"{": "&lcub;", "}": "&rcub;", "%": "&percnt;"}


def render(report: DiagramReport) -> str:
    return "\n".join(_Mermaid(report).lines()) + "\n"


def in_markdown(report: DiagramReport) -> str:
    """A page with the picture."""
    title = visible(report.title()).replace("\\", "\\\\").replace("<", "&lt;")
    return f"# {title}\n\n{visible(report.answer())}\n\n```mermaid\n{render(report)}```\n"


def quoted(text: str) -> str:
    """As a label between quotation marks."""
    return "".join(_SIGNS.get(character, character) for character in visible(text))


class _Mermaid:
    def __init__(self, report: DiagramReport) -> None:
        self.report = report
        nodes = [node for node in report.graph.root.walk() if node.parent]
        self.names = {node: f"n{index}" for index, node in enumerate(nodes, start=1)}

    def lines(self) -> Iterator[str]:
        yield "flowchart TB"
        yield f"  %% {quoted(self.report.title())}: {self.report.answer()}"
        for child in in_order(self.report.graph.root):
            yield from self._node(child, "  ")
        yield from self._edges()
        yield from self._colours()

    def _node(self, node: Node, indent: str) -> Iterator[str]:
        if not node.children:
            lines = (f"{node.name} {badge(node)}".strip(), *details(node), steps(node), count(node))
            text = "<br>".join(quoted(line) for line in lines if line)
            yield f"{indent}{self.names[node]}{_SHAPES[node.form].format(text)}"
            return
        title = " · ".join(quoted(part) for part in (f"{node.name} {badge(node)}".strip(), count(node)) if part)
        yield f'{indent}subgraph {self.names[node]}["{title}"]'
        for child in in_order(node):
            yield from self._node(child, indent + "  ")
        yield f"{indent}end"

    def _edges(self) -> Iterator[str]:
        """With the shape of each tensor once, at the first arrow that it goes along."""
        told: set[tuple[Node, Tensor]] = set()
        for edge in self.report.graph.edges:
            wire = (edge.source, edge.tensor)
            label = "" if wire in told else quoted(self.report.label(wire))
            told.add(wire)
            arrow = "-.->" if edge.feedback else "-->"
            shown = f'|"{label}"|' if label else ""
            yield f"  {self.names[edge.source]} {arrow}{shown} {self.names[edge.target]}"

    def _colours(self) -> Iterator[str]:
        """A class for each kind of part in the picture."""
        leaves = [node for node in self.names if not node.children]
        for kind, colour in COLOURS.items():
            members = [self.names[node] for node in leaves if node.kind == kind]
            if members:
                name = kind.name.lower()
                yield f"  classDef {name} fill:{colour.light},stroke:{colour.light_edge},color:{INK[0]}"
                yield f"  class {','.join(members)} {name}"
        frames = [self.names[node] for node in self.names if node.children]
        if frames:
            yield f"  classDef frame fill:{FRAME[0]},stroke:{FRAME_EDGE[0]},color:{INK[0]}"
            yield f"  class {','.join(frames)} frame"
