"""Lists of modules in quantised checkpoints: names, parts of names, and regular expressions.

A list usually treats most layers alike. `of_layer` gives the entries for one layer, so that layers with the same
entries are matched once: 78 layers with three rules each need one match, and thousands of entries a dict look-up.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property

from archcalc.core.errors import InputError
from archcalc.storage.regex_syntax import NotRegular, Unsupported, parsed
from archcalc.storage.safe_regex import Expression, compiled

FIELD = "quantization_config"
MOST_STEPS = 20_000  # of all expressions that are asked about every layer; real lists have some thousand
# of states of one list's expressions, steps that are made again left out; real lists need some 10,000
MOST_VISITS = 3_000_000
_LISTED = re.compile(r"[\w.-]+")  # a name; anything else is an expression
_TOWER = r"(?:model|language_model|text_model|transformer|gpt_neox|decoder|backbone)"
_ABOVE = re.compile(rf"^(?:{_TOWER}\.)*(?:layers|h|blocks)\.")
_OUTSIDE = re.compile(rf"^(?:{_TOWER}\.)+(?=[^.]+$)")  # of a module in no layer: `language_model.lm_head`
_ESCAPED = re.compile(rf"^\^?(?:{_TOWER}\\\.)*(?:layers|h|blocks)\\\.([0-9]{{1,9}})\\\.(?![*+?{{])")
_TOWERS = ("model.language_model.layers", "language_model.model.layers")  # in a larger model
_EVERYWHERE = frozenset({"model", "layers", "model.layers"})  # what every module of a layer is called
_FUSED = re.compile(r"(qkv|gate_up)_proj")  # `.*v_proj.*` is not meant for these
_NUMBERED = re.compile(r"(?:model\.layers\.)?([0-9]{1,9})(?:\.(.*))?")
_ELSEWHERE = re.compile(  # modules that no linear layer of the text model is, or that are never quantised
    r"head|embed|norm|router|gate$|vision|visual|image|audio|speech|projector|multi_modal|rotary|conv|mtp|score|bias"
)


@dataclass(frozen=True)
class Rules:
    """Entries matched in the same way: names and expressions."""

    words: frozenset[str] = frozenset()
    expressions: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Names:
    """A list of modules: by names, by parts of names between dots, or by expressions (`re:.*mlp.gate$`, `*gate`)."""

    listed: tuple[str, ...]
    _layers: dict[int, Hashable] = field(default_factory=dict, init=False, compare=False, repr=False)
    _answers: dict[Hashable, bool] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Expressions are compiled when the file is read, so that an error names the file."""
        usual, _ = self._rules
        if sum(len(one.program) for one in usual.expressions) > MOST_STEPS:
            hint = "list modules by their names, or use fewer expressions"
            raise InputError(f"{len(usual.expressions)} expressions are too many to match", hint, field=FIELD)

    @cached_property
    def _rules(self) -> tuple[Rules, dict[int, Rules]]:
        """Those for all layers, and those for one, about what comes behind `model.layers.3.`"""
        words: dict[int | None, set[str]] = {}
        expressions: dict[int | None, dict[Expression, None]] = {}
        for entry in self.listed:
            layer, said = _entry(entry)
            if isinstance(said, Expression):
                expressions.setdefault(layer, {})[said] = None
            else:
                words.setdefault(layer, set()).add(said)
        rules = {
            layer: Rules(frozenset(words.get(layer, ())), tuple(expressions.get(layer, ())))
            for layer in {**words, **expressions}
        }
        return rules.pop(None, Rules()), {layer: rule for layer, rule in rules.items() if layer is not None}

    @property
    def by_layer(self) -> bool:
        """Whether the list may match some layers and not others."""
        usual, special = self._rules
        return bool(special or usual.expressions)

    def of_layer(self, layer: int) -> Hashable:
        """The entries for a layer; two layers with equal entries match the same modules."""
        if layer not in self._layers:
            usual, special = self._rules
            states = tuple(one.after(name) for one in usual.expressions for name in _above(layer))
            self._layers[layer] = special.get(layer), layer if None in states else states
        return self._layers[layer]

    def hold(self, layer: int, modules: tuple[str, ...]) -> bool:
        """Whether one of these modules of a layer is in the list: what a module is called behind `model.layers.3.`"""
        key = self.of_layer(layer), modules
        if key not in self._answers:
            usual, special = self._rules
            self._answers[key] = (
                not usual.words.isdisjoint(stretches(modules) | _EVERYWHERE)
                or (layer in special and _held(special[layer], modules))
                or any(_matched(usual.expressions, module, _above(layer)) for module in modules)
            )
        return self._answers[key]

    def hold_outside(self, module: str) -> bool:
        """The same of a module that is in no layer."""
        usual, _ = self._rules
        return not usual.words.isdisjoint(stretches((module,))) or _matched(usual.expressions, module, [""])

    def unfound(self, modules: Iterable[str]) -> tuple[str, ...]:
        """Names in the list that match none of these modules in any layer."""
        known = stretches(tuple(modules)) | _EVERYWHERE
        listed = [word for word in self.listed if _LISTED.fullmatch(word) and not _ELSEWHERE.search(word)]
        return tuple(word for word in listed if (said := _entry(word)[1]) and said not in known)


