"""Play in a terminal, alone or in a round, with a coach who separates luck from mistakes; or look on while others do.

- `turns`: a turn throw by throw, in words; `dialogue`: the person's turn; `players`: how others choose.
- `replaying`: a turn with given dice.
- `coach`, `chances`: what luck and choices were worth, in a turn and in a round; `course`: how a round stands.
- `playing`: whole games; `evening`: one after another; `watching`: a turn of others in lines or as a film.
"""

from stb_gym.terminal.coach import coach_alone
from stb_gym.terminal.course import contest
from stb_gym.terminal.players import chooser
from stb_gym.terminal.playing import Named, play_alone, play_round, play_together
from stb_gym.terminal.replaying import replay
from stb_gym.terminal.turns import Throw
from stb_gym.terminal.watching import Frame, Turn, check_film, frames, play, say_wrapped, show, write_film

__all__ = [
    "Frame",
    "Named",
    "Throw",
    "Turn",
    "check_film",
    "chooser",
    "coach_alone",
    "contest",
    "frames",
    "play",
    "play_alone",
    "play_round",
    "play_together",
    "replay",
    "say_wrapped",
    "show",
    "write_film",
]
