"""Regular expressions as trees, and trees as programs: the part of Python's syntax that can be matched in one pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_STEPS = 5_000  # of a program, repeats written out; the longest real expression has some hundred
DEEPEST = 40  # groups within groups


class NotRegular(ValueError):
    """Not a valid regular expression: Python would not compile it either."""


class Unsupported(ValueError):
    """A valid expression that cannot be matched without backtracking."""


@dataclass(frozen=True)
class One:
    """A character that must be this one."""

    sign: str

    def __call__(self, sign: str) -> bool:
        return sign == self.sign


@dataclass(frozen=True)
class Several:
    """A character that is one of a set, or none of it."""

    tests: tuple[Callable[[str], bool], ...]
    negated: bool = False

    def __call__(self, sign: str) -> bool:
        return any(test(sign) for test in self.tests) is not self.negated


@dataclass(frozen=True)
class Look:
    """What must, or must not, follow from here on."""

    program: Program
    negated: bool


class Step(NamedTuple):
    """A step reads a character, checks a condition, looks ahead, or (None) forks; and the next steps."""

    what: One | Several | Look | str | None
    then: tuple[int, ...]

    def reads(self, sign: str) -> bool:
        return isinstance(self.what, One | Several) and self.what(sign)


Program = tuple[Step, ...]  # behind the last step it has matched


@dataclass(frozen=True)
class Node:
    """`all` in a row, `any` of several, `repeat` from `least` to `most` times (None: without end), `look` ahead."""

    kind: str
    inner: tuple[Node | One | Several | str, ...] = ()
    least: int = 0
    most: int | None = None
    negated: bool = False


Tree = Node | One | Several | str  # a word is a condition: `^`, `\b`


def parsed(raw: str) -> Node:
    """The tree of an expression; raises NotRegular or Unsupported."""
    if len(raw) > MOST_STEPS:
        raise Unsupported(f"it has {len(raw):,} characters")
    reader = _Reader(raw)
    found = reader.alternatives(0)
    if reader.rest:
        raise NotRegular("a closing bracket without an opening one")
    return found


_REPEAT = re.compile(r"[*+?]|\{(\d*)(,?)(\d*)\}")
_NAMED = re.compile(r"\(\?P<[^\W\d]\w*>")
_CLASSES: dict[str, Callable[[str], bool]] = {
    "d": str.isdecimal,
    "s": str.isspace,
    "w": lambda sign: sign.isalnum() or sign == "_",
    "D": lambda sign: not sign.isdecimal(),
    "S": lambda sign: not sign.isspace(),
    "W": lambda sign: not (sign.isalnum() or sign == "_"),
}
_CONTROL = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
ANY = Several((One("\n"),), negated=True)


class _Reader:
    """Reads an expression from left to right."""

    def __init__(self, raw: str) -> None:
        self.rest = raw
        self.names: set[str] = set()  # of groups

    def take(self, length: int = 1) -> str:
        taken, self.rest = self.rest[:length], self.rest[length:]
        if len(taken) < length:
            raise NotRegular("it ends too early")
        return taken

    def alternatives(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise Unsupported(f"its groups are nested more than {DEEPEST} deep")
        found = [self.row(depth)]
        while self.rest.startswith("|"):
            self.take()
            found.append(self.row(depth))
        return Node("any", tuple(found))

    def row(self, depth: int) -> Node:
        found: list[Tree] = []
        while self.rest and self.rest[0] not in "|)":
            found.append(self.repeated(depth))
        return Node("all", tuple(found))

    def repeated(self, depth: int) -> Tree:
        item = self.item(depth)
        sign = _repeat(self.rest)
        if sign is None:
            return item
        if isinstance(item, str):
            raise NotRegular("nothing to repeat")
        self.take(sign.end())
        if self.rest.startswith("?"):
            self.take()  # as few as possible: the same names match
        elif self.rest.startswith("+"):
            raise Unsupported("it uses a possessive repeat")
        if _repeat(self.rest):
            raise NotRegular("a repeat of a repeat")
        return Node("repeat", (item,), *_times(sign))

    def item(self, depth: int) -> Tree:
        if _repeat(self.rest):
            raise NotRegular("nothing to repeat")
        sign = self.take()
        if sign == "(":
            return self.group(depth)
        if sign == "[":
            return self.several()
        if sign == "\\":
            sign = self.take()
            return f"\\{sign}" if sign in "AZbB" else self.character(sign)
        if sign in "^$":
            return sign
        return ANY if sign == "." else One(sign)

    def group(self, depth: int) -> Node:
        looks = {"?=": False, "?!": True}
        opening = self.rest[:2]
        named = _NAMED.match("(" + self.rest)
        if opening in looks:
            self.take(2)
            return Node("look", (self.closed(depth),), negated=looks[opening])
        if opening == "?:":
            self.take(2)
        elif named:
            name = self.take(named.end() - 1)
            if name in self.names:
                raise NotRegular("two groups of one name")
            self.names.add(name)
        elif opening.startswith("?"):
            raise Unsupported("it uses flags, a lookbehind or a backreference")
        return self.closed(depth)

    def closed(self, depth: int) -> Node:
        found = self.alternatives(depth + 1)
        if self.take() != ")":
            raise NotRegular("a bracket is not closed")
        return found

    def character(self, sign: str) -> One | Several:
        """Behind a backslash, within a set or outside."""
        if sign in _CLASSES:
            return Several((_CLASSES[sign],))
        if sign in _CONTROL:
            return One(_CONTROL[sign])
        if sign in "xuUN" or sign.isdigit():
            raise Unsupported("it uses a numeric escape or a backreference")
        if sign.isascii() and sign.isalpha():
            raise NotRegular("an unknown escape")
        return One(sign)

    def several(self) -> Several:
        """`[a-z_]`; a closing bracket that comes first is a character."""
        negated = self.rest.startswith("^")
        self.take(1 if negated else 0)
        tests: list[Callable[[str], bool]] = []
        while not tests or not self.rest.startswith("]"):
            tests.append(self.member())
        self.take()
        return Several(tuple(tests), negated)

    def member(self) -> Callable[[str], bool]:
        first = self.sign()
        if self.rest[:1] != "-" or self.rest[1:2] == "]":
            return first
        self.take()
        last = self.sign()
        if not (isinstance(first, One) and isinstance(last, One)) or first.sign > last.sign:
            raise NotRegular("a range without ends")
        return _between(first.sign, last.sign)

    def sign(self) -> One | Several:
        sign = self.take()
        if sign != "\\":
            return One(sign)
        inner = self.take()
        return One("\b") if inner == "b" else self.character(inner)


def _between(first: str, last: str) -> Callable[[str], bool]:
    return lambda sign: first <= sign <= last


def _repeat(rest: str) -> re.Match[str] | None:
    """A sign that repeats; braces without a number are characters."""
    found = _REPEAT.match(rest)
    if not found or found[0][0] != "{" or found[1] or (found[2] and found[3]) or found[0] == "{,}":
        return found
    return None


def _times(sign: re.Match[str]) -> tuple[int, int | None]:
    plain: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
    if sign[0] in plain:
        return plain[sign[0]]
    if max(len(sign[1]), len(sign[3])) > len(str(MOST_STEPS)):
        raise Unsupported("it repeats too often")
    least = int(sign[1] or 0)
    if not sign[2]:
        return least, least
    most = int(sign[3]) if sign[3] else None
    if most is not None and most < least:
        raise NotRegular("a repeat with its minimum above its maximum")
    return least, most


def written(tree: Node) -> Program:
    """The program of a tree, repeats written out."""
    writer = _Writer()
    writer.write(tree)
    return tuple(writer.steps)


@dataclass
class _Writer:
    """Writes steps one behind the other, each going on behind itself unless it forks."""

    steps: list[Step] = field(default_factory=list)

    def add(self, what: One | Several | Look | str | None, *then: int) -> int:
        if len(self.steps) >= MOST_STEPS:
            raise Unsupported("it is too long once its repeats are written out")
        self.steps.append(Step(what, then or (len(self.steps) + 1,)))
        return len(self.steps) - 1

    def write(self, tree: Tree) -> None:
        if not isinstance(tree, Node):
            self.add(tree)
        elif tree.kind == "all":
            for inner in tree.inner:
                self.write(inner)
        elif tree.kind == "any":
            self.either(tree.inner)
        elif tree.kind == "look":
            program = written(Node("all", tree.inner))
            if len(self.steps) + len(program) > MOST_STEPS:
                raise Unsupported("it is too long once its repeats are written out")
            self.add(Look(program, tree.negated))
        else:
            self.repeat(tree)

    def either(self, branches: tuple[Tree, ...]) -> None:
        """Each but the last behind a fork, and a jump from its end to the end of all."""
        jumps = []
        for branch in branches[:-1]:
            fork = self.add(None)
            self.write(branch)
            jumps.append(self.add(None))
            self.steps[fork] = Step(None, (fork + 1, len(self.steps)))
        self.write(branches[-1])
        for jump in jumps:
            self.steps[jump] = Step(None, (len(self.steps),))

    def repeat(self, tree: Node) -> None:
        inner = tree.inner[0]
        for _ in range(tree.least):
            self.write(inner)
        if tree.most is None:
            fork = self.add(None)
            self.write(inner)
            self.add(None, fork)
            self.steps[fork] = Step(None, (fork + 1, len(self.steps)))
            return
        forks = []
        for _ in range(tree.most - tree.least):
            forks.append(self.add(None))
            self.write(inner)
        for fork in forks:
            self.steps[fork] = Step(None, (fork + 1, len(self.steps)))
