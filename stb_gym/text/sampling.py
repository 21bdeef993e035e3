"""Estimate a model's regret from turns that it plays, with fewer questions than the exact measurement asks.

Questions drawn by the visits of perfect play would not do: weighted by these visits, the losses of a model that plays
the lowest tiles add up to 26.7 points a turn, and its regret is 13.0, as its turns end early.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.checks import check_integer
from stb_gym.measure.sampled import MeanLoss
from stb_gym.text.env import TextEnv
from stb_gym.text.game import Decision
from stb_gym.tracking import tracked

MOST_TURNS = 10**6


@dataclass(frozen=True)
class SampledGrade(MeanLoss):
    """A model measured by T turns that it played. The losses of its answers are exact, the dice are sampled.

    The masses are the shares of turns that ended so, each with the worst score.

    Attributes:
        lost: [T] the sum of the losses of each turn, in the objective's unit.
        illegal_mass: by an action that is not legal.
        unparsable_mass: by an answer that names no action, or several.
        missing_mass: by a question without an answer.
        questions: the number of different questions that the turns asked.
        unanswered: the questions without an answer, as `TextGame.questions` yields them.
    """

    lost: FloatArray
    illegal_mass: float
    unparsable_mass: float
    missing_mass: float
    questions: int
    unanswered: list[dict[str, str]]

    def summary(self) -> dict[str, Any]:
        """Return the numbers by name, ready for JSON."""
        return {
            "regret": self.regret,
            "standard_error": self.standard_error,
            "interval": list(self.interval),
            "turns": len(self.lost),
            "illegal_mass": self.illegal_mass,
            "unparsable_mass": self.unparsable_mass,
            "missing_mass": self.missing_mass,
            "questions": self.questions,
            "missing": len(self.unanswered),
        }


@checked
def sample_turns(env: TextEnv, model: Callable[[str], str], turns: int = 200) -> SampledGrade:
    """Let a deterministic model play turns of an environment of any size, and measure its answers.

    Turn i has the dice of seed i, so that models play the same dice. Each question is asked once; forced moves are not
    asked.

    Args:
        env: the environment in words.
        model: a function from a prompt to an answer.
        turns: how many, 2 to 1,000,000.

    Returns:
        The regret with its interval, and the shares of turns that ended with an answer that names no legal action.

    Raises:
        ValueError: if the number of turns is not allowed.

    Example:
        >>> import gymnasium as gym
        >>> from stb_gym.text import TextEnv, sample_turns
        >>> env = TextEnv(gym.make("stb_gym/ShutTheBox-v0"), list_moves=True)
        >>> def first_move(prompt):
        ...     return "Answer: " + prompt.partition("Legal moves: ")[2].partition(";")[0]
        >>> grade = sample_turns(env, first_move, turns=100)
        >>> [round(end, 1) for end in grade.interval], grade.questions  # exactly 12.99, by 1,766 questions
        ([12.2, 13.4], 37)
    """
    answers: dict[str, list[str]] = {}

    def ask(decision: Decision) -> Sequence[str]:
        identity = env.text.identity(decision)
        if identity not in answers:
            answers[identity] = [model(env.text.prompt(decision))]
        return answers[identity]

    return _play(env, ask, turns)


@checked
def grade_turns(env: TextEnv, answers: Mapping[str, list[str]], turns: int = 200) -> SampledGrade:
    """Measure answers by the turns of `sample_turns`, as far as they are answered.

    Play begins with no answers. Ask a model the questions of `unanswered`, add its answers and call this again, until
    none is left: after as many rounds as a turn has choices.

    Args:
        env: the environment in words.
        answers: by the id of a question, its answers, of which each is given with the same probability.
        turns: how many, 2 to 1,000,000.

    Returns:
        The regret with its interval; a question without an answer ends the turn with the worst score.

    Raises:
        ValueError: if the number of turns is not allowed.

    Example:
        >>> import gymnasium as gym
        >>> from stb_gym.text import TextEnv, grade_turns
        >>> env = TextEnv(gym.make("stb_gym/ShutTheBox-v0"))
        >>> grade = grade_turns(env, {}, turns=100)
        >>> len(grade.unanswered)  # the first question of every turn; many turns ask the same
        13
    """
    return _play(env, lambda decision: answers.get(env.text.identity(decision), []), turns)


def _play(env: TextEnv, ask: Callable[[Decision], Sequence[str]], turns: int) -> SampledGrade:
    """Play turns with the answers that a function of decisions returns; [] is no answer."""
    check_integer("turns", turns, 2, MOST_TURNS)
    draw = random.Random(0)
    asked: set[str] = set()
    unanswered: dict[str, dict[str, str]] = {}
    lost = np.zeros(turns)
    ends = dict.fromkeys(("illegal", "unparsable", "missing"), 0)
    for turn in tracked(range(turns), "turns played", "turns", turns):
        _, info = env.reset(seed=turn)
        over = False
        while not over:
            assert env.decision is not None
            decision, text = env.decision, env.text
            answers: Sequence[str] = [text.answer(decision.legal[0])]
            if len(decision.legal) > 1:
                answers = ask(decision)
                asked.add(text.identity(decision))
            if not answers:
                unanswered[text.identity(decision)] = text.asked(decision)
            _, _, terminated, truncated, info = env.step(draw.choice(answers) if answers else "")
            over = terminated or truncated
        if info["illegal_action"]:
            ends["missing" if not answers else "illegal" if info["action"] >= 0 else "unparsable"] += 1
        lost[turn] = info["regret"]
    masses = {f"{fault}_mass": count / turns for fault, count in ends.items()}
    return SampledGrade(lost, **masses, questions=len(asked), unanswered=[*unanswered.values()])
