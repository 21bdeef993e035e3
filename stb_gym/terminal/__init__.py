"""Play in a terminal, alone or in a round, with a coach who separates luck from mistakes.

- `turns`: a turn throw by throw, in words; `dialogue`: the person's turn.
- `coach`: what luck and choices were worth; `playing`: a whole game.
"""

from stb_gym.terminal.playing import play_alone, play_round

__all__ = ["play_alone", "play_round"]
