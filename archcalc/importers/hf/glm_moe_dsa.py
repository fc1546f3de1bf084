"""GLM-5: DeepSeek V3.2 whose blocks may reuse the top-k token selection of an earlier block's indexer."""

from archcalc.importers.hf._helpers import Config, Fields, latent

INERT = latent.INDEXED_INERT

_LETTERS = {"F": "full", "S": "shared"}


def translate(c: Config) -> Fields:
    return latent.indexed_decoder(c, _have_their_own(c))


def _have_their_own(c: Config) -> list[bool]:
    blocks, pattern = range(c.size("num_hidden_layers")), c.given("index_topk_pattern")
    said = c.words("indexer_types")
    if said is None and isinstance(pattern, str):
        pattern = [_LETTERS[letter] for letter in pattern]
    if said is None:
        said = pattern
    if said is None:
        said = _usual(c)
    if len(said) != len(blocks) or not set(said) <= {"full", "shared"}:
        raise c.refused("indexer_types", f"it must be a list of full or shared for each of {len(blocks)} blocks")
    return [word == "full" for word in said]


def _usual(c: Config) -> list[str]:
    """All blocks up to an offset have their own indexer; after it, every `index_topk_freq`-th does."""
    every, first = max(c.given("index_topk_freq") or 1, 1), c.given_or("index_skip_topk_offset", 2)
    kinds = {True: "full", False: "shared"}
    return [kinds[max(block - first + 1, 0) % every == 0] for block in range(c.size("num_hidden_layers"))]
