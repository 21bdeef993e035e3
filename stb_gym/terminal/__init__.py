"""Play at the terminal with a coach who separates luck from mistakes, and watch strategies play.

- `turns`: a turn throw by throw, in words; `coach`: the value of every moment, and accounts of luck and mistakes.
- `round_state`: a round in progress, in words.
- `playing`: a person's turns and rounds; `watching`: those of strategies and policies, as lines or as a film.
"""

from stb_gym.terminal.coach import coach_alone
from stb_gym.terminal.playing import play_alone, play_round
from stb_gym.terminal.round_state import contest
from stb_gym.terminal.turns import Throw
from stb_gym.terminal.watching import (
    Frame, Turn, check_film, chooser, frames, play, play_together, replay, say_wrapped, show, write_film,
)  # fmt: skip

__all__ = [
    "Frame", "Throw", "Turn", "check_film", "chooser", "coach_alone", "contest", "frames", "play",
    "play_alone", "play_round", "play_together", "replay", "say_wrapped", "show", "write_film",
]  # fmt: skip
