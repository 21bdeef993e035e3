"""Play in a terminal, alone or in a round, with a coach who separates luck from mistakes; or look on while others do.

- `turns`: a turn throw by throw, in words; `dialogue`: the person's turn; `players`: how others choose.
- `coach`, `chances`: what luck and choices were worth, in a turn and in a round.
- `playing`: a whole game; `evening`: one after another; `watching`: one of others, perhaps as a film.
"""

from stb_gym.terminal.coach import coach_alone
from stb_gym.terminal.players import chooser
from stb_gym.terminal.playing import play_alone, play_round
from stb_gym.terminal.watching import Frame, frames, play, show, write_film

__all__ = ["Frame", "chooser", "coach_alone", "frames", "play", "play_alone", "play_round", "show", "write_film"]
