"""Every figure of a case beside archcalc's answer: with what its source tells, and as a user would type it.

One broken case hides no other: what cannot be asked, or is refused, says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from measured_cases import Case, read, source_of
from measured_command import Command, Record, Refused
from measured_devices import device_of
from measured_names import Configs, Typed, model_of
from measured_plan import plan_of
from measured_quantities import BANDED, QUANTITIES, Wanted
from measured_reading import band, capacity, figure, is_part, runner, verdict
from measured_serving import served
from measured_training import facts, nothing, sharding_of, today, trained
from measured_units import Inexpressible
from measured_wanted import checked, mode_of, runner_of, wanted

NO_CLASS = "no class"
UNSAID = ("unsaid", "allocated")  # what stands for a peak that does not say what it counts
PRINTED = 0.006  # what llama.cpp's hundredths of a MiB may hide


@dataclass(frozen=True)
class Answer:
    """What archcalc says to one command, in the unit of the figure; or why it says nothing."""

    command: str | None = None
    predicted: float | str | None = None
    band: float | None = None
    runner: str | None = None
    verdict: str | None = None  # of a command that gives one
    capacity: float | None = None  # of the device that holds a pool, in the unit of the figure
    is_part: bool = False  # whether it counts a part of the model alone: such answers have no band
    refused: str | None = None


@dataclass(frozen=True)
class Row:
    """One measured number and archcalc's: with facts, as typed, and with the code of today where one was typed with the
    version that ran."""

    case: Case
    of: str
    quantity: str | None = None
    measured: float | str | None = None
    informed: Answer = Answer()
    typed: Answer = Answer()
    today: Answer = Answer()

    @property
    def error(self) -> float | None:
        return self._error(self.informed)

    @property
    def typed_error(self) -> float | None:
        return self._error(self.typed)

    @property
    def today_error(self) -> float | None:
        return self._error(self.today)

    @property
    def figure(self) -> str:
        """What archcalc's answer is read from: of a peak that does not say what it counts, what is allocated."""
        return (self.quantity or "").replace(*UNSAID)

    @property
    def banded_error(self) -> float | None:
        """The error that a band is about: of a pool, what is missing or too much as a share of the device's memory."""
        error = None if self.typed.is_part else self.typed_error
        if error is None or not self.typed.capacity or not isinstance(self.measured, float):
            return error
        return error * self.measured / self.typed.capacity

    @property
    def is_banded(self) -> bool:
        """Whether answers of this kind state a band: none of a run that keeps anything in host RAM does."""
        return self.quantity in BANDED and " --offload " not in (self.typed.command or "")

    @property
    def run(self) -> dict[str, str]:
        """The class of runs."""
        return {
            "mode": mode_of(self.case),
            "runner": self.typed.runner or runner_of(self.case) or "plain",
            "devices": device_of(self.case).kind,
            "sharding": _sharding(self.case),
            "weights": self._weights,
        }

    @property
    def _weights(self) -> str:
        """Of training, whether quantised weights lie under the adapters."""
        trains = mode_of(self.case) == "train"
        return "quantised" if trains and " --weights " in (self.typed.command or "") else "as computed"

    @property
    def source(self) -> str:
        return source_of(self.case)

    def entry(self) -> dict[str, Any]:
        """As JSON has it."""
        what = QUANTITIES[self.quantity] if self.quantity else None
        shown = {"id": self.case["id"], "class": self.of, "what": f"{what.name} {what.unit}".strip() if what else None}
        shown |= {"measured": self.measured, "predicted": self.informed.predicted, "error": self.error}
        shown |= {"band": self.informed.band, "why_not": self.informed.refused, "run": self.run, "source": self.source}
        return {**shown, "as_typed": self._entry(self.typed), "today": self._entry(self.today)}

    def _entry(self, answer: Answer) -> dict[str, Any]:
        shown: dict[str, Any] = {"command": answer.command}
        if answer.refused:
            return {**shown, "refused": answer.refused}
        return {**shown, "predicted": answer.predicted, "error": self._error(answer), "band": answer.band}

    def _error(self, answer: Answer) -> float | None:
        """As a fraction of what was measured; what is printed alike is alike."""
        if not isinstance(self.measured, float) or not isinstance(answer.predicted, float):
            return None
        alike = self.quantity == "cache" and abs(self.measured - answer.predicted) < PRINTED
        return 0.0 if alike else answer.predicted / self.measured - 1


