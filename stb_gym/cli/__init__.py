"""The command `stb-gym`: exact answers about the games.

- `program`: the command line: games and their rules become flags, answers become JSON or text, errors take one line.
- `turn`, `rounds`, `play`, `text`: the commands, functions that return dictionaries; `turn` has their common options.

    >>> import stb_gym
    >>> from stb_gym.cli.turn import solve
    >>> round(solve(stb_gym.ShutTheBox(), objective="shut")["value"], 6)
    0.071432
"""

from stb_gym.cli.program import convert_exactly, flag_of_rule, import_games, main
from stb_gym.cli.turn import imported

__all__ = ["convert_exactly", "flag_of_rule", "import_games", "imported", "main"]
