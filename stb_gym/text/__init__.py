"""Games in words, for language models: rules and states as text, answers as actions, and their exact regret.

A deterministic model is measured exactly with one question for each state that leaves a choice, 1,766 on nine tiles.

    game = TextGame(stb_gym.ShutTheBox())
    grade = game.measure(model)  # a function from a prompt to an answer

`TextGame.questions` and `TextGame.grade` do the same through files, and `TextEnv` is an environment whose reward is
minus the exact loss of each answer. `sample_turns` and `grade_turns` ask fewer questions and estimate the regret.

- `game`: rules and questions; `wording`: how they are phrased; `answers`: which action an answer names; `grading`: the
  exact regret of answers.
- `env`: an environment to train models; `sampling`: the regret estimated by turns played there.
- `tasks`: variants of the games drawn by a seed, with their difficulty.

The phrases of each game belong to its `stb_gym.words.Words`.
"""

from stb_gym.text.env import TextEnv
from stb_gym.text.game import VERSION, Decision, TextGame
from stb_gym.text.grading import Grade
from stb_gym.text.sampling import SampledGrade, grade_turns, sample_turns
from stb_gym.text.tasks import TextTask, draw_task

__all__ = [
    "VERSION", "Decision", "Grade", "SampledGrade", "TextEnv", "TextGame", "TextTask", "draw_task", "grade_turns",
    "sample_turns",
]  # fmt: skip
