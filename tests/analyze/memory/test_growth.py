"""What a little more takes, by a function of sizes that somebody made up."""

from __future__ import annotations

import pytest

from archcalc.analyze.memory.growth import marginals
from archcalc.analyze.memory.marginals import Limit, Marginals
from archcalc.core.errors import InputError
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Longest, Workload

FIXED, EACH, TOKEN = 1_000_000, 300, 7


def bytes_at(sizes: Sizes) -> int:
    """So many for the model, for each sequence, and for each of its tokens."""
    assert sizes.batch
    length = (sizes.context or 0) + (sizes.seq or 0) + (sizes.src_seq or 0) + (sizes.tgt_seq or 0)
    return FIXED + sizes.batch * (EACH + TOKEN * length)


def grown(work: Workload, longest: dict[str, Longest], now: Sizes, layer: int | None = None) -> Marginals:
    return marginals(work, longest, bytes_at(now), bytes_at, layer)


def test_a_sequence_and_a_thousand_tokens_of_each() -> None:
    found = grown(Workload(4, {"seq": 512}), {"seq": Longest(2048)}, Sizes(4, 512), layer=5)
    assert found == Marginals(
        sequence=EACH + TOKEN * 512,
        tokens=4 * 1000 * TOKEN,
        layer=5,
        limits=(Limit("context", "positions", 2048),),
        are_several=True,
    )


def test_of_a_decode_step_what_is_cached_grows() -> None:
    work = Workload(1, {"seq": 1}, mode="decode", context=99)
    found = grown(work, {"seq": Longest(200, hard=True)}, Sizes(1, context=99))
    assert (found.sequence, found.tokens) == (EACH + 99 * TOKEN, 1000 * TOKEN)
    assert found.limits == (Limit("context", "positions", 199),)  # the new token takes the last row of the table


def test_both_sequences_of_an_encoder_and_a_decoder_grow() -> None:
    work = Workload(2, {"src_seq": 10, "tgt_seq": 20})
    found = grown(work, {"src_seq": Longest(512), "tgt_seq": Longest(448)}, Sizes(2, src_seq=10, tgt_seq=20))
    assert found.tokens == 2 * 2 * 1000 * TOKEN
    assert found.limits == (Limit("context", "positions", 448),)


def test_a_length_that_follows_from_an_image_does_not_grow() -> None:
    found = grown(Workload(2, {"seq": 197}), {"seq": Longest(197, fixed="change the image")}, Sizes(2))
    assert (found.sequence, found.tokens, found.one, found.limits) == (EACH, None, "sample", ())


def test_a_size_that_is_refused_takes_nothing() -> None:
    def refusing(sizes: Sizes) -> int:
        if (sizes.seq or 0) > 600:
            raise InputError("the position table has 600")
        return bytes_at(sizes)

    found = marginals(Workload(1, {"seq": 512}), {"seq": Longest(600, hard=True)}, bytes_at(Sizes(1, 512)), refusing)
    assert (found.sequence, found.tokens) == (EACH + TOKEN * 512, None)


@pytest.mark.parametrize(("now", "limits"), [(2048, 1), (2049, 0)])
def test_positions_that_are_behind_bind_no_more(now: int, limits: int) -> None:
    assert len(grown(Workload(1, {"seq": now}), {"seq": Longest(2048)}, Sizes(1, now)).limits) == limits
