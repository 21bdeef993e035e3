"""The command `stb-gym`: exact answers about the games.

- `program`: the command line: it prints answers as text or JSON, and errors in one line.
- `flags`: turns flags into rules, positions and places in a round.
- `answers`: what a command returns: named values, printed as JSON or as text.
- `turn`, `policies`, `rounds`, `play`, `questions`: the commands.

    >>> import stb_gym
    >>> from stb_gym.cli.turn import solve
    >>> round(solve(stb_gym.ShutTheBox(), objective="shut").json["value"], 6)
    0.071432
"""

from stb_gym.cli.flags import convert_exactly, flag_of_rule, imported
from stb_gym.cli.program import main, modules_to_import

__all__ = ["convert_exactly", "flag_of_rule", "imported", "main", "modules_to_import"]
