"""An encoder that nothing reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Run, Write

SPEC = """
vocab: 11
d_model: 8
heads: 2
ffn: 12
encoder: 2
decoder: {blocks: 2, pattern: [attention ffn]}
"""


def test_a_decoder_that_ignores_its_encoder_is_refused(run: Run, write: Write) -> None:
    """PyTorch would compute no gradient for the encoder: nothing of it is ever trained."""
    answer = run("params", write(SPEC))
    assert answer.code == 2
    assert "decoder.pattern: no block of the decoder attends to the encoder" in answer.err
    assert "attention cross ffn" in answer.err