def _entry(entry: str) -> tuple[int | None, str | Expression]:
    """The layer that an entry names, if any, and the rest of the entry. `re:` begins an expression; elsewhere a star
    stands for anything, unless it is plainly an expression."""
    if _LISTED.fullmatch(entry):
        word = _OUTSIDE.sub("", _ABOVE.sub("model.layers.", entry))
        numbered = _NUMBERED.fullmatch(word)
        return (int(numbered[1]), numbered[2] or "") if numbered else (None, word)
    raw = entry.removeprefix("re:")
    if raw == entry and not set(entry) & set("\\()|^$+["):
        numbered = _NUMBERED.fullmatch(_ABOVE.sub("model.layers.", entry))
        if numbered and numbered[2]:
            return int(numbered[1]), compiled(_starred(numbered[2]))
        return None, compiled(_starred(entry))
    escaped = _ESCAPED.match(raw)
    if escaped and _is_row(raw[escaped.end() :]):
        return int(escaped[1]), compiled(raw[escaped.end() :])
    return None, compiled(raw)


def _starred(word: str) -> str:
    return re.escape(word).replace(r"\*", ".*").replace(r"\?", ".") + r"(?:\.|$)"


def _is_row(raw: str) -> bool:
    """Whether it has no top-level alternatives, which a prefix would not apply to."""
    try:
        return len(parsed(raw).inner) == 1
    except (NotRegular, Unsupported):
        return False


def _held(rules: Rules, modules: tuple[str, ...]) -> bool:
    named = any(not word or f"{module}.".startswith(f"{word}.") for word in rules.words for module in modules)
    return named or any(_matched(rules.expressions, module, [""]) for module in modules)


def _above(layer: int) -> list[str]:
    return [f"{tower}.{layer}." for tower in ("model.layers", *_TOWERS)]


def _matched(expressions: tuple[Expression, ...], module: str, above: list[str]) -> bool:
    fused = _FUSED.search(module)
    meant = [one for one in expressions if not fused or fused[1] in one.raw]
    if sum(one.visited for one in meant) > MOST_VISITS:
        hint = "list modules by their names, or use simpler expressions"
        raise InputError(f"expressions such as {meant[0].raw[:60]} take too long to match", hint, field=FIELD)
    return any(expression.match(name + module) for expression in meant for name in above)


@cache
def stretches(modules: tuple[str, ...]) -> frozenset[str]:
    """Every run of consecutive parts of a dotted name."""
    found: set[str] = set()
    for module in modules:
        parts = module.split(".")
        for start in range(len(parts)):
            found.update(".".join(parts[start:end]) for end in range(start + 1, len(parts) + 1))
    return frozenset(found)
