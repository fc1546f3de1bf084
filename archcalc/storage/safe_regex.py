"""Regular expressions from files, matched in linear time, without catastrophic backtracking.

Python's `re` tries every way in which repeats can share a name between them, and a file may bring an expression for
which that takes forever. Here an expression becomes a small program of which all states are followed at once (Thompson
1968): every state is visited at most once for each character. What needs more than that (backreferences, looking
behind, flags) is refused with an error; what Python would not compile is taken
literally, as a name with unusual characters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from archcalc.core.errors import InputError
from archcalc.storage.regex_syntax import Look, Node, NotRegular, One, Program, Unsupported, parsed, written

States = frozenset[int]
MATCHED: States = frozenset({-1})


@dataclass(eq=False)
class Expression:
    """An expression, its program, and the steps of it that were made; `visited` counts the states they led through."""

    raw: str
    program: Program
    known: dict[tuple[States, str, str], States] = field(default_factory=dict)
    visited: int = 0

    def match(self, name: str) -> bool:
        """Whether a name begins with what is described, as `re.match` asks it."""
        if self._looks or "\n" in name:
            matching = Matching(name)
            found = matching.begins(self.program)
            self.visited += matching.steps
            return found
        states = self._read(name)
        return self._step(states, name[-1:], "") == MATCHED

    def after(self, name: str) -> States | None:
        """The states after a prefix of a name: prefixes with the same states and last character match alike.

        Unknown (None) where the expression looks ahead.
        """
        return None if self._looks else self._read(name)

    @cached_property
    def _looks(self) -> bool:
        return any(isinstance(step.what, Look) for step in self.program)

    def _read(self, name: str) -> States:
        states, before = frozenset({0}), ""
        for sign in name:
            states = self._step(states, before, sign)
            before = sign
        return states

    def _step(self, states: States, before: str, sign: str) -> States:
        """Every step is made once and remembered; nothing follows behind the end, or behind a match."""
        if states == MATCHED or not states:
            return states
        key = (states, before, sign)
        if key not in self.known:
            matching = Matching(before + sign)
            self.known[key] = matching.step(self.program, states, len(before))
            self.visited += matching.steps
        return self.known[key]


@lru_cache(4096)
def compiled(raw: str) -> Expression:
    """An invalid expression is matched literally."""
    try:
        return Expression(raw, written(parsed(raw)))
    except NotRegular:
        return Expression(raw, written(Node("all", tuple(One(sign) for sign in raw))))
    except Unsupported as reason:
        fact = f"the expression {raw[:60]} is not matched: {reason}"
        hint = "use only characters, sets, alternatives, repeats and (?!…), or list the modules by name"
        raise InputError(fact, hint, field="quantization_config") from None


@dataclass
class Matching:
    """One name, and what has been asked about it; `steps` counts the states that were visited."""

    name: str
    steps: int = 0
    seen: dict[tuple[int, int], bool] = field(default_factory=dict)  # what looking ahead found, by place

    def begins(self, program: Program, start: int = 0) -> bool:
        """Whether some substring from here on matches."""
        states, place = frozenset({0}), start
        while states:
            states = self.step(program, states, place)
            if states == MATCHED:
                return True
            place += 1
        return False

    def step(self, program: Program, states: States, place: int) -> States:
        """The states behind one more character; none behind the last."""
        reached = set(states)  # these, and all that follow from them without reading
        waiting = list(reached)
        while waiting:
            state = waiting.pop()
            self.steps += 1
            if state == len(program) or not self._passes(program[state].what, place):
                continue
            fresh = [then for then in program[state].then if then not in reached]
            reached.update(fresh)
            waiting += fresh
        if len(program) in reached:
            return MATCHED
        if place >= len(self.name):
            return frozenset()
        sign = self.name[place]
        return frozenset(program[state].then[0] for state in reached if program[state].reads(sign))

    def _passes(self, what: object, place: int) -> bool:
        """Whether a state leads on without reading: a fork always, a condition where it holds."""
        if isinstance(what, Look):
            key = (id(what), place)
            if key not in self.seen:
                self.seen[key] = self.begins(what.program, place)
            return self.seen[key] is not what.negated
        return what is None or (isinstance(what, str) and CONDITIONS[what](self.name, place))


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def _at_edge(name: str, place: int) -> bool:
    before, behind = name[place - 1 : place] if place else "", name[place : place + 1]
    return _is_word(before) is not _is_word(behind)


CONDITIONS: dict[str, Callable[[str, int], bool]] = {
    "^": lambda name, place: place == 0,
    "$": lambda name, place: name[place:] in ("", "\n"),
    r"\A": lambda name, place: place == 0,
    r"\Z": lambda name, place: place == len(name),
    r"\b": lambda name, place: _at_edge(name, place),
    r"\B": lambda name, place: not _at_edge(name, place),
}
