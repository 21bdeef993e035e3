"""Games in words, for language models: rules and states as text, answers as actions, and their exact regret.

A deterministic model is measured exactly with one question for each state that leaves a choice, 1,766 on nine tiles.

    game = TextGame(stb_gym.ShutTheBox())
    grade = game.measure(model)  # a function from a prompt to an answer

`TextGame.questions` and `TextGame.grade` do the same through files, and `TextEnv` is an environment whose reward is
minus the exact loss of each answer.

- `game`: rules and questions; `answers`: which action an answer names; `grading`: the exact regret of answers.
- `env`: an environment to train models.

The phrases of each game belong to its `stb_gym.words.Words`.
"""

from stb_gym.text.env import TextEnv
from stb_gym.text.game import VERSION, Decision, TextGame
from stb_gym.text.grading import Grade

__all__ = ["VERSION", "Decision", "Grade", "TextEnv", "TextGame"]
