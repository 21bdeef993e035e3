"""The command `stb-gym`. Every command is a question, a dataclass whose fields are its flags, and a typed answer.

- `questions`: what every question and every answer is; `flags`: flags from the fields of dataclasses.
- `solving`, `evaluating`, `measuring`, `thumbs`, `judging`, `advising`, `branching`, `listing`, `rounds`, `matches`,
  `playing`, `watching`, `exploring`: the questions by subject; `contests`: what those about several players share.
- `laboratory`: the commands of the laboratory, where there is one; `completion`: what a shell needs.
- `program`: the command itself.

Python can ask the same without a command line:

    >>> import stb_gym
    >>> from stb_gym.cli.solving import Solve
    >>> round(Solve(objective="shut").answer(stb_gym.ShutTheBox()).value, 6)
    0.071432
"""

from stb_gym.cli.flags import rules_from, rules_parser
from stb_gym.cli.program import import_games, main

__all__ = ["import_games", "main", "rules_from", "rules_parser"]
