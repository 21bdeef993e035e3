"""How questions are phrased: paraphrases of the sentences that all games share, and other names for numbers."""

from typing import NamedTuple

import numpy as np

from stb_gym.checks import check_integer
from stb_gym.words import Words

# The spelling alphabet: no name is another word of an answer.
NAMES = (
    "alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett", "kilo", "lima",
    "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor", "whiskey", "xray",
    "yankee", "zulu",
)  # fmt: skip


class Wording(NamedTuple):
    """A paraphrase of the sentences that a prompt has in every game, as format strings.

    Attributes:
        opening: the first line of the rules.
        warning: their last line.
        request: what follows the question: how to write the answer.
    """

    opening: str
    warning: str
    request: str


# Only the first one shows an answer, which a weak model may copy.
WORDINGS = {
    "example": Wording(
        "You play one turn of {game}.",
        "An answer that names no legal move ends the turn with the worst score.",
        'End your reply with one line such as "Answer: {example}".',
    ),
    "last-line": Wording(
        "This is one turn of {game}. You are the player.",
        "If your reply names no legal move, the turn is over and you get the worst score.",
        'The last line of your reply must be the word "Answer", a colon and your move.',
    ),
    "json": Wording(
        "Choose moves in one turn of {game}.",
        "Without a legal move in your reply the turn ends and counts as the worst score.",
        'Reply only with a JSON object that has your move, as a string, under the key "move".',
    ),
}


def drawn_names(words: Words, seed: int) -> tuple[str, ...]:
    """Return names for the numbers 1, 2, ... of tiles or faces, drawn by a seed."""
    check_integer("seed", seed, 0, 2**63 - 1)
    count = words.num_renamed
    if count == 0:
        raise ValueError(f"a seed renames numbers in questions, but there is nothing to rename in {words.game.name}")
    if count > len(NAMES):
        raise ValueError(f"a seed renames at most {len(NAMES)} {words.renamed}, not {count}")
    order = np.random.default_rng(seed).permutation(len(NAMES))[:count]
    return tuple(NAMES[place] for place in order)
