"""The command `stb-gym`. Every command is a question, a dataclass whose fields are its flags, and a typed answer.

- `questions`, `answers`: what every question and every answer is; `flags`: flags from the fields of dataclasses.
- `solving`, `evaluating`, `advising`, `listing`, `contests`, `playing`, `writing`: the questions, by subject.
- `program`: the command itself.

Python can ask the same without a command line: `Solve(objective="shut").answer(game).value`.
"""

from stb_gym.command.advising import Advise
from stb_gym.command.contests import EvaluateMatch, EvaluateRound, EvaluateTournament
from stb_gym.command.evaluating import Evaluate, Simulate
from stb_gym.command.flags import rules_from, rules_parser
from stb_gym.command.listing import ListStrategies, ListVariants
from stb_gym.command.playing import Play
from stb_gym.command.program import main
from stb_gym.command.solving import Certify, Solve
from stb_gym.command.writing import WriteBook

__all__ = [
    "Advise", "Certify", "Evaluate", "EvaluateMatch", "EvaluateRound", "EvaluateTournament", "ListStrategies",
    "ListVariants", "Play", "Simulate", "Solve", "WriteBook", "main", "rules_from",
    "rules_parser",
]  # fmt: skip