def rows(said: Any, configs: Configs) -> list[Row]:
    """Every figure of one case."""
    case = read(said)
    try:
        found = [checked(one) for one in wanted(case)]
    except Exception as why:  # a case may be laid out in any way
        return [_unread(case, reason(why))]
    if not found:
        return [_unread(case, _nothing(case))]
    return [_row(case, one, configs) for one in found]


def _row(case: Case, one: Wanted, configs: Configs) -> Row:
    """All columns; a figure that no command prints has none."""
    what = QUANTITIES[one.quantity]
    shown = one.measured if isinstance(one.measured, str) else one.measured / what.scale
    typed, undated = (_answer(case, one, configs, more) for more in (nothing, today))
    informed = typed if one.quantity == "verdict" else _answer(case, one, configs, facts)
    return Row(case, one.of(runner_of(case)), one.quantity, shown, informed, typed, undated)


def _answer(case: Case, one: Wanted, configs: Configs, more: Callable[[Case], dict[str, Any]]) -> Answer:
    try:
        if one.why_not:
            raise Inexpressible(one.why_not)
        command = asked(case, one, model_of(case, configs), more(case))
    except Exception as why:  # a case may be laid out in any way
        return Answer(refused=reason(why))
    try:
        return _read(one, str(command), command.record(), dict(command.options))
    except Refused as why:
        return Answer(str(command), refused=str(why))


def _read(one: Wanted, command: str, record: Record, options: dict[str, Any]) -> Answer:
    whose, judged = runner(record, options.get("code") or options.get("engine")), verdict(record)
    if one.quantity == "verdict":
        return Answer(command, judged, band(record), whose, judged)
    counted = one.quantity.replace(*UNSAID)
    predicted = one.part * figure(counted, record) / QUANTITIES[one.quantity].scale
    stated = band(record, counted) if one.quantity in BANDED else None
    room = capacity(record) / QUANTITIES[one.quantity].scale if one.quantity == "pool" else None
    return Answer(command, predicted, stated, whose, judged, capacity=room, is_part=is_part(record))


def asked(case: Case, one: Wanted, typed: Typed, more: dict[str, Any]) -> Command:
    """The command that a figure of a case is asked with."""
    options = {**_options(case, one, typed), **one.options, "set": typed.changes, **more}
    if "lora" in options and not options["lora"]:
        raise Inexpressible("the case does not give the rank of LoRA's adapters")
    return Command.of(_command(one, options), typed.model, options)


def _command(one: Wanted, options: dict[str, Any]) -> str:
    """`fit` where a device decides; a pool is a part of one."""
    if one.quantity in ("parameters", "flops", "rule"):
        return "params" if one.quantity == "parameters" else "flops"
    if one.quantity in ("pool", "verdict") and not options.get("gpu"):
        raise Inexpressible("the case does not name the device")
    return "fit" if one.quantity in ("pool", "verdict", "token") and options.get("gpu") else "memory"


def _options(case: Case, one: Wanted, typed: Typed) -> dict[str, Any]:
    if one.quantity == "parameters":
        return {}
    if one.quantity in ("flops", "rule"):
        return {"mode": "train", "batch": 1, "seq": case.get("seq")}
    if mode_of(case) == "train":
        return {**trained(case, typed), "gpu": device_of(case).typed}
    return served(case, typed)


def _sharding(case: Case) -> str:
    try:
        return sharding_of(case) if mode_of(case) == "train" else plan_of(case).sharding
    except Inexpressible:
        return "unsaid"


def _unread(case: Case, why: str) -> Row:
    return Row(case, NO_CLASS, informed=Answer(refused=why), typed=Answer(refused=why))


def _nothing(case: Case) -> str:
    if not case["measured"]:
        return "nothing measured"
    return f"nothing that is compared here, of a case of kind {case['kind'] or '?'}: {', '.join(case['measured'])}"


def reason(why: Exception) -> str:
    """In one line; what nobody foresaw is called by its name."""
    if isinstance(why, Inexpressible):
        return str(why).splitlines()[0]
    return f"laid out otherwise than is read here ({type(why).__name__}: {why})"
