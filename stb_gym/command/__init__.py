"""The command `stb-gym`. Every command is a question, a dataclass whose fields are its flags, and a typed answer.

- `flags`: flags from the fields of dataclasses; `answers`: what every answer is, for JSON and for people.
- `solving`, `evaluating`, `advising`, `contests`, `variants`, `playing`, `writing`: the questions, by subject.
- `main`: the command itself.

Python can ask the same without a command line: `solving.Solve(objective="shut").answer(game).value`.
"""

from stb_gym.command.flags import add_rules, rules_from
from stb_gym.command.main import main

__all__ = ["add_rules", "main", "rules_from"]
