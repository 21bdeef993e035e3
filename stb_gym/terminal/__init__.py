"""Play at the terminal with a coach who separates luck from mistakes, and watch strategies play.

- `turns`: a turn throw by throw, and a round in progress, in words.
- `coach`: the value of every moment, and accounts of luck and mistakes.
- `playing`: the turn or the round of a person; `watching`: those of strategies and policies, as lines or as a film.
"""

from stb_gym.terminal.coach import coach_alone
from stb_gym.terminal.playing import play_alone, play_round
from stb_gym.terminal.turns import Throw, round_in_words
from stb_gym.terminal.watching import (
    PlayedTurn, chooser, frames, play, play_together, replay, show, write_film,
)  # fmt: skip

__all__ = [
    "PlayedTurn",
    "Throw",
    "chooser",
    "coach_alone",
    "frames",
    "play",
    "play_alone",
    "play_round",
    "play_together",
    "replay",
    "round_in_words",
    "show",
    "write_film",
]  # fmt: skip
